"""Owns the trial of each step before a run: a command that the server refuses is found before anything is sent.

What reads is explained. What writes is executed in a transaction that is aborted, where the deployment has those and
it is about one document; else it is explained, and the documents of an insert go into a collection of the same shape
beside. Nothing of it stays.
"""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final

import bson
from pymongo.errors import OperationFailure, PyMongoError

from brimline.dataset.access import DataDatabase, target_errors
from brimline.dataset.shape import Shape, read_shape
from brimline.dataset.trial import first_refusal
from brimline.errors import UsageError
from brimline.execution.database import database_named
from brimline.execution.execute import RunContext
from brimline.execution.step_commands import EXPLAINABLE, StepCommand, explain, step_commands
from brimline.plan import Plan
from brimline.servers.answers import refusal_words
from brimline.servers.deployment import WITH_SESSIONS

_LIMIT_MS: Final = 5_000
_IN_TRANSACTIONS: Final = frozenset({"insert", "update", "delete", "findAndModify", "findandmodify"})
_NOT_IN_TRANSACTIONS: Final = frozenset({20, 48, 246, 263, 5020301, 6493602})
"""Codes of what is refused in a transaction and may be taken outside of one."""
_SAYS_NOTHING: Final = frozenset({24, 50, 112, 115, 202, 251, 290})
"""Codes of what becomes of the trial and not of the step: it takes long, or others are at work."""
_DUPLICATE_KEY: Final = 11000
_CANT_EXPLAIN: Final = "cannot explain"


class _NotTried(Exception):
    """A step of which nothing is known beforehand."""


def try_steps(plan: Plan, context: RunContext) -> None:
    """Tries each step of `plan` once. What can't be tried is said.

    Raises:
        UsageError: the server refuses a step; it names operation and step, and has the server's words.
        TargetError: the server doesn't answer.
    """
    if context.deployment is None:
        return
    context.progress.step("trying each step once")
    untried: list[str] = []
    with ExitStack() as stack:
        databases: dict[str, DataDatabase] = {}
        for each in step_commands(context.carried.with_rows(plan)):
            context.stop.raise_if_requested()
            if each.step.transaction == "commit":
                continue
            name = each.step.database
            if name not in databases:
                databases[name] = stack.enter_context(database_named(name, context.deployment))
            refusal = _refusal(databases[name], each, context)
            if refusal is None:
                continue
            if not refusal or each.has_saved:
                untried.append(f"{each.operation}/{each.step.name}")
                continue
            raise UsageError(f"{each.path}: the server refuses it: {refusal}", hint="correct it; nothing was sent")
    if untried:
        context.progress.note(f"not tried beforehand, as only the run itself can show it: {', '.join(untried)}")


def _refusal(database: DataDatabase, asked: StepCommand, context: RunContext) -> str | None:
    """Why the server refuses the step; None: it takes it; "": nothing is known."""
    try:
        with target_errors(f"trying the step {asked.step.name} of {asked.operation}"):
            try:
                _try(database, asked, context)
            except OperationFailure as error:
                if error.code == _DUPLICATE_KEY:
                    return None  # of another operation it may be another key
                if error.code in _SAYS_NOTHING or error.has_error_label("TransientTransactionError"):
                    return ""
                if _CANT_EXPLAIN in str(error).lower():
                    return ""
                return refusal_words(error)
    except _NotTried as words:
        return str(words)
    return None


def _try(database: DataDatabase, asked: StepCommand, context: RunContext) -> None:
    deployment = context.deployment
    assert deployment is not None  # noqa: S101 - see `try_steps`
    if asked.name in _IN_TRANSACTIONS and deployment.kind in WITH_SESSIONS and not _may_be_many(asked):
        try:
            _try_in_transaction(database, asked)
        except OperationFailure as error:
            if error.code not in _NOT_IN_TRANSACTIONS:
                raise
        else:
            return
    if asked.name in EXPLAINABLE:
        for statement in asked.statements:
            explain(database, statement, verbosity="queryPlanner", limit_ms=_LIMIT_MS)
    elif asked.name == "insert" and not deployment.shards:
        _try_beside(database, asked)
    else:
        raise _NotTried


def _try_in_transaction(database: DataDatabase, asked: StepCommand) -> None:
    with database.client.start_session() as session:
        session.start_transaction()
        try:
            reply = database.command({**asked.command, "maxTimeMS": _LIMIT_MS}, session=session)
        finally:
            with suppress(PyMongoError):
                session.abort_transaction()
    for each in reply.get("writeErrors", ()):
        raise OperationFailure(str(each.get("errmsg")), each.get("code"), {"errmsg": each.get("errmsg")})


def _try_beside(database: DataDatabase, asked: StepCommand) -> None:
    name = str(asked.command[asked.name])
    shape = read_shape(database, name) or Shape()
    documents = [bson.encode(each) for each in asked.command.get("documents", ()) if isinstance(each, Mapping)]
    refusal: Any = first_refusal(database, shape, documents)
    if refusal is not None:
        raise OperationFailure(refusal, None, {"errmsg": refusal})


def _may_be_many(asked: StepCommand) -> bool:
    """Whether it may write more documents than one: a trial is not to do that."""
    statements = [*asked.command.get("updates", ()), *asked.command.get("deletes", ())]
    return any(each.get("multi") or each.get("limit") == 0 for each in statements)

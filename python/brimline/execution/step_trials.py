"""Owns the trial of each step before a run: a command that the server refuses is found before anything is sent.

What reads is explained. What writes is executed in a transaction that is aborted, where the deployment has those and
it is about one document; else it is explained, and the documents of an insert go into a collection of the same shape
beside. Nothing of it stays.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Final

import bson
from pymongo.errors import OperationFailure, PyMongoError

from brimline.dataset.access import DataDatabase, collection_exists, target_errors
from brimline.dataset.shape import Shape, read_shape
from brimline.dataset.trial import first_refusal
from brimline.errors import UsageError
from brimline.execution.database import database_named
from brimline.execution.effects import needs_rows
from brimline.execution.execute import RunContext
from brimline.execution.step_commands import EXPLAINABLE, StepCommand, explain, step_commands
from brimline.execution.step_examples import AS_SENT, unread_tables, with_stand_ins
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.servers.answers import refusal_words
from brimline.servers.deployment import WITH_SESSIONS
from brimline.units import format_bytes

_LIMIT_MS: Final = 5_000
_DOCUMENT_BYTES_MAX: Final = 16 << 20
_LISTS: Final = ("documents", "updates", "deletes")
_IN_TRANSACTIONS: Final = frozenset({"insert", "update", "delete", "findAndModify", "findandmodify"})
_NOT_IN_TRANSACTIONS: Final = frozenset({20, 48, 246, 263, 5020301, 6493602})
"""Codes of what is refused in a transaction and may be taken outside of one."""
_SAYS_NOTHING: Final = frozenset({24, 50, 112, 115, 202, 251, 290})
"""Codes of what becomes of the trial and not of the step: it takes long, or others are at work."""
_DUPLICATE_KEY: Final = 11000
_COMES_WITH_THE_LOAD: Final = frozenset({26, 27, 291, 51183})
"""Codes of what is about a collection or an index that isn't there: of one that is loaded next it says nothing."""
_LACKS_AN_INDEX: Final = ("hint provided does not correspond", "bad hint", "unable to find index", "index required")
"""In the words of versions that give other codes for that: a hint's is the one of any bad value."""
_NOT_ALLOWED: Final = "not authorized"
_NOT_ALLOWED_HINT: Final = (
    "nothing was sent; the user lacks a role for it: read for what reads, readWrite for what writes, on that database"
)
_CANT_EXPLAIN: Final = "cannot explain"


class _NotTried(Exception):
    """A step of which nothing is known beforehand."""


def explain_before_load(plan: Plan, context: RunContext) -> None:
    """Has the steps explained whose collections aren't there yet: a slip is found before they are loaded.

    Raises as `try_steps`.
    """
    work = plan.work
    if context.deployment is None or not isinstance(work, OperationsWork):
        return
    unread = unread_tables(work)
    with ExitStack() as stack:
        databases = _Databases(stack, context)
        for each in step_commands(with_stand_ins(plan)):
            name, database = each.step.collection, databases[each.step.database]
            if each.name not in EXPLAINABLE or name is None or each.has_saved or needs_rows(each.step, work, unread):
                continue
            with target_errors("looking for the collection"):
                is_there = collection_exists(database, name)
            if not is_there:
                _raise_if_refused(each, _refusal(database, each, context, only_explained=True))


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
        databases = _Databases(stack, context)
        for each in step_commands(context.carried.with_rows(plan)):
            context.stop.raise_if_requested()
            if each.step.transaction == "commit":
                continue
            refusal = _refusal(databases[each.step.database], each, context)
            if refusal == "" or (refusal and each.has_saved):
                untried.append(f"{each.operation}/{each.step.name}")
                continue
            _raise_if_refused(each, refusal)
    if untried:
        context.progress.note(f"not tried beforehand, as only the run itself can show it: {', '.join(untried)}")


class _Databases(dict[str, DataDatabase]):
    """Databases by name, opened when they are needed."""

    def __init__(self, stack: ExitStack, context: RunContext) -> None:
        super().__init__()
        self._stack = stack
        self._context = context

    def __missing__(self, name: str) -> DataDatabase:
        self[name] = self._stack.enter_context(database_named(name, self._context.deployment))
        return self[name]


def _raise_if_refused(asked: StepCommand, refusal: str | None) -> None:
    if refusal:
        raise UsageError(
            f"{asked.path}: the server refuses it: {refusal}",
            hint=_NOT_ALLOWED_HINT if _NOT_ALLOWED in refusal else "correct it; no operation was sent",
        )


def _refusal(
    database: DataDatabase, asked: StepCommand, context: RunContext, *, only_explained: bool = False
) -> str | None:
    """Why the server refuses the step; None: it takes it; "": nothing is known."""
    size = _size_bytes(asked)
    if size > _DOCUMENT_BYTES_MAX:
        return f"a document of {format_bytes(size)} is over 16 MiB"
    try:
        with target_errors(f"trying the step {asked.step.name} of {asked.operation}"):
            try:
                if only_explained:
                    _explain(database, asked)
                else:
                    _try(database, asked, context)
            except OperationFailure as error:
                if error.code == _DUPLICATE_KEY:
                    return None  # of another operation it may be another key
                if only_explained and _comes_with_the_load(error):
                    return ""
                if error.code in _SAYS_NOTHING or error.has_error_label("TransientTransactionError"):
                    return ""
                if _CANT_EXPLAIN in str(error).lower():
                    return ""
                return refusal_words(error)
    except _NotTried as words:
        return str(words)
    return None


def _size_bytes(asked: StepCommand) -> int:
    """Of the largest document that it stores or takes, which isn't sent to find that out."""
    command = asked.command
    listed = next((command[name] for name in _LISTS if isinstance(command.get(name), Sequence)), [command])
    parts = [part for each in listed if isinstance(each, Mapping) for part in (each.get("u", each), each.get("q"))]
    return max((len(bson.encode(part)) for part in parts if isinstance(part, Mapping)), default=0)


def _comes_with_the_load(error: OperationFailure) -> bool:
    return error.code in _COMES_WITH_THE_LOAD or any(each in str(error).lower() for each in _LACKS_AN_INDEX)


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
        _explain(database, asked)
    elif asked.name == "insert" and not deployment.shards:
        _try_beside(database, asked)
    else:
        raise _NotTried


def _explain(database: DataDatabase, asked: StepCommand) -> None:
    for statement in asked.statements:
        explain(database, statement, verbosity="queryPlanner", limit_ms=_LIMIT_MS)


def _try_in_transaction(database: DataDatabase, asked: StepCommand) -> None:
    with database.client.start_session() as session:
        session.start_transaction()
        try:
            limited = {**asked.command, "maxTimeMS": _LIMIT_MS}
            reply = database.command(limited, session=session, codec_options=AS_SENT)
        finally:
            with suppress(PyMongoError):
                session.abort_transaction()
    for each in reply.get("writeErrors", ()):
        raise OperationFailure(str(each.get("errmsg")), each.get("code"), {"errmsg": each.get("errmsg")})


def _try_beside(database: DataDatabase, asked: StepCommand) -> None:
    name = str(asked.command[asked.name])
    shape = read_shape(database, name) or Shape()
    documents = [bson.encode(each) for each in asked.command.get("documents", ()) if isinstance(each, Mapping)]
    refusal: Any = first_refusal(database, name, shape, documents)
    if refusal is not None:
        raise OperationFailure(refusal, None, {"errmsg": refusal})


def _may_be_many(asked: StepCommand) -> bool:
    """Whether it may write more documents than one: a trial is not to do that."""
    statements = [*asked.command.get("updates", ()), *asked.command.get("deletes", ())]
    return any(each.get("multi") or each.get("limit") == 0 for each in statements)

"""Owns the trial of each statement before a run: what the server refuses is found before anything is sent.

What has a plan is explained, which executes nothing. Anything else is read, by being prepared; that only the run itself
can show more is said.
"""

from typing import Final

from brimline.errors import TargetError, UsageError
from brimline.execution.execute import RunContext
from brimline.execution.statement_effects import statement_texts, writing_steps
from brimline.execution.statements import open_database, statements_of
from brimline.monitor.sql.explain import EXPLAINED, tried
from brimline.plan import Plan
from brimline.servers.sql_client import SqlError, sql_errors
from brimline.servers.sql_reading import ConnectionLost

_KNOWN: Final = (
    "alter", "analyze", "call", "cluster", "comment", "copy", "create", "delete", "do", "drop", "execute",
    "grant", "insert", "load", "lock", "merge", "optimize", "reindex", "rename", "replace", "revoke", "select",
    "truncate", "update", "vacuum", "values", "with",
)  # fmt: skip
"""Words that statements begin with; what begins with another is probably none."""


def refuse_no_statements(plan: Plan, context: RunContext) -> None:
    """Has the server read what begins as no statement does. Raises UsageError with its words, and TargetError."""
    deployment = context.deployment
    odd = [
        (operation, step, text)
        for operation, step in writing_steps(plan)
        if step.command not in _KNOWN
        for text in statement_texts(step)
    ]
    if deployment is None or not odd:
        return
    with sql_errors("reading the statements"), open_database(plan, deployment) as client:
        for operation, step, text in odd:
            try:
                client.prepare(text)
            except SqlError as error:
                raise UsageError(
                    f"operations.{operation.name}: the step {step.name}: the server refuses it: {error.words}",
                    hint="correct the statement; nothing was sent",
                ) from error


def try_statements(plan: Plan, context: RunContext) -> None:
    """Tries each statement of `plan` once. What can't be tried is said.

    Raises:
        UsageError: the server refuses a statement; it names operation and step, and has the server's words.
        TargetError: the server doesn't answer.
    """
    deployment = context.deployment
    if deployment is None:
        return
    context.progress.step("trying each statement once")
    untried: list[str] = []
    statements = statements_of(context.carried.with_rows(plan))
    try:
        with open_database(plan, deployment) as client:
            for each in statements:
                context.stop.raise_if_requested()
                is_explained = each.kind in EXPLAINED
                if not is_explained and each.step.transaction is None:
                    untried.append(f"{each.operation}/{each.step.name}")
                try:
                    if is_explained:
                        tried(client, deployment.protocol, each.text, each.parameters)
                    else:
                        client.prepare(each.text)
                except SqlError as error:
                    raise UsageError(
                        f"{each.path}: the server refuses it: {error.words}",
                        hint="correct the statement; nothing was sent",
                    ) from error
    except SqlError as error:
        raise UsageError(
            f"the server refuses what each connection is set up with: {error.words}", hint="correct the workload"
        ) from error
    except ConnectionLost as error:
        raise TargetError("trying the statements: the server doesn't answer", hint="check that it runs") from error
    if untried:
        context.progress.note(
            f"not tried beforehand, as only the run itself can show it: {', '.join(dict.fromkeys(untried))}"
        )

"""Owns the trial of each statement before a run: what the server refuses is found before anything is sent.

What has a plan is explained, which executes nothing. Anything else is read, by being prepared; that only the run itself
can show more is said.
"""

from brimline.errors import TargetError, UsageError
from brimline.execution.execute import RunContext
from brimline.execution.statements import open_database, statements_of
from brimline.monitor.sql.explain import EXPLAINED, tried
from brimline.plan import Plan
from brimline.servers.sql_client import ConnectionLost, SqlError


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

"""Owns what an SQL database says of how it executes each statement: asked before a run and after it."""

from contextlib import suppress
from typing import Any

from brimline.errors import TargetError, UsageError
from brimline.execution.statements import Statement, open_database, statements_of
from brimline.monitor.sql.explain import EXPLAINED, explained
from brimline.plan import Plan
from brimline.record.plans import NO_PLAN
from brimline.servers import Deployment
from brimline.servers.sql_client import SqlError
from brimline.servers.sql_reading import ConnectionLost


def look_at_statements(plan: Plan, deployment: Deployment) -> list[dict[str, Any]]:
    """A `record.plans.StepPlan` for each step that is a statement; what the server doesn't say is None."""
    found: list[dict[str, Any]] = []
    with suppress(TargetError, UsageError, ConnectionLost):
        statements = statements_of(plan)
        if not statements:
            return []
        with open_database(plan, deployment) as client:
            for each in statements:
                told = dict(NO_PLAN)
                if each.kind in EXPLAINED:
                    with suppress(SqlError):
                        told |= explained(client, deployment.protocol, each.text, each.parameters)
                found.append(_kept(each) | told)
    return found


def _kept(asked: Statement) -> dict[str, Any]:
    return {
        "operation": asked.operation,
        "step": asked.step.name,
        "command": asked.text,
        "has_null": asked.has_saved,
    }

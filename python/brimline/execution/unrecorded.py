"""Owns executing a plan of which nothing is kept: what warms a cache up, or is a measurement's control."""

from brimline.execution.execute import RunContext, join_engine, start_engine
from brimline.plan import Plan
from brimline.record.model import Summary

_POLL_S = 0.05


def execute_unrecorded(plan: Plan, *, context: RunContext) -> Summary:
    """Runs `plan` to its end, or until `context.stop`; no monitor, no record. Raises UsageError and TargetError."""
    run = start_engine(plan, context.access)
    try:
        while run.poll(_POLL_S)["stage"] != "finished":
            if context.stop.requested:
                run.abort()
        return join_engine(run)
    finally:
        run.abort()

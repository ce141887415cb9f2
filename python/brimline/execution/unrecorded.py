"""Owns executing a plan of which nothing is kept: what warms a cache up, or is a measurement's control."""

from brimline.errors import NodeGone
from brimline.execution.execute import Change, RunContext, join_engine, started, unsampled_state
from brimline.plan import Plan
from brimline.record.layout import WORKER_LOST
from brimline.record.model import Summary

_POLL_S = 0.05


def execute_unrecorded(plan: Plan, *, context: RunContext, change: Change | None = None) -> Summary:
    """Runs `plan` to its end, or until `context.stop`; no monitor, no record. Raises BrimlineError.

    `change` is made when all connections are there, and nothing is sent before it; see `execute`.
    """
    run = started(plan.model_copy(update={"operation_log": False}), context, held=change is not None)
    try:
        while (stage := unsampled_state(run, _POLL_S)["stage"]) != "finished":
            if context.stop.requested:
                run.abort()
            elif stage == "ready" and change is not None:
                change()
                change = None
                run.release()
        summary = join_engine(run, plan, stop=context.stop)
        if summary["ended_by"] == WORKER_LOST:
            context.stop.note_lost(summary["message"])
            raise NodeGone(summary["message"])
        return summary
    finally:
        run.abort()

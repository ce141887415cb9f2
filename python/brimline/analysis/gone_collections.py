"""Owns the check that what operations look into was there to the end of a run."""

from collections.abc import Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.plan.model import OperationsWork
from brimline.record.model import RunRecord
from brimline.record.plans import step_plans
from brimline.wording import Verbatim, joined, message

_NOWHERE_TO_LOOK = "EOF"
"""The server's plan of a command whose collection isn't there."""


def gone_collections(record: RunRecord) -> list[Finding]:
    """Collections that the server knew before the load and not after it; nothing to say where there is none."""
    gone = dict.fromkeys(_gone(record))
    if not gone:
        return []
    evidence = message(
        "gone at the end of the run: {collections}; what was looked up there later found nothing",
        collections=joined(", ", [Verbatim(name) for name in gone]),
    )
    return [Finding("collections", Standing.FAIL, evidence)]


def _gone(record: RunRecord) -> Iterator[str]:
    work = record.plan.work
    if not isinstance(work, OperationsWork):
        return
    start, end = step_plans(record.plans, "start"), step_plans(record.plans, "end")
    for operation in work.operations:
        for step in operation.steps:
            before, after = (plans.get((operation.name, step.name)) for plans in (start, end))
            was_there = before is not None and before["plan_summary"] not in (None, _NOWHERE_TO_LOOK)
            if was_there and after is not None and after["plan_summary"] == _NOWHERE_TO_LOOK:
                yield f"{step.database}.{step.collection}"

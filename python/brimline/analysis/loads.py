"""Owns which operations of a run belong together: those that share the workload's load, and those with loads apart.

Loads side by side have due times, connections and rates of their own. What is offered and done can only be compared
within one of them, so each is a record of its own here: its operations and its share of what waited. The figures of
the run as a whole are those of the workload's load.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from brimline.analysis.objective import Slo
from brimline.analysis.window import done_in_window
from brimline.plan.model import OperationsWork
from brimline.plan.operations import OwnLoad
from brimline.plan.pacing import offered_mean
from brimline.record.model import Clock, IntervalRow, RunRecord, Summary
from brimline.record.time_histogram import Batches, IntervalHistogram
from brimline.units import NS_PER_S


def main_load(record: RunRecord) -> RunRecord:
    """The part of `record` that is of the workload's load; itself where nothing has a load of its own."""
    loads = _own_loads(record)
    if not loads:
        return record
    beside = {name for load in loads for name in _names(record, load)}
    waiting = _waiting(record, loads)
    intervals: list[IntervalRow] = [
        {**row, "backlog": max(0, row["backlog"] - waits)} for row, waits in zip(record.intervals, waiting, strict=True)
    ]
    overdue = record.summary["overdue"] - _at_end(record, waiting) if record.summary else 0
    names = {row["operation"] for row in record.operations} - beside
    if record.summary is not None:
        names |= record.summary["operations"].keys() - beside
    return _part(record, names, intervals=intervals, overdue=max(0, overdue))


def loads_beside(record: RunRecord) -> list[RunRecord]:
    """The parts of `record` that are of loads of their own, in the plan's order; their plans have their own pacers."""
    parts = []
    for load in _own_loads(record):
        waiting = _waiting(record, [load])
        # How many operations of one load were under way at an instant isn't known.
        intervals: list[IntervalRow] = [
            {**row, "backlog": min(row["backlog"], waits), "in_flight": 0}
            for row, waits in zip(record.intervals, waiting, strict=True)
        ]
        overdue = min(record.summary["overdue"], _at_end(record, waiting)) if record.summary else 0
        part = _part(record, _names(record, load), intervals=intervals, overdue=overdue)
        changes = {"pacer": load.pacer, "connections": load.connections, "in_flight_max": None}
        parts.append(replace(part, plan=record.plan.model_copy(update=changes)))
    return parts


def offered_ops_per_s(part: RunRecord) -> float | None:
    """What a load of its own was to send in its measured window, a mean; None where nothing says so."""
    measured = [row for row in part.intervals if row["phase"] == "measure"]
    return (
        offered_mean(part.plan, start_ns=measured[0]["start_ns"], end_ns=measured[-1]["end_ns"]) if measured else None
    )


def answered_ops_per_s(part: RunRecord) -> float | None:
    """What of it was answered, misses too; None without a measured window."""
    answered = sum(row["ok"] + row["miss"] for row in done_in_window(part))
    return answered / part.measured_s if part.measured_s else None


def all_loads(record: RunRecord) -> list[RunRecord]:
    """The workload's load, then those beside it."""
    return [main_load(record), *loads_beside(record)]


def connection_count(record: RunRecord) -> int:
    """Connections of all loads together."""
    return record.plan.connections + sum(load.connections for load in _own_loads(record))


def judgeable(record: RunRecord, slo: Slo) -> Slo | None:
    """What of `slo` can be judged by `record`; None where nothing can.

    A closed loop has no response times, but for those of operations with open loads of their own beside it.
    """
    if not record.follows_target:
        return slo
    timed = {name for part in loads_beside(record) if not part.closed_loop for name in _operations(part)}
    latencies = tuple(each for each in slo.latencies if each.operation in timed)
    return replace(slo, latencies=latencies) if latencies else None


def _operations(part: RunRecord) -> set[str]:
    return {row["operation"] for row in part.operations}


def _own_loads(record: RunRecord) -> Sequence[OwnLoad]:
    work = record.plan.work
    return work.loads if isinstance(work, OperationsWork) else ()


def _names(record: RunRecord, load: OwnLoad) -> set[str]:
    work = record.plan.work
    assert isinstance(work, OperationsWork)  # noqa: S101 - other work has no such loads
    return {work.operations[place].name for place in load.operations}


def _waiting(record: RunRecord, loads: Sequence[OwnLoad]) -> list[int]:
    """How many operations of these loads were due and not sent at the end of each interval, at most the backlog.

    In the mean where their arrivals are random, for when each was due isn't recorded.
    """
    sent_in = Counter[int]()
    names = {name for load in loads for name in _names(record, load)}
    for row in record.operations:
        if row["operation"] in names:
            sent_in[row["start_ns"]] += row["sent"]
    waiting, sent = [], 0
    for interval in record.intervals:
        sent += sent_in[interval["start_ns"]]
        waits = sum(_due(record, load, interval["end_ns"]) for load in loads if load.pacer.kind != "closed") - sent
        waiting.append(min(max(0, int(waits)), interval["backlog"]))
    return waiting


def _due(record: RunRecord, load: OwnLoad, until_ns: int) -> float:
    plan = record.plan.model_copy(update={"pacer": load.pacer})
    rate = offered_mean(plan, start_ns=0, end_ns=until_ns)
    return 0.0 if rate is None else rate * until_ns / NS_PER_S


def _at_end(record: RunRecord, waiting: Sequence[int]) -> int:
    """What waited when nothing more was offered."""
    offered = [waits for row, waits in zip(record.intervals, waiting, strict=True) if row["phase"] != "drain"]
    return offered[-1] if offered else 0


def _part(record: RunRecord, names: set[str], *, intervals: Sequence[IntervalRow], overdue: int) -> RunRecord:
    batches = record.batches
    return replace(
        record,
        intervals=intervals,
        operations=[row for row in record.operations if row["operation"] in names],
        steps=[row for row in record.steps if row["operation"] in names],
        histograms={key: each for key, each in record.histograms.items() if key[0] in names},
        breakdown={key: each for key, each in record.breakdown.items() if key[0] in names},
        load_interval_histograms=partial(_histograms, record, names),
        batches=None
        if batches is None
        else Batches(texts={key: each for key, each in batches.texts.items() if key[0] in names}, codec=batches.codec),
        summary=None if record.summary is None else _totals(record.summary, names, overdue),
    )


def _histograms(record: RunRecord, names: set[str], clock: Clock | None) -> Iterator[IntervalHistogram]:
    return (each for each in record.interval_histograms(clock) if each.operation in names)


def _totals(summary: Summary, names: set[str], overdue: int) -> Summary:
    """The totals of some operations; what is told of the run alone stays as it is."""
    operations = {name: totals for name, totals in summary["operations"].items() if name in names}
    sent = sum(each["sent"] for each in operations.values())
    return {
        **summary,
        "due": sent + overdue,
        "sent": sent,
        "overdue": overdue,
        "oldest_overdue_ns": summary["oldest_overdue_ns"] if overdue else 0,
        "ok": sum(each["ok"] for each in operations.values()),
        "miss": sum(each["miss"] for each in operations.values()),
        "failed": sum(each["failed"] for each in operations.values()),
        "unfinished": sum(each["unfinished"] for each in operations.values()),
        "operations": operations,
        "errors": [row for row in summary["errors"] if row["operation"] in names],
    }

"""Owns the measured window of a run: when it ends, and what was done in it.

A run that ends by its time stops offering there, and what is answered later was not done in it. A run that ends because
its operations are all sent, by their count or in T-L-R, is over with the last reply: the engine's rows of "measure" end
with the last sending, and without the time of the operations in flight then, the rest would look too fast. Where
operations are due by a rate, each has the time until the next one would have been due: two that are due within 50 ms
at 20 a second are 20 a second, not 40.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from brimline.plan.pacing import offered_line
from brimline.record.model import Clock, IntervalRow, OperationRow, RunRecord, StepRow
from brimline.record.time_histogram import IntervalHistogram
from brimline.units import NS_PER_S


def until_last_reply(record: RunRecord) -> RunRecord:
    """`record` with its window up to the last reply, where all its operations were sent before its time was up.

    The interval that was cut when the last operation was sent is made whole again, and those after it are measured. Of
    a run with operations that were never answered, the window ends with the interval of the last reply. Any other
    record is returned as it is, as is one that this made.
    """
    split = _split(record)
    if split is None:
        return record
    last, (rest, *further) = split
    end_ns = max([_next_due_ns(record, last), *(row["end_ns"] for row in [last, rest, *further])])
    # The last measured interval and what was cut off it, then each of the drain that follows.
    starts = [row["start_ns"] for row in [last, *further]]
    ends = [*starts[1:], end_ns]
    moved = {start: (start, end) for start, end in zip(starts, ends, strict=True)}
    moved[rest["start_ns"]] = moved[last["start_ns"]]
    intervals: list[IntervalRow] = []
    for row in record.intervals:
        if row is last:
            intervals.append(_joined(last, rest, end_ns=ends[0]))
        elif row["start_ns"] in starts:
            intervals.append({**row, "phase": "measure", "end_ns": moved[row["start_ns"]][1]})
        elif row is not rest:
            intervals.append(row)
    return replace(
        record,
        intervals=intervals,
        operations=_moved(record.operations, moved),
        steps=[_in_interval(row, moved) for row in record.steps],
        load_interval_histograms=partial(_moved_histograms, record, moved),
    )


def done_in_window(record: RunRecord) -> list[OperationRow]:
    """What was sent or ended in the measured intervals, whenever it was due."""
    intervals = [row for row in record.intervals if row["phase"] == "measure"]
    if not intervals:
        return []
    start_ns, end_ns = intervals[0]["start_ns"], intervals[-1]["end_ns"]
    return [row for row in record.operations if row["start_ns"] >= start_ns and row["end_ns"] <= end_ns]


def _split(record: RunRecord) -> tuple[IntervalRow, list[IntervalRow]] | None:
    """The last measured interval, and those of the drain up to the last reply; None where the window stays as it is."""
    if getattr(record.load_interval_histograms, "func", None) is _moved_histograms:
        return None
    measured = [row for row in record.intervals if row["phase"] == "measure"]
    if not record.complete or not measured:
        return None
    plan, last = record.plan, measured[-1]
    if plan.duration_ns is not None and last["end_ns"] >= plan.warmup_ns + plan.duration_ns:
        return None
    ended_in = {row["start_ns"] for row in record.operations if row["ok"] + row["miss"] + row["failed"]}
    drain = [row for row in record.intervals if row["phase"] == "drain"]
    while drain and drain[-1]["start_ns"] not in ended_in:
        drain.pop()
    return (last, drain) if drain else None


def _next_due_ns(record: RunRecord, last: IntervalRow) -> int:
    """When the operation after the last would have been due, which was sent at the end of `last`; 0 in closed loops."""
    rates = [rate for _, rate in offered_line(record.plan.pacer, end_ns=last["end_ns"])]
    if not rates or not rates[-1]:
        return 0
    due_ns = last["end_ns"] + round(NS_PER_S / rates[-1])
    plan = record.plan
    return due_ns if plan.duration_ns is None else min(due_ns, plan.warmup_ns + plan.duration_ns)


def _joined(row: IntervalRow, rest: IntervalRow, *, end_ns: int) -> IntervalRow:
    """An interval and what was cut off it: as it was at its end, with the CPU time of both."""
    return {
        **rest,
        "phase": row["phase"],
        "start_ns": row["start_ns"],
        "end_ns": end_ns,
        "engine_cpu_ns": row["engine_cpu_ns"] + rest["engine_cpu_ns"],
        "busiest_thread_cpu_ns": row["busiest_thread_cpu_ns"] + rest["busiest_thread_cpu_ns"],
        "process_cpu_ns": row["process_cpu_ns"] + rest["process_cpu_ns"],
    }


def _moved(operations: Sequence[OperationRow], moved: dict[int, tuple[int, int]]) -> list[OperationRow]:
    """The rows with the intervals that they lie in now; one row for each phase and operation of an interval."""
    rows: dict[tuple[int, str, str], OperationRow] = {}
    for row in operations:
        start_ns, end_ns = moved.get(row["start_ns"], (row["start_ns"], row["end_ns"]))
        key = (start_ns, row["phase"], row["operation"])
        own: OperationRow = {**row, "start_ns": start_ns, "end_ns": end_ns}
        rows[key] = _added(rows[key], own) if key in rows else own
    return list(rows.values())


def _in_interval(row: StepRow, moved: dict[int, tuple[int, int]]) -> StepRow:
    start_ns, end_ns = moved.get(row["start_ns"], (row["start_ns"], row["end_ns"]))
    return {**row, "start_ns": start_ns, "end_ns": end_ns}


def _added(one: OperationRow, other: OperationRow) -> OperationRow:
    return {
        **one,
        "sent": one["sent"] + other["sent"],
        "ok": one["ok"] + other["ok"],
        "miss": one["miss"] + other["miss"],
        "failed": one["failed"] + other["failed"],
        "held_back": one["held_back"] + other["held_back"],
        "documents": one["documents"] + other["documents"],
        "bytes_out": one["bytes_out"] + other["bytes_out"],
        "bytes_in": one["bytes_in"] + other["bytes_in"],
        "in_flight_ns": one["in_flight_ns"] + other["in_flight_ns"],
    }


def _moved_histograms(
    record: RunRecord, moved: dict[int, tuple[int, int]], clock: Clock | None
) -> Iterator[IntervalHistogram]:
    for each in record.interval_histograms(clock):
        start_ns, end_ns = moved.get(each.start_ns, (each.start_ns, each.end_ns))
        yield replace(each, start_ns=start_ns, end_ns=end_ns)

"""Owns what a run whose server was lost shows of the time before: the same figures, up to where the server was gone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from brimline.analysis.objective import LatencyObjective
from brimline.analysis.observation import Observation, observe
from brimline.analysis.outages import outages_of
from brimline.record.batches import condensed
from brimline.record.model import CLOCKS, Clock, OperationRow, RunRecord
from brimline.record.time_histogram import IntervalHistogram


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What was measured until `until_ns` of the run's clock, and what that shows."""

    until_ns: int
    observation: Observation


def held(record: RunRecord, *, objectives: Sequence[LatencyObjective] = ()) -> Held | None:
    """What held until the server was lost; None of a run that it was there for, and without an interval before."""
    lost = [each for each in outages_of(record) if each["to_ns"] is None]
    if record.ended_by != "target_lost" or not lost:
        return None
    until_ns = lost[-1]["from_ns"]
    before = _until(record, until_ns)
    if not any(row["phase"] == "measure" for row in before.intervals):
        return None
    return Held(until_ns=until_ns, observation=observe(before, objectives=objectives))


def _until(record: RunRecord, until_ns: int) -> RunRecord:
    """The intervals of `record` that were over by then. What was in flight then ended later, and is no part of them."""
    operations: list[OperationRow] = [
        {**row, "sent": row["ok"] + row["miss"] + row["failed"]}
        for row in record.operations
        if row["end_ns"] <= until_ns
    ]
    load = partial(_histograms_until, record, until_ns)
    merged, batches = condensed(load(None), operations, None if record.batches is None else record.batches.codec)
    return replace(
        record,
        summary=None,
        operations=operations,
        steps=[row for row in record.steps if row["end_ns"] <= until_ns],
        intervals=[row for row in record.intervals if row["end_ns"] <= until_ns],
        histograms={key: each for key, each in merged.items() if key[1] in CLOCKS},
        breakdown={key: each for key, each in merged.items() if key[1] not in CLOCKS},
        load_interval_histograms=load,
        batches=batches,
    )


def _histograms_until(record: RunRecord, until_ns: int, clock: Clock | None) -> list[IntervalHistogram]:
    return [each for each in record.interval_histograms(clock) if each.end_ns <= until_ns]

"""A run over time.

Rates and quantiles per bucket of time, long runs thinned by merging neighbours, never by dropping: a bucket keeps the
extremes of what it was merged from.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from brimline.record.model import IntervalRow, OperationRow, RunRecord, answered_count
from brimline.record.time_histogram import Histogram
from brimline.report.statistics import report_clock

BUCKET_COUNT_MAX = 600
"""Buckets of time in a chart; more can't be told apart on a screen."""
QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBucket:
    """One or several neighbouring intervals of the same phase.

    Times in s since the run's start; None: no value. Rates are means over the bucket, `lowest_` and `highest_` those of
    its single intervals.
    """

    phase: str
    start_s: float
    end_s: float
    interval_count: int
    answered_ops_per_s: float
    lowest_ops_per_s: float
    highest_ops_per_s: float
    failed_ops_per_s: float
    backlog: int  # the largest
    workers_active: int  # the most
    in_flight: float  # mean
    quantiles_ns: tuple[int | None, ...]  # of QUANTILES
    highest_p99_ns: int | None

    @property
    def middle_s(self) -> float:
        """Where the bucket is drawn."""
        return (self.start_s + self.end_s) / 2


def time_series(record: RunRecord, *, bucket_count_max: int = BUCKET_COUNT_MAX) -> list[TimeBucket]:
    """The run from warm-up to drain.

    Quantiles are exact for their bucket: histograms are merged, not averaged.
    """
    rows: dict[int, list[OperationRow]] = defaultdict(list)
    for row in record.operations:
        rows[row["start_ns"]].append(row)
    size = max(1, math.ceil(len(record.intervals) / bucket_count_max))
    groups = _groups(record.intervals, size)
    latencies = _latencies(record, groups)
    return [_bucket(group, rows, latencies.get(number, _NO_LATENCY)) for number, group in enumerate(groups)]


def drawn_buckets(record: RunRecord) -> list[TimeBucket]:
    """The run over time, without a drain that is over within part of an interval: too short a time for a rate."""
    buckets = time_series(record)
    whole_s = buckets[0].end_s - buckets[0].start_s if buckets else 0.0
    return [bucket for bucket in buckets if bucket.phase != "drain" or bucket.end_s - bucket.start_s >= whole_s]


@dataclass(frozen=True, slots=True)
class _Latency:
    quantiles_ns: tuple[int | None, ...]
    highest_p99_ns: int | None


_NO_LATENCY = _Latency((None,) * len(QUANTILES), None)


def _latencies(record: RunRecord, groups: Sequence[Sequence[IntervalRow]]) -> dict[int, _Latency]:
    """The latency of each group that has any; one group's histograms are held at a time, as intervals come in order."""
    group_of = {interval["start_ns"]: number for number, group in enumerate(groups) for interval in group}
    found: dict[int, _Latency] = {}
    for number, intervals in groupby(_per_interval(record), key=lambda each: group_of.get(each[0])):
        if number is None:
            continue
        merged, *others = (histogram for _, histogram in intervals)
        highest_p99_ns = max(each.quantile(0.99) for each in (merged, *others))
        for other in others:
            merged.merge(other)
        found[number] = _Latency(tuple(merged.quantile(quantile) for quantile in QUANTILES), highest_p99_ns)
    return found


def _per_interval(record: RunRecord) -> Iterator[tuple[int, Histogram]]:
    """Start in ns and one histogram over all operations of each interval that has any."""
    lines = record.interval_histograms(report_clock(record))
    for start_ns, of_operations in groupby(lines, key=lambda each: each.start_ns):
        merged, *others = (each.histogram for each in of_operations)
        for other in others:
            merged.merge(other)
        yield start_ns, merged


def _groups(intervals: Sequence[IntervalRow], size: int) -> list[Sequence[IntervalRow]]:
    """Runs of at most `size` neighbours; none crosses from one phase into the next."""
    groups: list[Sequence[IntervalRow]] = []
    for _, same_phase in groupby(intervals, key=lambda row: row["phase"]):
        phase = list(same_phase)
        groups += [phase[first : first + size] for first in range(0, len(phase), size)]
    return groups


def _bucket(
    intervals: Sequence[IntervalRow], rows_of: Mapping[int, Sequence[OperationRow]], latency: _Latency
) -> TimeBucket:
    start_ns, end_ns = intervals[0]["start_ns"], intervals[-1]["end_ns"]
    length_s = max(end_ns - start_ns, 1) / 1e9
    rows = [row for interval in intervals for row in rows_of.get(interval["start_ns"], ())]
    rates = [answered_count(rows_of.get(each["start_ns"], ())) * 1e9 / max(_length_ns(each), 1) for each in intervals]
    return TimeBucket(
        phase=intervals[0]["phase"],
        start_s=start_ns / 1e9,
        end_s=end_ns / 1e9,
        interval_count=len(intervals),
        answered_ops_per_s=answered_count(rows) / length_s,
        lowest_ops_per_s=min(rates),
        highest_ops_per_s=max(rates),
        failed_ops_per_s=sum(row["failed"] for row in rows) / length_s,
        backlog=max(each["backlog"] for each in intervals),
        workers_active=max(each["workers_active"] for each in intervals),
        in_flight=sum(row["in_flight_ns"] for row in rows) / 1e9 / length_s,
        quantiles_ns=latency.quantiles_ns,
        highest_p99_ns=latency.highest_p99_ns,
    )


def _length_ns(interval: IntervalRow) -> int:
    return interval["end_ns"] - interval["start_ns"]

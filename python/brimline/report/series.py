"""A run over time.

Rates and quantiles per bucket of time, long runs thinned by merging neighbours, never by dropping.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from brimline.record.model import Histogram, IntervalRow, OperationRow, RunRecord
from brimline.report.statistics import report_clock

BUCKET_COUNT_MAX = 600
"""Buckets of time in a chart; more can't be told apart on a screen."""
QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBucket:
    """One or several neighbouring intervals of the same phase.

    Times in s since the run's start; None: no value.
    """

    phase: str
    start_s: float
    end_s: float
    answered_ops_per_s: float
    failed_ops_per_s: float
    backlog: int  # at the end of the bucket
    in_flight: float  # mean
    quantiles_ns: tuple[int | None, ...]  # of QUANTILES

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
    histograms = _merged_by_group(record, groups)
    return [
        _bucket(group, [row for interval in group for row in rows[interval["start_ns"]]], histograms.get(number))
        for number, group in enumerate(groups)
    ]


def _merged_by_group(record: RunRecord, groups: Sequence[Sequence[IntervalRow]]) -> dict[int, Histogram]:
    """One histogram per group that has any; the first takes the others, for they are read for this."""
    group_of = {interval["start_ns"]: number for number, group in enumerate(groups) for interval in group}
    merged: dict[int, Histogram] = {}
    for each in record.interval_histograms(report_clock(record)):
        number = group_of.get(each.start_ns)
        if number is None:
            continue
        if number in merged:
            merged[number].merge(each.histogram)
        else:
            merged[number] = each.histogram
    return merged


def _groups(intervals: Sequence[IntervalRow], size: int) -> list[Sequence[IntervalRow]]:
    """Runs of at most `size` neighbours; none crosses from one phase into the next."""
    groups: list[Sequence[IntervalRow]] = []
    for _, same_phase in groupby(intervals, key=lambda row: row["phase"]):
        phase = list(same_phase)
        groups += [phase[first : first + size] for first in range(0, len(phase), size)]
    return groups


def _bucket(intervals: Sequence[IntervalRow], rows: Sequence[OperationRow], merged: Histogram | None) -> TimeBucket:
    start_ns, end_ns = intervals[0]["start_ns"], intervals[-1]["end_ns"]
    length_s = max(end_ns - start_ns, 1) / 1e9
    return TimeBucket(
        phase=intervals[0]["phase"],
        start_s=start_ns / 1e9,
        end_s=end_ns / 1e9,
        answered_ops_per_s=sum(row["ok"] + row["miss"] for row in rows) / length_s,
        failed_ops_per_s=sum(row["failed"] for row in rows) / length_s,
        backlog=intervals[-1]["backlog"],
        in_flight=sum(row["in_flight_ns"] for row in rows) / 1e9 / length_s,
        quantiles_ns=tuple(merged.quantile(quantile) if merged else None for quantile in QUANTILES),
    )

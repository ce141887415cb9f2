"""Owns the figures of a run interval by interval, in which a change shows: throughput, response times by quantile."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from brimline.analysis.objective import MEAN_NAME, P99, Statistic, quantile_name
from brimline.record.model import IntervalRow, RunRecord
from brimline.record.time_histogram import Histogram
from brimline.wording import message

THROUGHPUT_CHANGE_MIN = 0.05
"""Share of the throughput below which a change doesn't matter, however sure it is."""
TIME_CHANGE_MIN = 0.20
"""Likewise of a response time; between two runs of the same server it differs by as much."""

Times: TypeAlias = dict[Statistic, dict[int, int]]
"""Quantile (None: the mean), start of an interval in nanoseconds, response time in nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A figure per interval, in a scale where a difference is a share: relative to the median, or a logarithm."""

    name: str
    key: str
    starts_ns: tuple[int, ...]
    values: tuple[float, ...]
    change_min: float
    logarithmic: bool

    def share(self, difference: float) -> float:
        """A difference of two values as a share."""
        return math.expm1(difference) if self.logarithmic else difference

    def size(self, difference: float) -> float:
        """How large a difference is as a share, the same upwards and downwards."""
        return self.share(abs(difference))

    def since(self, start_ns: int) -> "Series":
        """The part from `start_ns` on."""
        kept = [index for index, each in enumerate(self.starts_ns) if each >= start_ns]
        first = kept[0] if kept else len(self.values)
        return replace(self, starts_ns=self.starts_ns[first:], values=self.values[first:])


def throughput_series(record: RunRecord, intervals: Sequence[IntervalRow]) -> tuple[list[Series], Times]:
    """The throughput of each interval, and no times; nothing of a run that answered nothing in most of them."""
    answered = dict.fromkeys((row["start_ns"] for row in intervals), 0)
    for row in record.operations:
        if row["start_ns"] in answered:
            answered[row["start_ns"]] += row["ok"] + row["miss"]
    rates = [answered[row["start_ns"]] / (row["end_ns"] - row["start_ns"]) for row in intervals]
    usual = sorted(rates)[len(rates) // 2]
    if not usual:
        return [], {}
    throughput = Series(
        name="throughput",
        key="throughput",
        starts_ns=tuple(answered),
        values=tuple(rate / usual for rate in rates),
        change_min=THROUGHPUT_CHANGE_MIN,
        logarithmic=False,
    )
    return [throughput], {}


def time_series(
    record: RunRecord, intervals: Sequence[IntervalRow], quantiles: Sequence[Statistic]
) -> tuple[list[Series], Times]:
    """Response times of each interval; one in which nothing ended has none, and the next one shows why."""
    counted_ns = {row["start_ns"] for row in intervals}
    means_ns: dict[int, float] = {}
    times: Times = {quantile: {} for quantile in quantiles}
    measured = (each for each in record.interval_histograms("response") if each.phase == "measure")
    # Interval by interval, as the log is written: all of a long run's histograms would fill the memory.
    for start_ns, of_interval in groupby(measured, key=lambda each: each.start_ns):
        histogram = _merged(each.histogram for each in of_interval)
        if start_ns in counted_ns:
            means_ns[start_ns] = histogram.mean()
            for quantile, times_ns in times.items():
                mean_ns = round(means_ns[start_ns])
                times_ns[start_ns] = mean_ns if quantile is None else histogram.quantile(quantile)
    series = [_series_of_times(MEAN_NAME, means_ns)] if P99 in times or None in times else []
    named = [(quantile_name(each), times_ns) for each, times_ns in times.items() if each is not None]
    return [*series, *(_series_of_times(name, times_ns) for name, times_ns in named)], times


def _series_of_times(figure: str, times_ns: Mapping[int, float]) -> Series:
    return Series(
        name="mean response time" if figure == MEAN_NAME else message("{quantile} response time", quantile=figure),
        key=f"response_{figure}",
        starts_ns=tuple(times_ns),
        values=tuple(math.log(max(time_ns, 1)) for time_ns in times_ns.values()),
        change_min=TIME_CHANGE_MIN,
        logarithmic=True,
    )


def _merged(histograms: Iterator[Histogram]) -> Histogram:
    """All of them in the first, which is read for this."""
    first = next(histograms)
    for each in histograms:
        first.merge(each)
    return first


def between(times: Times, start_ns: int, end_ns: int) -> dict[Statistic, tuple[int, ...]]:
    """Those of the intervals that begin from `start_ns` on and before `end_ns`."""
    return {
        quantile: tuple(time_ns for at_ns, time_ns in times_ns.items() if start_ns <= at_ns < end_ns)
        for quantile, times_ns in times.items()
    }

"""Owns histogram logs as a public reader has them: `hdrhistogram` of PyPI, which shares no code with brimline."""

from dataclasses import dataclass
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

_HIGHEST = 2**62
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class PublicInterval:
    """One row of a log; times in ms since the epoch, as the reader computes them from the header."""

    tag: str | None
    start_ms: float
    end_ms: float
    histogram: HdrHistogram


def public_intervals(path: Path) -> list[PublicInterval]:
    """All rows of a log, in its order."""
    reader = HistogramLogReader(str(path), HdrHistogram(1, _HIGHEST, _DIGITS))
    rows = []
    try:
        while (histogram := reader.get_next_interval_histogram()) is not None:
            span = histogram.get_start_time_stamp(), histogram.get_end_time_stamp()
            rows.append(PublicInterval(histogram.get_tag(), *span, histogram))
    finally:
        reader.close()
    return rows


def merged_by_tag(rows: list[PublicInterval]) -> dict[str | None, HdrHistogram]:
    """What a log holds of each tag."""
    merged: dict[str | None, HdrHistogram] = {}
    for row in rows:
        merged.setdefault(row.tag, HdrHistogram(1, _HIGHEST, _DIGITS)).add(row.histogram)
    return merged


def buckets(histogram: HdrHistogram) -> list[tuple[int, int]]:
    """Highest value and count of every bucket that is not empty."""
    return [
        (histogram.get_highest_equivalent_value(step.value_iterated_to), step.count_added_in_this_iter_step)
        for step in histogram.get_recorded_iterator()
    ]


def figures(histogram: HdrHistogram) -> tuple[int, int, int, int]:
    """Count, p50, p99 and maximum, as the reader computes them."""
    return (
        histogram.get_total_count(),
        histogram.get_value_at_percentile(50),
        histogram.get_value_at_percentile(99),
        histogram.get_max_value(),
    )

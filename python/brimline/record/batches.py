"""Owns the measured window of a run cut into at most 60 stretches of time, which tell how far a quantile varies.

Merged in the same pass over the log that adds up the whole: a long run has tens of thousands of histograms there, and
decoding them again for each clock takes longer than everything else in its report. Kept encoded, because those of every
operation and clock would fill the memory.
"""

from collections.abc import Iterable, Sequence

from brimline.record.model import OperationRow
from brimline.record.time_histogram import Batches, Histogram, HistogramCodec, IntervalHistogram

BATCH_COUNT_MAX = 60
"""More stretches cost more and tell no more."""
MEASURED_PHASE = "measure"


def batch_numbers(operations: Iterable[OperationRow]) -> dict[int, int]:
    """The stretch of each measured interval, by the interval's start; as many intervals in each as in the next."""
    starts_ns = sorted({row["start_ns"] for row in operations if row["phase"] == MEASURED_PHASE})
    count = min(len(starts_ns), BATCH_COUNT_MAX)
    return {start_ns: place * count // len(starts_ns) for place, start_ns in enumerate(starts_ns)}


def condensed(
    intervals: Iterable[IntervalHistogram], operations: Sequence[OperationRow], codec: HistogramCodec | None
) -> tuple[dict[tuple[str, str], Histogram], Batches | None]:
    """The measured window as a whole by (operation, clock), and its stretches; `intervals` in the order of time.

    Without a codec there is nothing to keep the stretches in.
    """
    number_of = batch_numbers(operations)
    totals: dict[tuple[str, str], Histogram] = {}
    texts: dict[tuple[str, str], dict[int, str]] = {}
    open_batches: dict[tuple[str, str], tuple[int, Histogram]] = {}

    def close(key: tuple[str, str]) -> None:
        number, histogram = open_batches.pop(key)
        if number >= 0 and codec is not None:
            texts.setdefault(key, {})[number] = histogram.encode()
        if key in totals:
            totals[key].merge(histogram)
        else:
            totals[key] = histogram

    for each in intervals:
        if each.phase != MEASURED_PHASE:
            continue
        key = (each.operation, each.clock)
        number = number_of.get(each.start_ns, -1)  # of an interval without a row only the whole knows
        if key in open_batches and open_batches[key][0] != number:
            close(key)
        if key in open_batches:
            open_batches[key][1].merge(each.histogram)
        else:
            open_batches[key] = (number, each.histogram)
    for key in list(open_batches):
        close(key)
    return totals, None if codec is None else Batches(texts=texts, codec=codec)

"""Owns the rows of YCSB's result: metric, measurement, value, in YCSB's order."""

from collections.abc import Iterable, Iterator, Mapping

from brimline.compat.ycsb.java import double_text, ratio
from brimline.compat.ycsb.measurements import (
    STATUSES,
    Clocks,
    Measurement,
    Times,
    mean_us,
    named_measurements,
    operations_done,
    times_by_interval,
)
from brimline.compat.ycsb.raw import RawTimes, raw_summary
from brimline.plan.model import MixWork
from brimline.record.model import RunRecord
from brimline.record.time_histogram import Histogram
from brimline.spec import YcsbOutput
from brimline.units import NS_PER_MS

Row = tuple[str, str, int | float]

_JAVA_INT_MAX = 2**31 - 1
_US_PER_MS = 1000
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def measurement_rows(record: RunRecord, output: YcsbOutput, raw: RawTimes | None = None) -> list[Row]:
    """Everything that YCSB says at the end of a run. Lines about garbage collection belong to a JVM and are absent.

    `raw` are the latencies one by one, which raw measurements need.
    """
    summary = record.summary
    runtime_ms = summary["elapsed_ns"] // NS_PER_MS if summary else _recorded_ms(record)
    rows: list[Row] = [
        ("OVERALL", "RunTime(ms)", runtime_ms),
        ("OVERALL", "Throughput(ops/sec)", ratio(1000.0 * operation_count(record), runtime_ms)),
    ]
    clocks = Clocks.of(record.plan)
    series = _series(record, output, clocks=clocks) if output.measurement_type == "timeseries" else {}
    close_ns = summary.get("close_ns") if summary else None
    measured = named_measurements(Times.of_record(record), output, clocks=clocks, close_ns=close_ns)
    for name, measurement in measured:
        values_us = raw.values_us.get(name, {}) if raw is not None else {}
        rows.extend(_rows(name, measurement, output, series.get(name, []), values_us))
    return rows


def operation_count(record: RunRecord) -> int:
    """Operations of a run or load as YCSB counts them."""
    work = record.plan.work
    documents_per_insert = work.insert_batch_size if isinstance(work, MixWork) else 1
    return sum(operations_done(row, documents_per_insert) for row in record.operations)


def _recorded_ms(record: RunRecord) -> int:
    return record.intervals[-1]["end_ns"] // NS_PER_MS if record.intervals else 0


def _rows(
    name: str,
    measurement: Measurement,
    output: YcsbOutput,
    series: Iterable[tuple[int, float]],
    raw_us: Mapping[int, int],
) -> Iterator[Row]:
    match output.measurement_type:
        case "hdrhistogram":
            yield from _hdr_rows(name, measurement, output)
        case "histogram":
            yield from _bucket_rows(name, measurement, output)
        case "hdrhistogram+histogram":
            yield from _hdr_rows(f"Hdr{name}", measurement, output)
            uncounted = Measurement(values_us=measurement.values_us, returned={})
            yield from _bucket_rows(f"Bucket{name}", uncounted, output)
        case "timeseries":
            yield from _series_rows(name, measurement, series)
        case "raw":
            yield from raw_summary(name, raw_us, output)
            yield from _returned(name, measurement.returned)
        case "hdrhistogram+raw":
            yield from _hdr_rows(f"Hdr{name}", measurement, output)
            yield from raw_summary(f"Raw{name}", raw_us, output)


def _hdr_rows(name: str, measurement: Measurement, output: YcsbOutput) -> Iterator[Row]:
    histogram = measurement.histogram()
    yield name, "Operations", histogram.count()
    yield name, "AverageLatency(us)", mean_us(histogram)
    yield name, "MinLatency(us)", histogram.min()
    yield name, "MaxLatency(us)", histogram.max()
    for percentile in output.percentiles:
        yield name, f"{_ordinal(percentile)}PercentileLatency(us)", at_percentile(histogram, percentile)
    yield from _returned(name, measurement.returned)
    if output.verbose:
        for value_us, count in histogram.buckets():
            yield name, str(min(value_us, _JAVA_INT_MAX)), float(count)


def at_percentile(histogram: Histogram, percentile: float) -> int:
    """`getValueAtPercentile`; 0 of an empty histogram."""
    return histogram.quantile(percentile / 100) if histogram.count() else 0


def _bucket_rows(name: str, measurement: Measurement, output: YcsbOutput) -> Iterator[Row]:
    """Buckets of 1 ms; a percentile is the lower end of the bucket that reaches it."""
    values, count = measurement.values_us, measurement.count
    mean = ratio(measurement.sum_us, count)
    square_us2 = ratio(float(sum(value * value * number for value, number in values.items())), count)
    yield name, "Operations", count
    yield name, "AverageLatency(us)", mean
    yield name, "LatencyVariance(us)", square_us2 - mean * mean
    yield name, "MinLatency(us)", min(values, default=-1)
    yield name, "MaxLatency(us)", max(values, default=-1)
    buckets: dict[int, int] = {}
    for value, number in sorted(values.items()):
        buckets[value // _US_PER_MS] = buckets.get(value // _US_PER_MS, 0) + number
    for percent in (95, 99):
        if (bucket := _bucket_at(buckets, percent / 100, count)) is not None and bucket < output.bucket_count:
            yield name, f"{percent}thPercentileLatency(us)", bucket * _US_PER_MS
    yield from _returned(name, measurement.returned)
    if output.verbose:
        for bucket in range(output.bucket_count):
            yield name, str(bucket), buckets.get(bucket, 0)
        beyond = sum(number for bucket, number in buckets.items() if bucket >= output.bucket_count)
        yield name, f">{output.bucket_count}", beyond


def _bucket_at(buckets: Mapping[int, int], share: float, count: int) -> int | None:
    reached = 0
    for bucket, number in buckets.items():
        reached += number
        if reached / count >= share:
            return bucket
    return None


def _series_rows(name: str, measurement: Measurement, series: Iterable[tuple[int, float]]) -> Iterator[Row]:
    yield name, "Operations", measurement.count
    yield name, "AverageLatency(us)", ratio(measurement.sum_us, measurement.count)
    yield name, "MinLatency(us)", min(measurement.values_us, default=-1)
    yield name, "MaxLatency(us)", max(measurement.values_us, default=-1)
    yield from _returned(name, measurement.returned)
    points = list(series) or [(0, ratio(measurement.sum_us, measurement.count))]
    for offset_ms, mean in points:
        yield name, str(offset_ms), mean


def _series(record: RunRecord, output: YcsbOutput, *, clocks: Clocks) -> dict[str, list[tuple[int, float]]]:
    """Mean latency in µs by the time in ms at which a stretch begins; stretches without a value are left out."""
    width_ns = output.granularity_ms * NS_PER_MS
    series: dict[str, list[tuple[int, float]]] = {}
    for stretch, times in times_by_interval(record, lambda start_ns, _: start_ns // width_ns).items():
        for name, measurement in named_measurements(times, output, clocks=clocks):
            if measurement.count:
                mean = ratio(measurement.sum_us, measurement.count)
                series.setdefault(name, []).append((stretch * output.granularity_ms, mean))
    return series


def _returned(name: str, returned: Mapping[str, int]) -> Iterator[Row]:
    for status in STATUSES:
        if returned.get(status):
            yield name, f"Return={status}", returned[status]


def _ordinal(percentile: float) -> str:
    """50th, 91st, 92nd; a fraction as Java writes it, without an ending."""
    if percentile % 1:
        return double_text(percentile)
    whole = int(percentile)
    ending = "th" if whole % 100 in (11, 12, 13) else _ORDINALS.get(whole % 10, "th")
    return f"{whole}{ending}"

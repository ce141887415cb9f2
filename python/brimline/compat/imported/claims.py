"""Owns what an imported run claims of itself: what its tool printed, against what is recomputed from its data."""

from collections.abc import Iterator, Mapping, Sequence

from brimline.analysis.lint import Claims, Figure, Repeated, Result
from brimline.compat.imported.table import ImportedStatistics
from brimline.record.imported import ImportedRun, Series
from brimline.record.time_histogram import Histogram
from brimline.report.own_claims import HISTOGRAM_RESOLUTION
from brimline.report.statistics import TOTAL_LABEL
from brimline.stats.quantile_interval import QuantileInterval


def imported_claims(
    run: ImportedRun, statistics: Sequence[ImportedStatistics], histograms: Mapping[tuple[str, str], Histogram]
) -> Claims:
    """Every figure that the tool printed and that the report shows."""
    return Claims(
        results=[
            *_overall(run),
            *(_row(run, each) for each in statistics),
            *(_answered(run, each) for each in statistics),
        ],
        repeated=[*_percentiles(run, histograms)],
    )


def _overall(run: ImportedRun) -> Iterator[Result]:
    """YCSB counts failed operations in the throughput of a run, not in that of a load."""
    printed = run.printed.throughput_per_s
    if printed is None:
        return
    duration_s = run.duration_ns / 1e9
    counts = {"run": [run.operation_count], "load": [run.operation_count - run.failed_count]}
    possible = counts.get(run.printed.phase, [*counts["run"], *counts["load"]])
    yield Result(
        name=f"throughput as {run.tool} printed it",
        samples=Figure(min(possible, key=lambda count: abs(count - printed * duration_s))),
        duration_s=Figure(duration_s),
        throughput_per_s=Figure(printed, 1e-6 * printed),
    )


def _row(run: ImportedRun, row: ImportedStatistics) -> Result:
    step_ns = max((each.printed_step_ns for each in run.shown), default=0)
    times = {
        q: _figure(value.value_ns) if isinstance(value, QuantileInterval) else _rounded_down(value, step_ns)
        for q, value in row.percentiles.items()
        if not isinstance(value, QuantileInterval) or value.enough or q == 0.5
    }
    is_total = row.label == TOTAL_LABEL
    paced = run.printed.target_ops_per_s is not None
    threads = run.printed.threads
    return Result(
        name=row.label,
        samples=Figure(row.samples),
        error_count=Figure(row.failed),
        error_share=Figure(row.error_share),
        throughput_per_s=_known(row.throughput_per_s),
        threads=Figure(threads) if is_total and threads is not None and not paced and run.closed_loop else None,
        mean_ns=None if row.mean_ns is None else _figure(row.mean_ns),
        min_ns=None if row.min_ns is None else _figure(row.min_ns),
        max_ns=None if row.max_ns is None else _figure(row.max_ns),
        percentiles_ns=times,
    )


def _answered(run: ImportedRun, row: ImportedStatistics) -> Result:
    """Throughput counts what did not fail."""
    return Result(
        name=f"{row.label}, answered",
        samples=Figure(row.samples - row.failed),
        duration_s=Figure(run.duration_ns / 1e9) if run.knows_length else None,
        throughput_per_s=_known(row.throughput_per_s),
    )


def _known(value: float | None) -> Figure | None:
    return None if value is None else Figure(value)


def _figure(time_ns: float) -> Figure:
    return Figure(float(time_ns), abs(time_ns) * HISTOGRAM_RESOLUTION)


def _rounded_down(time_ns: float, step_ns: int) -> Figure:
    return Figure(time_ns + step_ns / 2, step_ns / 2 + time_ns * HISTOGRAM_RESOLUTION)


def _percentiles(run: ImportedRun, histograms: Mapping[tuple[str, str], Histogram]) -> Iterator[Repeated]:
    """What the tool printed beside what its own data give."""
    for series in run.shown:
        histogram = histograms.get((series.operation, series.clock))
        if histogram is not None and series.samples == series.timed:
            yield from (_pair(series, q, value, histogram) for q, value in series.printed_percentiles_ns.items())


def _pair(series: Series, quantile: float, printed_ns: int, histogram: Histogram) -> Repeated:
    """Ranks are rounded up by one tool and down by another: the neighbours on either side are as good."""
    name = f"{series.operation} p{quantile * 100:.6g}"
    step = 1 / max(histogram.count(), 1)
    low, high = (histogram.quantile(min(max(quantile + side, 0.0), 1.0)) for side in (-step, step))
    middle = Figure((low + high) / 2, (high - low) / 2 + high * HISTOGRAM_RESOLUTION)
    return Repeated(
        name=name, values=[_rounded_down(printed_ns, series.printed_step_ns), middle], exact=True, unit="ns"
    )

"""Owns the statistics of an imported run, in JMeter's columns; percentiles of every sample where there are all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brimline.analysis.quantile_text import quantile_text
from brimline.record.imported import READ_MODIFY_WRITE, ImportedRun, Series
from brimline.record.time_histogram import Histogram
from brimline.report import jmeter_table
from brimline.report.jmeter_table import error_percent, kilobytes_per_s, milliseconds, per_second
from brimline.report.statistics import TOTAL_LABEL
from brimline.report.view import Cell, Section, Table
from brimline.stats.quantile_interval import QuantileInterval, merge_buckets, quantile_intervals, whole_between
from brimline.units import format_count

PERCENTILES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedStatistics:
    """One row. Times in ns; None: not known. `percentiles` are intervals, or plain times as the tool printed them."""

    label: str
    samples: int
    failed: int
    mean_ns: float | None
    min_ns: int | None
    max_ns: int | None
    percentiles: Mapping[float, QuantileInterval | int]
    throughput_per_s: float | None
    received_bytes_per_s: float | None
    sent_bytes_per_s: float | None

    @property
    def error_share(self) -> float:
        """Share of the samples that failed."""
        return self.failed / self.samples if self.samples else 0.0


def imported_statistics(run: ImportedRun, histograms: Mapping[tuple[str, str], Histogram]) -> list[ImportedStatistics]:
    """All operations first, as `Total`, then each series in the order of the files."""
    rows = [_row(run, each, histograms.get((each.operation, each.clock))) for each in run.shown]
    return [_total(run, histograms), *rows]


def _row(run: ImportedRun, series: Series, histogram: Histogram | None) -> ImportedStatistics:
    if histogram is None:
        percentiles: Mapping[float, QuantileInterval | int] = {
            q: value for q, value in series.printed_percentiles_ns.items() if q in PERCENTILES
        }
    else:
        percentiles = quantile_intervals(histogram.buckets(), PERCENTILES)
    return ImportedStatistics(
        label=series.operation,
        samples=series.samples,
        failed=series.failed,
        mean_ns=series.mean_ns,
        min_ns=series.min_ns,
        max_ns=series.max_ns,
        percentiles=percentiles,
        throughput_per_s=_per_s(run, series.samples - series.failed),
        received_bytes_per_s=None if series.bytes_in is None else _per_s(run, series.bytes_in),
        sent_bytes_per_s=None if series.bytes_out is None else _per_s(run, series.bytes_out),
    )


def _total(run: ImportedRun, histograms: Mapping[tuple[str, str], Histogram]) -> ImportedStatistics:
    """Times of the whole only where every call is one operation; percentiles only where every sample is there."""
    counted = [each for each in run.shown if each.counted]
    whole = not any(each.operation == READ_MODIFY_WRITE for each in run.shown)
    timed = [each for each in counted if each.timed] if whole else []
    all_timed = bool(timed) and all((each.operation, each.clock) in histograms for each in timed)
    count = sum(each.timed for each in timed)
    known = bool(count) and all(each.mean_ns is not None for each in timed)
    percentiles: Mapping[float, QuantileInterval | int] = {}
    if all_timed:
        parts = [histograms[each.operation, each.clock].buckets() for each in timed]
        of_parts = [quantile_intervals(each, PERCENTILES) for each in parts]
        percentiles = whole_between(quantile_intervals(merge_buckets(parts), PERCENTILES), of_parts)
    return ImportedStatistics(
        label=TOTAL_LABEL,
        samples=run.operation_count,
        failed=run.failed_count,
        mean_ns=sum((each.mean_ns or 0.0) * each.timed for each in timed) / count if known else None,
        min_ns=_extreme([each.min_ns for each in timed], least=True),
        max_ns=_extreme([each.max_ns for each in timed], least=False),
        percentiles=percentiles,
        throughput_per_s=_per_s(run, run.operation_count - run.failed_count),
        received_bytes_per_s=_sum_per_s(run, [each.bytes_in for each in counted]),
        sent_bytes_per_s=_sum_per_s(run, [each.bytes_out for each in counted]),
    )


def _per_s(run: ImportedRun, count: int) -> float | None:
    if not run.knows_length:
        return None
    return count * 1e9 / run.duration_ns if run.duration_ns else 0.0


def _sum_per_s(run: ImportedRun, counts: Sequence[int | None]) -> float | None:
    known = [each for each in counts if each is not None]
    return _per_s(run, sum(known)) if known and len(known) == len(counts) else None


def _extreme(values: Sequence[int | None], *, least: bool) -> int | None:
    known = [each for each in values if each is not None]
    if not known or len(known) < len(values):
        return None
    return min(known) if least else max(known)


def statistics_section(run: ImportedRun, statistics: Sequence[ImportedStatistics]) -> Section:
    """The table."""
    clock = "service" if run.closed_loop else "response"
    table = Table(
        columns=jmeter_table.columns(clock=clock),
        rows=[_cells(each) for each in statistics],
        emphasised=frozenset({0}),
        caption=_caption(run),
    )
    return Section(id="operations", title="Operations", short="Operations", blocks=[table])


def _caption(run: ImportedRun) -> str:
    if any(each.times_from == "summary" for each in run.shown if each.counted):
        return (
            "Whole run. Throughput counts operations that did not fail. "
            "Percentiles as the tool printed them; those of all operations together can't be had from them. "
            "A KB is 1 024 bytes, as in JMeter."
        )
    return (
        "Whole run. Throughput counts operations that did not fail. Percentiles are over every sample of it. "
        "≥: too few samples lie above the percentile for a figure; the lower end of its 95 % interval. "
        "A KB is 1 024 bytes, as in JMeter."
    )


def _cells(row: ImportedStatistics) -> list[Cell]:
    return [
        Cell(text=row.label),
        Cell(text=format_count(row.samples)),
        Cell(text=format_count(row.failed), tone="fail" if row.failed else ""),
        Cell(text=error_percent(row.error_share), tone="fail" if row.failed else ""),
        *(Cell(text=milliseconds(each)) for each in (row.mean_ns, row.min_ns, row.max_ns)),
        *(Cell(text=_percentile(row.percentiles.get(q))) for q in PERCENTILES),
        Cell(text=per_second(row.throughput_per_s)),
        *(Cell(text=kilobytes_per_s(each)) for each in (row.received_bytes_per_s, row.sent_bytes_per_s)),
    ]


def _percentile(value: QuantileInterval | int | None) -> str:
    """A median needs no tail; the others are a figure or a bound, as everywhere."""
    if isinstance(value, QuantileInterval):
        return quantile_text(value, format_ns=milliseconds)
    return milliseconds(value)

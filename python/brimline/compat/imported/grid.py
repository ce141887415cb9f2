"""Owns the figures of an imported run as a grid: a row for each operation, as its tool named it."""

from collections.abc import Iterator, Sequence

from brimline.analysis.metrics import Known, all_metrics
from brimline.compat.imported.table import ImportedStatistics
from brimline.report.grid import Grid, GridAxis, GridRow
from brimline.stats.quantile_interval import QuantileInterval

_NAMES = {0.5: "p50", 0.9: "p90", 0.95: "p95", 0.99: "p99"}


def imported_grid(statistics: Sequence[ImportedStatistics], *, closed_loop: bool) -> Grid:
    """All operations together come first."""
    return Grid(
        axes=(GridAxis(name="operation", label="Operation"),),
        rows=[GridRow(levels=(each.label,), figures=dict(_figures(each))) for each in statistics],
        metrics=all_metrics("closed loop" if closed_loop else "open loop", ()),
    )


def _figures(row: ImportedStatistics) -> Iterator[tuple[str, Known]]:
    known = {
        "throughput": row.throughput_per_s,
        "mean": row.mean_ns,
        "errors": row.error_share if row.samples else None,
        "received": row.received_bytes_per_s,
        "sent": row.sent_bytes_per_s,
    }
    yield from ((name, Known(float(value))) for name, value in known.items() if value is not None)
    for quantile, each in row.percentiles.items():
        if not isinstance(each, QuantileInterval):
            yield _NAMES[quantile], Known(float(each))
        elif each.is_figure:
            yield _NAMES[quantile], Known(float(each.value_ns), each.low_ns, each.high_ns)

"""Owns the figures of both sides of a comparison as a grid."""

from typing import cast

from brimline.analysis.compared_run import KIND_TEXTS, LoadKind
from brimline.analysis.comparison import Comparison
from brimline.analysis.metrics import mean_over, metrics_among
from brimline.report.grid import Grid, GridAxis, GridRow


def sides_grid(comparison: Comparison) -> Grid:
    """A row for each side, over its runs that count; of searches and imports the figures that they end with."""
    sides = (("A", comparison.a), ("B", comparison.b))
    figures = [run.figures for _, runs in sides for run in runs]
    of_runs = comparison.kind in KIND_TEXTS
    return Grid(
        axes=(GridAxis(name="side", label="Side"),),
        rows=[GridRow(levels=(name,), figures=mean_over([run.figures for run in runs])) for name, runs in sides],
        metrics=metrics_among(figures, cast(LoadKind, comparison.kind)) if of_runs else comparison.a[0].metrics,
    )

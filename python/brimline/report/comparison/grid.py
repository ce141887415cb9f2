"""Owns the figures of both sides of a comparison, and of the runs of a trend, as a grid."""

from collections.abc import Sequence
from typing import cast

from brimline.analysis.compared_run import KIND_TEXTS, ComparedRun, LoadKind
from brimline.analysis.comparison import Comparison
from brimline.analysis.metrics import Known, Metric, kind_of_all, mean_over, metrics_among
from brimline.analysis.run_trend import RunSeries
from brimline.report.grid import Grid, GridAxis, GridRow


def sides_grid(comparison: Comparison) -> Grid:
    """A row for each side, over its runs that count; of searches and imports the figures that they end with."""
    sides = (("A", comparison.a), ("B", comparison.b))
    return Grid(
        axes=(GridAxis(name="side", label="Side"),),
        rows=[GridRow(levels=(name,), figures=mean_over([run.figures for run in runs])) for name, runs in sides],
        metrics=_metrics([*comparison.a, *comparison.b]),
    )


def runs_grid(series: Sequence[RunSeries]) -> Grid:
    """A row for each run of each series that counts, in the order of time."""
    runs = [(each.name, run) for each in series for run in each.runs]
    return Grid(
        axes=(GridAxis(name="series", label="Series"), GridAxis(name="run", label="Run")),
        rows=[
            GridRow(levels=(name, run.name), figures={key: Known(value) for key, value in run.figures.items()})
            for name, run in runs
        ],
        metrics=_metrics([run for _, run in runs]),
    )


def _metrics(runs: Sequence[ComparedRun]) -> tuple[Metric, ...]:
    """All that runs of their kind have; of searches and imports the figures that they end with."""
    if not runs or runs[0].kind not in KIND_TEXTS:
        return runs[0].metrics if runs else ()
    return metrics_among([run.figures for run in runs], kind_of_all(cast(LoadKind, run.kind) for run in runs))

"""Owns the figures of a factor sweep's combinations as a grid."""

from brimline.analysis.factorial import Mean
from brimline.analysis.metrics import Known
from brimline.experiments.vary.conclusion import VaryConclusion
from brimline.experiments.vary.order import VarySettings
from brimline.report.grid import Grid, GridAxis, GridRow


def combinations_grid(conclusion: VaryConclusion, settings: VarySettings) -> Grid:
    """A row for each combination, over its runs that count."""
    return Grid(
        axes=tuple(
            GridAxis(
                name=factor.name,
                scale="log2" if all(each.isdigit() and int(each) for each in factor.levels) else "category",
            )
            for factor in settings.factors
        ),
        rows=[
            GridRow(levels=cell.levels, figures={key: _known(mean) for key, mean in cell.means.items()})
            for cell in conclusion.cells
        ],
        metrics=conclusion.every_metric,
    )


def _known(mean: Mean) -> Known:
    return Known(mean.value, mean.low, mean.high)

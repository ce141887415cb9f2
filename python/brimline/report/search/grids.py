"""Owns the figures of a sweep's levels and of a search's loads as grids."""

from collections.abc import Sequence

from brimline.analysis.metrics import LoadKind, all_metrics, closed_kind, figures_over, operations_of
from brimline.experiments.axis import Axis, On
from brimline.experiments.sweep import SweepConclusion
from brimline.experiments.trial import SEARCH_STAGES, Trial
from brimline.report.grid import Grid, GridAxis, GridRow

CONNECTIONS_AXIS = GridAxis(name="connections", label="Connections", scale="log2", title="connections")
_AXES = {
    On.RATE: GridAxis(name="offered_ops_per_s", label="Offered, ops/s", scale="linear", title="offered load, ops/s"),
    On.CONNECTIONS: CONNECTIONS_AXIS,
    On.THREADS: GridAxis(name="threads", label="Threads", scale="log2", title="threads (T of T-L-R)"),
}


def levels_grid(conclusion: SweepConclusion, trials: Sequence[Trial]) -> Grid:
    """A row for each number of connections, over its repeats."""
    return Grid(
        axes=(CONNECTIONS_AXIS,),
        rows=[GridRow(levels=(str(level.connections),), figures=level.figures) for level in conclusion.levels],
        metrics=all_metrics(closed_kind(each.observation for each in trials), _operations(trials)),
    )


def loads_grid(trials: Sequence[Trial], axis: Axis) -> Grid:
    """A row for each load that was held to the objective, over its windows."""
    searched = [
        each for each in trials if each.probe.stage in SEARCH_STAGES and each.observation.ended_by == "completed"
    ]
    kind: LoadKind = closed_kind(each.observation for each in searched) if axis.closed_loop else "open loop"
    return Grid(
        axes=(_AXES[axis.on],),
        rows=[
            GridRow(
                levels=(f"{load:.10g}",),
                figures=figures_over([each.observation for each in searched if axis.load_of(each.probe) == load], kind),
            )
            for load in sorted({axis.load_of(each.probe) for each in searched})
        ],
        metrics=all_metrics(kind, _operations(searched)),
    )


def _operations(trials: Sequence[Trial]) -> list[str]:
    return sorted({name for each in trials for name in operations_of(each.observation)})

"""Owns the figures of a capacity search or an SLO frontier, as a design needs them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from brimline.analysis.figure import Figure
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.frontier import Frontier
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.measure import Measure
from brimline.experiments.stored import (
    stored_capacity_settings,
    stored_frontier_settings,
    stored_seed,
    stored_trials,
)
from brimline.record import ExperimentRecord, read_experiment
from brimline.units import format_duration
from brimline.wording import message

SUSTAINED = "sustained"


def _figures(directory: Path) -> Mapping[str, Figure]:
    experiment = read_experiment(directory)
    found = _of_frontier(experiment) if experiment.kind == "frontier" else _of_search(experiment)
    return {figure.key: figure for figure in found}


def _of_search(experiment: ExperimentRecord) -> Iterator[Figure]:
    settings = stored_capacity_settings(experiment.settings)
    trials = stored_trials(experiment, slo=settings.slo)
    return figures_of(Capacity(settings, stored_seed(experiment)).conclude(trials))


def figures_of(conclusion: CapacityConclusion) -> Iterator[Figure]:
    """The load that one search found, or the bound with why it is no more, and beside the load the plateau."""
    yield from _sustained(conclusion, key=SUSTAINED, label="Sustained load")
    plateau = conclusion.sweep.saturation
    if conclusion.figure is not None and plateau is not None:
        yield Figure(key="saturation", value=plateau.value, low=plateau.low, high=plateau.high, unit="ops/s",
                     label="Plateau", higher_is_better=True)  # fmt: skip


def _of_frontier(experiment: ExperimentRecord) -> Iterator[Figure]:
    settings = stored_frontier_settings(experiment)
    trials = stored_trials(experiment, slo=settings.search.slo)
    points = Frontier(settings, stored_seed(experiment)).conclude(trials).points
    for place, point in enumerate(points):
        limit_ns = point.settings.slo.leading.limit_ns
        key = SUSTAINED if place == 0 else f"{SUSTAINED}_{limit_ns}_ns"
        label = message("Sustained within {limit}", limit=format_duration(limit_ns))
        yield from _sustained(point, key=key, label=label)


def _sustained(found: CapacityConclusion, *, key: str, label: str) -> Iterator[Figure]:
    """The load that is sustained, or the bound that is known of it."""
    known, bound = found.sustained, found.sustained is None
    low, high = (found.at_least, found.at_most) if known is None else (known.low, known.high)
    if found.figure is not None:
        yield Figure(key=key, value=found.figure, low=low, high=high, unit=found.settings.axis.unit, label=label,
                     higher_is_better=True, remark=found.headline if bound and found.reason else "")  # fmt: skip


CAPACITY = Measure(
    name="capacity",
    kind="capacity",
    figures=_figures,
    meaningless={"rate": "a search finds the rate itself", "tlr-threads": "a search finds the threads itself"},
)

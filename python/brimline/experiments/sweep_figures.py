"""Owns the figures of a sweep over connections, as a design needs them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from brimline.analysis.figure import Figure
from brimline.experiments.measure import Measure
from brimline.experiments.settings import SweepSettings
from brimline.experiments.stored import stored_seed, stored_settings, stored_trials
from brimline.experiments.sweep import Sweep
from brimline.record import read_experiment

HIGHEST = "highest"


def _figures(directory: Path) -> Mapping[str, Figure]:
    return {figure.key: figure for figure in _found(directory)}


def _found(directory: Path) -> Iterator[Figure]:
    """The highest throughput, with its interval where a level ran often enough, and where it was reached."""
    experiment = read_experiment(directory)
    settings = stored_settings(SweepSettings, experiment)
    found = Sweep(settings, stored_seed(experiment)).conclude(stored_trials(experiment))
    highest = found.saturation_ops_per_s or found.highest_ops_per_s
    if highest is not None:
        low, high = (None, None) if found.saturation is None else (found.saturation.low, found.saturation.high)
        yield Figure(key=HIGHEST, value=highest, low=low, high=high, unit="ops/s", label="Highest throughput",
                     higher_is_better=True)  # fmt: skip
    if found.knee_connections is not None:
        yield Figure(key="knee", value=float(found.knee_connections), unit="connections", label="Knee",
                     higher_is_better=False)  # fmt: skip


SWEEP = Measure(
    name="sweep",
    kind="sweep",
    figures=_figures,
    meaningless={
        "connections": "its ladder tries them all; without --connections-max each level is a run",
        **dict.fromkeys(("rate", "tlr-threads", "loops", "ramp-up"), "its levels are closed loops"),
    },
)

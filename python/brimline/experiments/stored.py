"""Owns reading an experiment back: its trials and settings from the directory, so that it can be concluded again."""

from collections.abc import Mapping
from typing import Any, TypeVar

from brimline.analysis.observation import observe
from brimline.analysis.verdict import Slo
from brimline.errors import RecordError
from brimline.experiments.runner import null_ceiling
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.experiments.trial import CoolDown, Probe, Trial
from brimline.record import ExperimentRecord, read_record

_Part = TypeVar("_Part")


def stored_trials(experiment: ExperimentRecord) -> list[Trial]:
    """The trials of an experiment, observed anew from their records. Raises RecordError."""
    trials: list[Trial] = []
    for entry in experiment.trials:
        record = read_record(entry.directory)
        observation = observe(record, null_ceiling_ops_per_s=null_ceiling(trials))
        cool_down = None if entry.cool_down is None else _cool_down(entry.cool_down)
        probe = _read(Probe, entry.probe, "trial")
        trials.append(Trial(probe=probe, observation=observation, cool_down=cool_down))
    return trials


def _cool_down(stored: Mapping[str, Any]) -> CoolDown:
    return _read(CoolDown, {**stored, "waiting_for": tuple(stored.get("waiting_for", ()))}, "cool-down")


def stored_capacity_settings(experiment: ExperimentRecord) -> CapacitySettings:
    """The settings of a capacity search. Raises RecordError."""
    settings = dict(experiment.settings)
    settings["slo"] = _read(Slo, settings.get("slo", {}), "objective")
    settings["sweep"] = _read(SweepSettings, settings.get("sweep", {}), "sweep")
    settings.pop("seed", None)
    return _read(CapacitySettings, settings, "settings")


def stored_sweep_settings(experiment: ExperimentRecord) -> SweepSettings:
    """The settings of a sweep. Raises RecordError."""
    settings = dict(experiment.settings)
    settings.pop("seed", None)
    return _read(SweepSettings, settings, "settings")


def stored_seed(experiment: ExperimentRecord) -> int:
    """The seed of the experiment's own choices."""
    return int(experiment.settings.get("seed", 1))


def _read(kind: type[_Part], values: Mapping[str, Any], what: str) -> _Part:
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise RecordError(f"the experiment's {what} can't be read: {error}") from error

"""Owns reading an experiment back: its trials and settings from the directory, so that it can be concluded again."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo
from brimline.analysis.observation import observe
from brimline.errors import RecordError
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.runner import null_ceiling
from brimline.experiments.settings import CapacitySettings, Grade, SweepSettings
from brimline.experiments.trial import CoolDown, Probe, Trial
from brimline.record import ExperimentRecord, read_record
from brimline.record.damage import damage_told

_Part = TypeVar("_Part")


def stored_trials(experiment: ExperimentRecord, *, slo: Slo | None = None) -> list[Trial]:
    """The trials of an experiment, observed anew from their records for `slo`. Raises RecordError."""
    trials: list[Trial] = []
    for entry in experiment.trials:
        ceiling = null_ceiling(trials)
        with damage_told(entry.directory):
            record = read_record(entry.directory)
            observation = observe(record, null_ceiling_ops_per_s=ceiling, objectives=slo.latencies if slo else ())
        cool_down = None if entry.cool_down is None else _cool_down(entry.cool_down)
        probe = _read(Probe, {**entry.probe, **_renamed_stage(entry.probe)}, "trial")
        trials.append(Trial(probe=probe, observation=observation, cool_down=cool_down, took_s=entry.took_s))
    return trials


def _renamed_stage(probe: Mapping[str, Any]) -> Mapping[str, Any]:
    """Older searches narrowed their range in two stages."""
    return {"stage": "search"} if probe.get("stage") in ("bracket", "bisect") else {}


def _cool_down(stored: Mapping[str, Any]) -> CoolDown:
    return _read(CoolDown, {**stored, "waiting_for": tuple(stored.get("waiting_for", ()))}, "cool-down")


def stored_frontier_settings(experiment: ExperimentRecord) -> FrontierSettings:
    """The settings of an SLO frontier. Raises RecordError."""
    search = stored_capacity_settings(experiment.settings.get("search", {}))
    limits_ns = tuple(experiment.settings.get("limits_ns", ()))
    return _read(FrontierSettings, {"search": search, "limits_ns": limits_ns}, "settings")


def stored_capacity_settings(stored: Mapping[str, Any]) -> CapacitySettings:
    """The settings of a capacity search as they were stored. Raises RecordError."""
    settings = dict(stored)
    settings["slo"] = _stored_slo(settings.get("slo", {}))
    settings["on"] = On(settings.get("on", On.RATE))
    settings["sweep"] = _read(SweepSettings, settings.get("sweep", {}), "sweep")
    settings.pop("seed", None)
    if "verify_s" in settings:  # an older search, whose windows had other names
        known = {each.name for each in fields(CapacitySettings)}
        settings |= {"window_s": settings["verify_s"], "glance_s": settings.get("bracket_s")}
        settings = {name: value for name, value in settings.items() if name in known - {"resolution", "width_max"}}
    if settings.get("grade_required") is not None:
        settings["grade_required"] = Grade(settings["grade_required"])
    return _read(CapacitySettings, settings, "settings")


def _stored_slo(values: Mapping[str, Any]) -> Slo:
    """The objective; of searches from before it could have several limits as well."""
    if "response_p99_ns" in values:
        return Slo(
            latencies=(LatencyObjective(limit_ns=values["response_p99_ns"]),),
            errors=(ErrorObjective(share_max=values["error_rate_max"]),),
            completed_share_min=values["completed_share_min"],
        )
    parts = {
        "latencies": tuple(_read(LatencyObjective, each, "objective") for each in values.get("latencies", ())),
        "errors": tuple(_read(ErrorObjective, each, "objective") for each in values.get("errors", ())),
    }
    return _read(Slo, {**values, **parts} if values else {}, "objective")


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

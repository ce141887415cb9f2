"""Owns reading an experiment back: its trials and settings from the directory, so that it can be concluded again."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from brimline.analysis.objective import Slo
from brimline.analysis.observation import observe
from brimline.errors import RecordError
from brimline.execution.cool_down import CoolDown
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.trial import Probe, Trial, null_ceiling
from brimline.record import ExperimentRecord, read_record
from brimline.record.damage import damage_told
from brimline.record.events import put_back_s
from brimline.spec.validation import first_in_words

SEED = "seed"
"""Stored beside the settings of every experiment."""
_Part = TypeVar("_Part")


def stored_trials(experiment: ExperimentRecord, *, slo: Slo | None = None) -> list[Trial]:
    """The trials of an experiment, observed anew from their records for `slo`. Raises RecordError."""
    trials: list[Trial] = []
    for entry in experiment.trials:
        ceiling = null_ceiling(trials)
        with damage_told(entry.directory):
            record = read_record(entry.directory)
            observation = observe(record, null_ceiling_ops_per_s=ceiling, objectives=slo.latencies if slo else ())
        cool_down = None if entry.cool_down is None else read_part(CoolDown, entry.cool_down, "cool-down")
        probe = read_part(Probe, {**entry.probe, **_renamed_stage(entry.probe)}, "trial")
        trials.append(
            Trial(
                probe=probe,
                observation=observation,
                cool_down=cool_down,
                took_s=entry.took_s,
                put_back_s=put_back_s(record.events),
                connections_up=entry.connections_up,
            )
        )
    return trials


def _renamed_stage(probe: Mapping[str, Any]) -> Mapping[str, Any]:
    """Older searches narrowed their range in two stages."""
    return {"stage": "search"} if probe.get("stage") in ("bracket", "bisect") else {}


def stored_frontier_settings(experiment: ExperimentRecord) -> FrontierSettings:
    """The settings of an SLO frontier. Raises RecordError."""
    search = stored_capacity_settings(experiment.settings.get("search", {}))
    return read_part(FrontierSettings, {"search": search, "limits_ns": experiment.settings.get("limits_ns", ())})


def stored_capacity_settings(stored: Mapping[str, Any]) -> CapacitySettings:
    """The settings of a capacity search as they were stored. Raises RecordError."""
    # `glance_s`: of searches that also made windows too short for a checkpoint.
    settings = {name: value for name, value in stored.items() if name not in (SEED, "glance_s")}
    if "slo" in settings:
        settings["slo"] = _with_limits(settings["slo"])
    if "verify_s" in settings:  # an older search, whose windows had other names
        known = {each.name for each in fields(CapacitySettings)}
        settings |= {"window_s": settings["verify_s"]}
        settings = {name: value for name, value in settings.items() if name in known - {"resolution", "width_max"}}
    return read_part(CapacitySettings, settings)


def stored_slo(stored: Mapping[str, Any]) -> Slo:
    """The objective of an experiment as it was stored. Raises RecordError."""
    return read_part(Slo, _with_limits(stored), "objective")


def _with_limits(slo: Mapping[str, Any]) -> Mapping[str, Any]:
    """That of searches from before there could be several limits has them."""
    if "response_p99_ns" not in slo:
        return slo
    return {
        "latencies": [{"limit_ns": slo["response_p99_ns"]}],
        "errors": [{"share_max": slo["error_rate_max"]}],
        "completed_share_min": slo["completed_share_min"],
    }


def stored_seed(experiment: ExperimentRecord) -> int:
    """The seed of the experiment's own choices."""
    return int(experiment.settings.get(SEED, 1))


def stored_settings(kind: type[_Part], experiment: ExperimentRecord) -> _Part:
    """The settings of an experiment as they were stored. Raises RecordError."""
    return read_part(kind, {name: value for name, value in experiment.settings.items() if name != SEED})


def read_part(kind: type[_Part], values: Mapping[str, Any], what: str = "settings") -> _Part:
    """What was stored of a dataclass, read by the types of its fields. Raises RecordError."""
    known = {each.name for each in fields(cast("Any", kind))}
    unknown = [name for name in values if name not in known]
    problem = f"nothing is known of {', '.join(unknown)}"
    if not unknown:
        try:
            part: _Part = _adapter(cast("Any", kind)).validate_python(dict(values))
            return part
        except ValidationError as error:
            problem = first_in_words(error.errors())
    raise RecordError(f"the experiment's {what} can't be read: {problem}")


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)

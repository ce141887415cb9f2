"""Owns reading a factor sweep back: its settings, runs and loads from the directory."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from brimline.errors import RecordError
from brimline.experiments.vary.factors import Factor
from brimline.experiments.vary.order import VaryLoad, VaryProbe, VarySettings, VaryTrial
from brimline.experiments.vary.runner import LOAD_STAGE, read_vary_load, read_vary_trial
from brimline.record import ExperimentRecord, read_record


def settings_document(settings: VarySettings) -> dict[str, Any]:
    """The settings as they are stored."""
    return asdict(settings)


def stored_vary_settings(experiment: ExperimentRecord) -> VarySettings:
    """The settings as they were stored. Raises RecordError."""
    values = {key: value for key, value in experiment.settings.items() if key not in ("seed", "workloads")}
    try:
        factors = tuple(Factor(name=each["name"], levels=tuple(each["levels"])) for each in values["factors"])
        apart, loads = tuple(values["apart"]), tuple(values["loads"])
        return VarySettings(**{**values, "factors": factors, "apart": apart, "loads": loads})
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the experiment's settings can't be read: {error}") from error


def stored_vary_trials(experiment: ExperimentRecord) -> list[VaryTrial]:
    """The runs, observed anew from their records. Raises RecordError."""
    return [
        read_vary_trial(
            _probe(entry.probe),
            read_record(entry.directory),
            server=int(entry.probe.get("server", 1)),
            took_s=entry.took_s,
        )
        for entry in experiment.trials
        if entry.probe.get("stage") != LOAD_STAGE
    ]


def stored_vary_loads(experiment: ExperimentRecord) -> list[VaryLoad]:
    """The loads that went to their end. Raises RecordError."""
    loads = []
    for entry in experiment.trials:
        if entry.probe.get("stage") != LOAD_STAGE:
            continue
        record = read_record(entry.directory)
        if record.complete:
            block, server = int(entry.probe["block"]), int(entry.probe["server"])
            # Records of before it was noted don't say how they were loaded.
            loaded_with = dict(entry.probe.get("loaded_with", {}))
            levels = tuple(entry.probe["levels"])
            loads.append(read_vary_load(record, block=block, levels=levels, server=server, loaded_with=loaded_with))
    return loads


def servers_started(experiment: ExperimentRecord) -> int:
    """How many servers its runs and loads have had so far."""
    return max((int(entry.probe.get("server", 0)) for entry in experiment.trials), default=0)


def _probe(stored: Mapping[str, Any]) -> VaryProbe:
    try:
        return VaryProbe(
            block=int(stored["block"]), levels=tuple(stored["levels"]), attempt=int(stored.get("attempt", 1))
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the experiment's trial can't be read: {error}") from error

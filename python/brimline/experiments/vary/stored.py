"""Owns reading a factor sweep back: its settings, runs and loads from the directory."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brimline.errors import RecordError
from brimline.experiments.measure import Measure
from brimline.experiments.vary.factors import Factor
from brimline.experiments.vary.order import VaryLoad, VaryProbe, VarySettings, VaryTrial
from brimline.experiments.vary.runner import (
    LOAD_STAGE,
    failed_trial,
    read_measured_trial,
    read_vary_load,
    read_vary_trial,
)
from brimline.record import ExperimentRecord, read_record
from brimline.record.experiment import TrialEntry
from brimline.record.files import is_there
from brimline.record.layout import EXPERIMENT_FILE


def settings_document(settings: VarySettings) -> dict[str, Any]:
    """The settings as they are stored."""
    return asdict(settings)


def stored_vary_settings(experiment: ExperimentRecord) -> VarySettings:
    """The settings as they were stored. Raises RecordError."""
    values = {key: value for key, value in experiment.settings.items() if key not in ("seed", "workloads")}
    try:
        factors = tuple(Factor(name=each["name"], levels=tuple(each["levels"])) for each in values["factors"])
        for name in ("apart", "loads"):
            values[name] = tuple(values[name])
        values["listed"] = tuple(tuple(each) for each in values.get("listed", ()))
        return VarySettings(**{**values, "factors": factors})
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the experiment's settings can't be read: {error}") from error


def stored_vary_trials(experiment: ExperimentRecord, measure: Measure | None = None) -> list[VaryTrial]:
    """The runs, or what was made of `measure`, observed anew from their records. Raises RecordError."""
    return [_stored_trial(entry, measure) for entry in experiment.trials if entry.probe.get("stage") != LOAD_STAGE]


def begun(experiment: ExperimentRecord) -> dict[VaryProbe, Path]:
    """The directories of measures that did not end, which are gone on with, by what was asked."""
    return {vary_probe(each.probe): each.directory for each in experiment.trials if _is_unfinished(each)}


def _is_unfinished(entry: TrialEntry) -> bool:
    """A measure that is an experiment of its own, and is not noted as ended."""
    return entry.took_s is None and is_there(entry.directory / EXPERIMENT_FILE)


def _stored_trial(entry: TrialEntry, measure: Measure | None) -> VaryTrial:
    probe, server = vary_probe(entry.probe), int(entry.probe.get("server", 1))
    if measure is None and entry.failed:
        name = entry.directory.name
        return failed_trial(probe, entry.failed, server=server, name=name, took_s=entry.took_s)
    if measure is None:
        return read_vary_trial(probe, read_record(entry.directory), server=server, took_s=entry.took_s)
    if _is_unfinished(entry):
        return VaryTrial(probe=probe, ended_by="interrupt", server=server, name=entry.directory.name)
    return read_measured_trial(
        measure, probe, entry.directory, server=server, problem=entry.failed, took_s=entry.took_s
    )


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


def vary_probe(stored: Mapping[str, Any]) -> VaryProbe:
    """What was asked, as it was stored. Raises RecordError."""
    try:
        return VaryProbe(
            block=int(stored["block"]), levels=tuple(stored["levels"]), attempt=int(stored.get("attempt", 1))
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the experiment's trial can't be read: {error}") from error

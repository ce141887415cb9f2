"""Owns reading a growth experiment back: its settings and trials from the directory."""

from collections.abc import Mapping
from typing import Any

from brimline.errors import RecordError
from brimline.experiments.growth.order import GrowthSettings, GrowthTask, GrowthTrial, IndexSet, Protocol
from brimline.experiments.growth.runner import read_trial
from brimline.record import ExperimentRecord, read_record

GROWTH_KIND = "growth"


def stored_growth_settings(experiment: ExperimentRecord) -> GrowthSettings:
    """The settings as they were stored. Raises RecordError."""
    values = dict(experiment.settings)
    values.pop("seed", None)
    try:
        return GrowthSettings(
            **{
                **values,
                "connections": tuple(values["connections"]),
                "queries": tuple(values["queries"]),
                "indexes": tuple(IndexSet(each) for each in values["indexes"]),
                "protocol": Protocol(values["protocol"]),
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the experiment's settings can't be read: {error}") from error


def stored_growth_trials(experiment: ExperimentRecord) -> list[GrowthTrial]:
    """The trials, observed anew from their records. Raises RecordError."""
    return [
        read_trial(_task(entry.probe), read_record(entry.directory), took_s=entry.took_s) for entry in experiment.trials
    ]


def _task(stored: Mapping[str, Any]) -> GrowthTask:
    try:
        return GrowthTask(
            **{**stored, "indexes": IndexSet(stored["indexes"]), "protocol": Protocol(stored["protocol"])}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the experiment's trial can't be read: {error}") from error

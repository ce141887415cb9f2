"""Owns reading a growth experiment back: its trials from the directory."""

from brimline.experiments.growth.order import GrowthTask, GrowthTrial
from brimline.experiments.growth.runner import read_trial
from brimline.experiments.stored import read_part
from brimline.record import ExperimentRecord, read_record

GROWTH_KIND = "growth"


def stored_growth_trials(experiment: ExperimentRecord) -> list[GrowthTrial]:
    """The trials, observed anew from their records. Raises RecordError."""
    return [
        read_trial(read_part(GrowthTask, entry.probe, "trial"), read_record(entry.directory), took_s=entry.took_s)
        for entry in experiment.trials
    ]

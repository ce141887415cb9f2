"""Owns reading a failover back: its trials from the directory."""

from pathlib import Path

from brimline.analysis.around_fault import fault_figures
from brimline.analysis.ledger import Settled
from brimline.experiments.failover.order import FailoverProbe, FailoverTrial
from brimline.experiments.stored import read_part
from brimline.record import ExperimentRecord, RunRecord, read_record
from brimline.record.fault import read_fault
from brimline.record.ledger import read_ledger


def stored_failover_trials(experiment: ExperimentRecord) -> list[FailoverTrial]:
    """The trials, observed anew from their records. Raises RecordError."""
    return [
        read_trial(read_part(FailoverProbe, entry.probe, "trial"), read_record(entry.directory), took_s=entry.took_s)
        for entry in experiment.trials
    ]


def read_trial(probe: FailoverProbe, record: RunRecord, *, took_s: float | None = None) -> FailoverTrial:
    """What a trial shows, from its record and what is beside it. Raises RecordError."""
    directory: Path = record.directory
    facts = read_fault(directory)
    figures = None if facts is None else fault_figures(record, facts)
    entries = read_ledger(directory)
    settled = None if entries is None or facts is None else Settled(entries=entries, stale=facts.stale)
    problem = _problem(record, figures is not None, "" if facts is None else facts.trouble)
    return FailoverTrial(
        probe=probe,
        ended_by=record.ended_by,
        facts=facts,
        figures=None if problem else figures,
        settled=settled,
        problem=problem,
        took_s=took_s,
    )


def _problem(record: RunRecord, has_figures: bool, trouble: str) -> str:
    if trouble:
        return trouble
    if not record.complete:
        return record.message or record.ended_by
    return "" if has_figures else "nothing befell the servers while the run went on"

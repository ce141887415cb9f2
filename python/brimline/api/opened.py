"""Owns what a stored record shows, by what it is of: a run, an import, an experiment of any kind but a design."""

from dataclasses import replace
from pathlib import Path

from brimline.analysis.objective import Slo
from brimline.api.import_data import open_import
from brimline.api.import_results import open_imported
from brimline.api.kinds import kind_named
from brimline.api.results import Result
from brimline.api.run_result import run_result
from brimline.api.workload import objective
from brimline.errors import BrimlineError, RecordError, UsageError
from brimline.record import ExperimentRecord, RunRecord, read_experiment, read_record
from brimline.record.data_import import is_import
from brimline.record.files import is_there
from brimline.record.imported_files import is_imported
from brimline.record.layout import EXPERIMENT_FILE, RECORD_FILE, RUNNING, SPEC_FILE
from brimline.record.reader import read_state
from brimline.record.scan import SCAN_TRIAL_KIND
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds
from brimline.report.view import UNDER_WAY
from brimline.spec import load_spec


def opened(directory: Path, *, apdex: ApdexThresholds = JMETER_THRESHOLDS) -> Result:
    """What a record shows that is no design's. Raises UsageError and RecordError."""
    if is_there(directory / EXPERIMENT_FILE):
        experiment = read_experiment(directory)
        kind = kind_named(experiment.kind)
        if kind is None:
            raise RecordError(f"{directory} holds an experiment of an unknown kind: {experiment.kind}")
        return as_it_stands(kind.result(experiment), experiment)
    if is_imported(directory):
        return open_imported(directory)
    if is_import(directory):
        return open_import(directory)
    if read_state(directory, RECORD_FILE).get("kind") == SCAN_TRIAL_KIND:
        raise UsageError(
            f"{directory} is one query of a scan", hint=f"show the scan: brimline show {directory.parent.parent}"
        )
    record = read_record(directory)
    return run_result(record, _objective_of(record), apdex=apdex)


def as_it_stands(result: Result, experiment: ExperimentRecord) -> Result:
    """The result of an experiment; of one that is being conducted the report says first that there is more to come."""
    if experiment.ended_by != RUNNING:
        return result
    verdict = result.report.verdict
    told = replace(verdict, badges=[UNDER_WAY, *verdict.badges])
    return replace(result, report=replace(result.report, verdict=told))


def _objective_of(record: RunRecord) -> Slo | None:
    """The objective in the stored spec; none when the spec can't be read any more.

    Files of rows that it names aren't needed for that, and may be gone.
    """
    try:
        return objective(load_spec(record.directory / SPEC_FILE, with_rows=False).spec)
    except BrimlineError:
        return None

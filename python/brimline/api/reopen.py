"""Owns opening a stored record again: any analysis can be repeated, with today's code, on last year's run."""

from dataclasses import replace
from pathlib import Path

from brimline.analysis.objective import Slo
from brimline.api.import_data import open_import
from brimline.api.import_results import open_imported
from brimline.api.kinds import kind_named
from brimline.api.options import default_runs_directory, path_given
from brimline.api.results import Result
from brimline.api.run_result import run_result
from brimline.api.vary import vary_result
from brimline.api.workload import objective
from brimline.errors import BrimlineError, RecordError, UsageError
from brimline.experiments.vary.order import VARY_KIND
from brimline.record import RunRecord, list_records, read_experiment, read_record
from brimline.record.damage import damage_told
from brimline.record.data_import import is_import
from brimline.record.files import is_there
from brimline.record.imported_files import is_imported
from brimline.record.layout import EXPERIMENT_FILE, RECORD_FILE, RUNNING, SPEC_FILE
from brimline.record.listing import is_record
from brimline.record.reader import read_state
from brimline.record.scan import SCAN_TRIAL_KIND
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds
from brimline.report.view import UNDER_WAY
from brimline.spec import load_spec


def open_result(
    name_or_path: str | Path, *, runs_dir: str | Path | None = None, apdex: ApdexThresholds = JMETER_THRESHOLDS
) -> Result:
    """The result in a directory, analysed anew. A name is looked for in `runs_dir`; `latest` is the last one.

    Without `runs_dir` that is BRIMLINE_RUNS_DIR, else `runs`.

    `apdex` are the thresholds of a run's Apdex table.

    Raises UsageError and RecordError.
    """
    place = path_given("runs_dir", runs_dir) or default_runs_directory()
    directory = find_record(path_given("name_or_path", name_or_path) or "", runs_dir=place)
    with damage_told(directory):
        return _open(directory, apdex)


def _open(directory: Path, apdex: ApdexThresholds) -> Result:
    if is_there(directory / EXPERIMENT_FILE):
        return _open_experiment(directory)
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


def find_record(name_or_path: str | Path, *, runs_dir: Path) -> Path:
    """The directory of a record. Raises UsageError when there is none, or more than one that fits."""
    if str(name_or_path) == "latest":
        entries = list_records(runs_dir)
        if not entries:
            raise UsageError(f"there is no run in {runs_dir}", hint="run something first, or give --runs-dir")
        return entries[-1].directory
    given = Path(name_or_path)
    for directory in (given, runs_dir / given):
        if is_record(directory):
            return directory
    matches = [entry.directory for entry in list_records(runs_dir) if str(given) in entry.directory.name]
    if len(matches) == 1:
        return matches[0]
    problem = "more than one run is" if matches else "no run is"
    raise UsageError(
        f'{problem} called "{given}" in {runs_dir}',
        hint="brimline list shows what there is; latest is the last one",
    )


def _open_experiment(directory: Path) -> Result:
    experiment = read_experiment(directory)
    kind = kind_named(experiment.kind)
    if kind is None and experiment.kind != VARY_KIND:
        raise RecordError(f"{directory} holds an experiment of an unknown kind: {experiment.kind}")
    result: Result = vary_result(experiment) if kind is None else kind.result(experiment)
    return _still_under_way(result) if experiment.ended_by == RUNNING else result


def _still_under_way(result: Result) -> Result:
    """The result of an experiment that is being conducted: its report says first that there is more to come."""
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

"""Owns opening a stored record again: any analysis can be repeated, with today's code, on last year's run."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from brimline.analysis.objective import Slo
from brimline.api.ab import ab_result
from brimline.api.capacity import capacity_result, frontier_result
from brimline.api.conducting import Conducted, Settings
from brimline.api.grow import growth_result
from brimline.api.import_data import open_import
from brimline.api.import_results import open_imported
from brimline.api.interfere import interference_result
from brimline.api.options import default_runs_directory, path_given
from brimline.api.results import Result
from brimline.api.run_result import run_result
from brimline.api.scan import scan_result
from brimline.api.sweep import sweep_result
from brimline.api.vary import vary_result
from brimline.api.workload import objective
from brimline.errors import BrimlineError, RecordError, UsageError
from brimline.experiments.growth.order import GrowthSettings
from brimline.experiments.growth.stored import GROWTH_KIND, stored_growth_trials
from brimline.experiments.paired.ab import AB_KIND
from brimline.experiments.paired.interference import INTERFERENCE_KIND
from brimline.experiments.scan.order import SCAN_KIND
from brimline.experiments.settings import SweepSettings
from brimline.experiments.stored import (
    stored_capacity_settings,
    stored_frontier_settings,
    stored_seed,
    stored_settings,
    stored_trials,
)
from brimline.experiments.vary.order import VARY_KIND
from brimline.record import ExperimentRecord, RunRecord, list_records, read_experiment, read_record
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
    opened = _BY_KIND.get(experiment.kind)
    if opened is None:
        raise RecordError(f"{directory} holds an experiment of an unknown kind: {experiment.kind}")
    result = opened(experiment)
    return _still_under_way(result) if experiment.ended_by == RUNNING else result


def _still_under_way(result: Result) -> Result:
    """The result of an experiment that is being conducted: its report says first that there is more to come."""
    verdict = result.report.verdict
    told = replace(verdict, badges=[UNDER_WAY, *verdict.badges])
    return replace(result, report=replace(result.report, verdict=told))


def _capacity(experiment: ExperimentRecord) -> Result:
    settings = stored_capacity_settings(experiment.settings)
    return capacity_result(_conducted(experiment, settings, settings.slo))


def _frontier(experiment: ExperimentRecord) -> Result:
    settings = stored_frontier_settings(experiment)
    return frontier_result(_conducted(experiment, settings, settings.search.slo))


def _sweep(experiment: ExperimentRecord) -> Result:
    return sweep_result(_conducted(experiment, stored_settings(SweepSettings, experiment)))


def _growth(experiment: ExperimentRecord) -> Result:
    return growth_result(experiment, stored_growth_trials(experiment), stored_settings(GrowthSettings, experiment))


def _conducted(experiment: ExperimentRecord, settings: Settings, slo: Slo | None = None) -> Conducted[Settings]:
    return Conducted(
        experiment=experiment,
        settings=settings,
        trials=stored_trials(experiment, slo=slo),
        seed=stored_seed(experiment),
    )


_BY_KIND: Mapping[str, Callable[[ExperimentRecord], Result]] = {
    AB_KIND: ab_result,
    "capacity": _capacity,
    "frontier": _frontier,
    GROWTH_KIND: _growth,
    INTERFERENCE_KIND: interference_result,
    SCAN_KIND: scan_result,
    "sweep": _sweep,
    VARY_KIND: vary_result,
}


def _objective_of(record: RunRecord) -> Slo | None:
    """The objective in the stored spec; none when the spec can't be read any more.

    Files of rows that it names aren't needed for that, and may be gone.
    """
    try:
        return objective(load_spec(record.directory / SPEC_FILE, with_rows=False).spec)
    except BrimlineError:
        return None

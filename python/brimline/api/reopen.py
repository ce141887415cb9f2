"""Owns opening a stored record again: any analysis can be repeated, with today's code, on last year's run."""

from pathlib import Path

from brimline.api.opened import as_it_stands, opened
from brimline.api.options import default_runs_directory, typed
from brimline.api.results import Result
from brimline.api.vary import vary_result
from brimline.errors import UsageError
from brimline.experiments.vary.order import VARY_KIND
from brimline.record import list_records, read_experiment
from brimline.record.damage import damage_told
from brimline.record.files import is_there
from brimline.record.layout import EXPERIMENT_FILE
from brimline.record.listing import is_record
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds


@typed
def open_result(
    name_or_path: str | Path, *, runs_dir: str | Path | None = None, apdex: ApdexThresholds = JMETER_THRESHOLDS
) -> Result:
    """The result in a directory, analysed anew. A name is looked for in `runs_dir`; `latest` is the last one.

    Without `runs_dir` that is BRIMLINE_RUNS_DIR, else `runs`.

    `apdex` are the thresholds of a run's Apdex table.

    Raises UsageError and RecordError.
    """
    place = default_runs_directory() if runs_dir is None else Path(runs_dir)
    directory = find_record(name_or_path, runs_dir=place)
    with damage_told(directory):
        experiment = read_experiment(directory) if is_there(directory / EXPERIMENT_FILE) else None
        if experiment is not None and experiment.kind == VARY_KIND:
            return as_it_stands(vary_result(experiment), experiment)
        return opened(directory, apdex=apdex)


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

"""Owns the verb `compare`: records that are there, B against A."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.analysis.compared_run import ComparedRun, compared_run
from brimline.analysis.comparison import MARGIN, Comparison, compare_runs
from brimline.analysis.gate import GateCase
from brimline.analysis.gate import gate as gate_cases
from brimline.api.gating import gate_error
from brimline.api.options import default_runs_directory, path_given
from brimline.api.reopen import find_record
from brimline.api.results import Reported
from brimline.errors import BrimlineError, UsageError
from brimline.experiments.paired.ab import AB_KIND
from brimline.experiments.paired.order import ARMS
from brimline.record import list_records, read_experiment, read_record
from brimline.record.damage import damage_told
from brimline.record.imported import KIND as IMPORTED_KIND
from brimline.record.imported_files import is_imported
from brimline.record.layout import EXPERIMENT_FILE
from brimline.record.listing import is_record
from brimline.report import Report
from brimline.report.comparison.view import comparison_report

ARM_MARK = ":"
"""Names one arm of an A/B comparison: `DIRECTORY:A`."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparisonResult(Reported):
    """A comparison of records. `cases` are those of the gate, empty without one."""

    report: Report
    comparison: Comparison
    cases: tuple[GateCase, ...] = ()

    @property
    def error(self) -> BrimlineError | None:
        """The gate's answer where it isn't a pass; None without a gate."""
        return gate_error(self.cases)


def compare(
    a: Sequence[str | Path],
    b: Sequence[str | Path],
    *,
    margin: float = MARGIN,
    gate: Mapping[str, float] | None = None,
    runs_dir: str | Path | None = None,
) -> ComparisonResult:
    """Compares the runs named by `b` with those named by `a`.

    Each name is a run, a directory of runs, or an arm of an A/B comparison (`DIRECTORY:A`). `gate`: by metric key,
    the share by which it may become worse.

    Raises UsageError where there is nothing that can be compared, InvalidRun where no run of a side counts, and
    RecordError.
    """
    where = path_given("runs_dir", runs_dir) or default_runs_directory()
    sides = [[run for name in names for run in named_runs(name, runs_dir=where)] for names in (a, b)]
    _check_apart(*sides)
    comparison = compare_runs(*sides, margin=margin)
    cases = gate_cases(comparison, gate or {})
    return ComparisonResult(report=comparison_report(comparison, cases), comparison=comparison, cases=cases)


def _check_apart(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> None:
    """A run that counts twice would make the spread look smaller than it is. Raises UsageError."""
    places = [run.directory.resolve() for run in (*a, *b)]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice.name} is named more than once", hint="name each run once, on one side")


def named_runs(name: str | Path, *, runs_dir: Path) -> list[ComparedRun]:
    """The runs that a name stands for, at least one. Raises UsageError and RecordError."""
    path = Path(name)
    if path.is_dir() and not is_record(path):
        return _runs_below(path)
    text, _, arm = str(name).rpartition(ARM_MARK)
    is_arm = arm in ARMS and bool(text)
    directory = find_record(text if is_arm else name, runs_dir=runs_dir)
    if is_imported(directory):
        raise _is_of_another_tool(directory)
    if (directory / EXPERIMENT_FILE).exists():
        return _runs_of_arm(directory, arm if is_arm else "")
    return [_run_in(directory)]


def _run_in(directory: Path) -> ComparedRun:
    with damage_told(directory):
        return compared_run(read_record(directory))


def _is_of_another_tool(directory: Path) -> UsageError:
    return UsageError(
        f"{directory} is imported: how it was planned and sent, and what the server counted, isn't known, so that a "
        "difference could be anything",
        hint="compare runs of brimline's own; brimline report --format json has the figures of an import",
    )


def _runs_below(directory: Path) -> list[ComparedRun]:
    """The runs in a directory. The loads that went before them lie there too, and count where there is nothing else."""
    found = list_records(directory)
    entries = [entry for entry in found if entry.kind == "run"]
    imported = next((entry for entry in found if entry.kind == IMPORTED_KIND), None)
    if imported is not None and not entries:
        raise _is_of_another_tool(imported.directory)
    runs = [_run_in(entry.directory) for entry in entries]
    if not runs:
        raise UsageError(f"there is no run in {directory}", hint="name a run, a directory of runs, or EXPERIMENT:A")
    return [run for run in runs if run.kind != "load"] or runs


def _runs_of_arm(directory: Path, arm: str) -> list[ComparedRun]:
    """The runs of one arm of an A/B comparison."""
    experiment = read_experiment(directory)
    if experiment.kind != AB_KIND:
        raise UsageError(
            f"{directory} is a {experiment.kind}: its runs offer different loads",
            hint=f"compare two of its runs, which are below {directory / 'trials'}",
        )
    named = [entry.directory for entry in experiment.trials if entry.probe.get("arm") == arm]
    if not named:
        problem = f"has no run of {arm}" if arm else "has two arms"
        raise UsageError(
            f"{directory} {problem}", hint=f"name one, {directory}:A or {directory}:B, or the directory alone"
        )
    return [_run_in(each) for each in named]

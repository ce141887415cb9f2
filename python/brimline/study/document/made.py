"""Owns an experiment of a study with all that the document takes from it: its report, its records, how it ended."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.api.reopen import open_result
from brimline.api.results import Result
from brimline.errors import BrimlineError, UsageError
from brimline.record.layout import ENVIRONMENT_FILE, SPEC_FILE, TRIALS_DIRECTORY
from brimline.record.reader import read_environment
from brimline.report.showing import showing
from brimline.report.view import Report
from brimline.spec import Spec, load_spec
from brimline.study.spec import ExperimentSpec
from brimline.study.state import Entry, StudyDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One experiment. `report` is None where there is none, and `missing` says why.

    `reasons`: what of its result is not good enough, in words that can be translated, as `missing` can't.
    `shown` is its report with the figures that the study asks for first, `not_there` names those that it has not;
    `environments` are those of its record and of each run below it, `specs` its workloads.
    """

    experiment: ExperimentSpec
    entry: Entry
    record: Path | None
    report: Report | None
    shown: Report | None
    missing: str
    reasons: Sequence[str]
    not_there: Sequence[str]
    environments: Sequence[Mapping[str, Any]]
    specs: Sequence[Spec]
    runs: int


def all_made(directory: StudyDirectory) -> list[Made]:
    """Every experiment of a study, in order. Raises SpecError and RecordError for a damaged study."""
    experiments = {each.name: each for each in directory.study.spec.experiments}
    return [_made(directory, experiments[entry.name], entry) for entry in directory.entries]


def _made(directory: StudyDirectory, experiment: ExperimentSpec, entry: Entry) -> Made:
    record = directory.record(entry.name)
    report = shown = None
    there: Sequence[str] = ()
    reasons: Sequence[str] = ()
    missing = "" if entry.ended is None else entry.ended.error
    if record is not None:
        try:
            result: Result = open_result(record)
            report, reasons = result.report, result.reasons
            there = [name for name in experiment.show if _has(report, name)]
            shown = showing(report, there)
        except BrimlineError as error:
            missing = missing or error.message
    return Made(
        experiment=experiment,
        entry=entry,
        record=record,
        report=report,
        shown=shown,
        missing=missing,
        reasons=reasons if missing else (),
        not_there=[] if report is None else [name for name in experiment.show if name not in there],
        environments=[] if record is None else list(_environments(record)),
        specs=[] if record is None else list(_specs(record)),
        runs=0 if record is None else max(1, len(_trials(record))),
    )


def _has(report: Report, name: str) -> bool:
    try:
        showing(report, [name])
    except UsageError:
        return False
    return any(metric.key == name for grid in report.grids for metric in grid.known)


def _trials(record: Path) -> list[Path]:
    folder = record / TRIALS_DIRECTORY
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _environments(record: Path) -> Iterator[Mapping[str, Any]]:
    for each in (record, *_trials(record)):
        with suppress(BrimlineError):
            if found := read_environment(each / ENVIRONMENT_FILE):
                yield found


def _specs(record: Path) -> Iterator[Spec]:
    for path in (record / SPEC_FILE, *sorted((record / "workloads").glob("*.yaml"))):
        with suppress(BrimlineError):  # an import has none
            yield load_spec(path).spec

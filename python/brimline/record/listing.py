"""Lists the runs and experiments of a runs directory without reading their rows."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brimline.errors import RecordError, on_one_line
from brimline.record.files import DAMAGED_HINT, is_there, read_json
from brimline.record.layout import (
    ANALYSIS_FILE,
    EXPERIMENT_FILE,
    KILLED,
    PLAN_FILE,
    RECORD_FILE,
    RUNNING,
    SPEC_FILE,
    TRIALS_DIRECTORY,
)
from brimline.record.model import drivers_of
from brimline.record.reader import read_state

LOAD = "load"
_TIME_FORMAT = "%Y%m%dt%H%M%Sz"
_OUTCOMES = ("verdict", "conclusion", "sweep_ended_by", "vary_ended_by", "growth_ended_by")
"""Where the stored analysis of the different kinds says what came out."""
_ANALYSIS_BYTES_MAX = 4_000_000
"""A larger analysis isn't read for one word of it: those of runs and searches have some tens of kilobytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEntry:
    """One line of the listing. `problem` is why the record can't be read, "" when it can.

    `outcome` is what the stored analysis says came out, as `pass`, `invalid`, `sustained` or `plateau`; "" where there
    is no analysis, or it has no such word.
    """

    directory: Path
    kind: str  # "run", "capacity", "sweep" …; "" when it can't be read
    name: str
    started_at: datetime | None  # UTC
    ended_by: str
    outcome: str
    message: str
    problem: str


def list_records(runs_dir: Path) -> list[RecordEntry]:
    """Every run and experiment directly in `runs_dir`, oldest first.

    Empty when there is no such directory.
    """
    if not runs_dir.is_dir():
        return []
    entries = [entry for path in runs_dir.iterdir() if (entry := record_entry(path)) is not None]
    return sorted(entries, key=_order)


def is_record(directory: Path) -> bool:
    """Whether a run or an experiment lies in `directory`. Raises RecordError where it can't be entered."""
    return any(is_there(directory / name) for name in (RECORD_FILE, EXPERIMENT_FILE))


def drivers_in(directory: Path) -> Sequence[Mapping[str, Any]]:
    """What drivers in processes of their own said in a run, or in the first run of an experiment; none: it had none."""
    for place in (directory, *sorted((directory / TRIALS_DIRECTORY).glob("*"))):
        if is_there(place / RECORD_FILE):
            return drivers_of(read_state(place, RECORD_FILE).get("summary"))
    return ()


def _order(entry: RecordEntry) -> tuple[datetime, int, str]:
    """When a record was begun: to the second by its name, within a second by its first file, which is never rewritten.

    A copied directory keeps its name and perhaps not the times of its files.
    """
    begun_at = named_time(entry.directory) or entry.started_at or datetime.min.replace(tzinfo=UTC)
    try:
        first_file_ns = (entry.directory / SPEC_FILE).stat().st_mtime_ns
    except OSError:
        first_file_ns = 0
    return begun_at.replace(microsecond=0), first_file_ns, entry.directory.name


def record_entry(directory: Path) -> RecordEntry | None:
    """The record in `directory`, None when there is none."""
    try:
        name = next((name for name in (EXPERIMENT_FILE, RECORD_FILE) if is_there(directory / name)), None)
        if name is None:
            return None
        return _entry_of(directory, read_state(directory, name))
    except RecordError as error:
        return RecordEntry(
            directory=directory,
            kind="",
            name="",
            started_at=_started_at(directory, {}),
            ended_by="",
            outcome="",
            message="",
            problem=error.message,
        )


def readable_entry(directory: Path) -> RecordEntry:
    """The record in `directory`. Raises RecordError where there is none, and where it can't be read."""
    entry = record_entry(directory)
    if entry is None:
        raise RecordError(f"{directory} holds no record", hint="brimline list shows what there is")
    if entry.problem:
        raise RecordError(entry.problem, hint=DAMAGED_HINT)
    return entry


def _entry_of(directory: Path, state: Mapping[str, Any]) -> RecordEntry:
    return RecordEntry(
        directory=directory,
        kind=str(state.get("kind", LOAD if _is_load(directory) else "run")),
        name=str(state.get("name", "")),
        started_at=_started_at(directory, state),
        ended_by=str(state["ended_by"]),
        outcome=_outcome(directory, str(state["ended_by"])),
        message=str(state.get("message", "")),
        problem="",
    )


def _is_load(directory: Path) -> bool:
    """Whether a run filled a collection, by its plan; a plan that can't be read is no reason not to list the record."""
    with suppress(OSError, RecordError, AttributeError):
        return bool(read_json(directory / PLAN_FILE).get("work", {}).get("kind") == LOAD)
    return False


def _outcome(directory: Path, ended_by: str) -> str:
    """What the stored analysis says; "" where it was made before the record ended as it did.

    That of a comparison doesn't say how its record had ended: it is made where one ends, and not where one is killed.
    """
    path = directory / ANALYSIS_FILE
    analysis: Mapping[str, Any] = {}
    with suppress(OSError, RecordError):  # derived, so that a damaged one is no reason not to list the record
        if ended_by != RUNNING and path.stat().st_size <= _ANALYSIS_BYTES_MAX:
            analysis = read_json(path)
    if analysis.get("ended_by", "" if ended_by == KILLED else ended_by) != ended_by:
        return ""
    found = next((analysis[name] for name in _OUTCOMES if name in analysis), None)
    value = found.get("value") if isinstance(found, dict) else found
    return on_one_line(value) if isinstance(value, str) else ""


def _started_at(directory: Path, state: Mapping[str, Any]) -> datetime | None:
    """From the summary where there is one, else from the directory's name."""
    summary = state.get("summary")
    started_unix_ns = summary.get("started_unix_ns") if isinstance(summary, dict) else None
    if isinstance(started_unix_ns, int):
        with suppress(ValueError, OverflowError, OSError):  # a damaged record must not hide the others
            return datetime.fromtimestamp(started_unix_ns / 1e9, UTC)
    return named_time(directory)


def named_time(directory: Path) -> datetime | None:
    """When a record was begun, to the second, as its directory is called; None where it isn't."""
    try:
        return datetime.strptime(directory.name.partition("-")[0], _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None

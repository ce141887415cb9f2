"""The directory of an experiment: its settings and its trials, each trial a run directory of its own.

This package doesn't know what a probe or a conclusion is; both come and go as JSON-like values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from brimline.errors import RecordError, redact_text
from brimline.record.environment import brimline_version
from brimline.record.events import EventLog
from brimline.record.files import make_directory, read_json, replace_json, replace_text
from brimline.record.layout import (
    DIRECTORY_MODE,
    ENVIRONMENT_FILE,
    EVENTS_FILE,
    EXPERIMENT_FILE,
    FORMAT_VERSION,
    RECORD_FILE,
    SPEC_FILE,
    TRIAL_FILE,
    TRIALS_DIRECTORY,
    slug,
    unreadable,
    unwritable,
)
from brimline.record.model import Environment
from brimline.record.reader import read_environment, read_state
from brimline.record.redaction import redact

_COOL_DOWN = "cool_down"
"""The key beside the probe's own in `trial.json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEntry:
    """One trial of an experiment: what was asked for, the run directory that answered, and the pause before it."""

    directory: Path
    probe: Mapping[str, Any]
    cool_down: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRecord:
    """One experiment as it lies on disk. `ended_by` is that of a run, or `killed`."""

    directory: Path
    kind: str
    name: str
    settings: Mapping[str, Any]
    spec_text: str
    environment: Environment
    ended_by: str
    message: str
    brimline_version: str
    trials: Sequence[TrialEntry]


class ExperimentWriter:
    """Writes one experiment's directory.

    Each trial's run writes itself into the directory that `begin_trial` gives.

    Raises RecordError when the disk is full or can't be written. Without a `seal` the experiment reads as
    `killed`, and its trials are still there.
    """

    def __init__(
        self,
        directory: Path,
        *,
        kind: str,
        name: str,
        settings: Mapping[str, Any],
        spec_text: str,
        environment: Environment,
    ) -> None:
        self.directory = directory
        self._fixed = {
            "format_version": FORMAT_VERSION,
            "brimline_version": brimline_version(),
            "kind": kind,
            "name": name,
            "settings": redact(settings),
            "spec": SPEC_FILE,
        }
        self._trial_count = 0
        make_directory(directory / TRIALS_DIRECTORY)
        if (directory / EXPERIMENT_FILE).exists():
            raise RecordError(f"{directory} already holds an experiment", hint="choose a new directory")
        replace_text(directory / SPEC_FILE, redact_text(spec_text))
        replace_json(directory / ENVIRONMENT_FILE, redact(environment))
        self._events = EventLog(directory / EVENTS_FILE)
        replace_json(directory / EXPERIMENT_FILE, {**self._fixed, "ended_by": None, "message": ""})

    def begin_trial(
        self, probe: Mapping[str, Any], *, stage: str, label: str, cool_down: Mapping[str, Any] | None = None
    ) -> Path:
        """Makes the next trial's directory, `trials/<nn>-<stage>-<label>`, and stores the probe in it.

        `cool_down` is the pause before it, if there was one.
        """
        self._trial_count += 1
        directory = self.directory / TRIALS_DIRECTORY / f"{self._trial_count:02}-{slug(stage)}-{slug(label)}"
        try:
            directory.mkdir(mode=DIRECTORY_MODE)
        except OSError as error:
            raise unwritable(directory, error) from error
        pause = {} if cool_down is None else {_COOL_DOWN: cool_down}
        replace_json(directory / TRIAL_FILE, redact({**probe, **pause}))
        return directory

    def event(self, kind: str, **fields: Any) -> None:
        """Adds something that happened, with the wall clock's time."""
        self._events.append(kind, **fields)

    def seal(self, *, ended_by: str, message: str = "") -> None:
        """Makes the experiment final."""
        self._events.sync()
        replace_json(
            self.directory / EXPERIMENT_FILE,
            {**self._fixed, "ended_by": ended_by, "message": redact_text(message)},
        )

    def close(self) -> None:
        """Closes the files; idempotent."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def read_experiment(directory: Path) -> ExperimentRecord:
    """The experiment in `directory`; trials that never began to run are left out. Raises RecordError."""
    state = read_state(directory, EXPERIMENT_FILE)
    ended_by = state.get("ended_by")
    return ExperimentRecord(
        directory=directory,
        kind=str(state.get("kind", "")),
        name=str(state.get("name", "")),
        settings=state.get("settings", {}),
        spec_text=_read_text(directory / SPEC_FILE),
        environment=read_environment(directory / ENVIRONMENT_FILE),
        ended_by=ended_by or "killed",
        message=str(state.get("message", "")),
        brimline_version=str(state.get("brimline_version", "unknown")),
        trials=[_read_trial(path) for path in _trial_directories(directory)],
    )


def _trial_directories(directory: Path) -> list[Path]:
    """In the order they ran: by number, so that the hundredth trial comes after the 99th."""
    paths = [path.parent for path in (directory / TRIALS_DIRECTORY).glob(f"*/{RECORD_FILE}")]
    return sorted(paths, key=lambda path: (int(path.name.partition("-")[0]), path.name))


def _read_trial(directory: Path) -> TrialEntry:
    stored = read_json(directory / TRIAL_FILE)
    probe = {name: value for name, value in stored.items() if name != _COOL_DOWN}
    return TrialEntry(directory=directory, probe=probe, cool_down=stored.get(_COOL_DOWN))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error

"""The directory of an experiment: its settings and its trials, each a whole record of its own: a run, an experiment.

This package doesn't know what a probe or a conclusion is; both come and go as JSON-like values.
"""

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from brimline.errors import RecordError, redact_text
from brimline.record.closing import Closing
from brimline.record.damage import damage_told
from brimline.record.directory_lock import lock_directory
from brimline.record.environment import brimline_version
from brimline.record.events import EventLog
from brimline.record.files import make_directory, read_json, replace_json, replace_text, require_file
from brimline.record.layout import (
    DIRECTORY_MODE,
    DROPPED_DIRECTORY,
    ENVIRONMENT_FILE,
    EVENTS_FILE,
    EXPERIMENT_FILE,
    FORMAT_VERSION,
    RECORD_FILE,
    SPEC_FILE,
    TRIAL_FILE,
    TRIALS_DIRECTORY,
    short_repr,
    slug,
    unreadable,
    unwritable,
)
from brimline.record.model import Environment
from brimline.record.reader import read_environment, read_state
from brimline.record.redaction import redact

_COOL_DOWN = "cool_down"
_TOOK = "took_s"
_NEEDS = "needs"
_COUNTS_IN_PART = "counts_in_part"
_FAILED = "failed"
_CONNECTIONS_UP = "connections_up"
"""The keys beside the probe's own in `trial.json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEntry:
    """One trial: what was asked for, the record that answered, and how long it took.

    `cool_down` is the pause before it, `took_s` is None where it did not end. `failed`: why it has no figure, if so.
    `connections_up`: of its connections, where it could not have all.
    """

    directory: Path
    probe: Mapping[str, Any]
    cool_down: Mapping[str, Any] | None = None
    took_s: float | None = None
    failed: str = ""
    connections_up: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExperimentRecord:
    """One experiment as it lies on disk. `ended_by` is that of a run, also `running` and `killed`."""

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
    plan_hash: str = ""

    def __repr__(self) -> str:
        """Three lines: the samples of a run are more than anybody reads."""
        return short_repr(self, self.name, self.ended_by, self.directory)


def experiment_state(kind: str, name: str, settings: Mapping[str, Any], plan_hash: str) -> dict[str, Any]:
    """What `experiment.json` holds while the experiment runs."""
    return {
        "format_version": FORMAT_VERSION,
        "brimline_version": brimline_version(),
        "kind": kind,
        "name": name,
        "settings": redact(settings),
        "spec": SPEC_FILE,
        "plan_hash": plan_hash,
        "ended_by": None,
        "message": "",
    }


class ExperimentWriter(Closing):
    """Writes one experiment's directory.

    Each trial's run writes itself into the directory that `begin_trial` gives.

    Raises RecordError when the disk is full or can't be written. Until a `seal` the experiment reads as
    `running`; without one it reads as `killed` afterwards, and its trials are still there.
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
        plan_hash: str = "",
    ) -> None:
        fixed = experiment_state(kind, name, settings, plan_hash)
        make_directory(directory / TRIALS_DIRECTORY)
        if (directory / EXPERIMENT_FILE).exists():
            raise RecordError(f"{directory} already holds an experiment", hint="choose a new directory")
        replace_text(directory / SPEC_FILE, redact_text(spec_text))
        replace_json(directory / ENVIRONMENT_FILE, redact(environment))
        self._begin(directory, fixed)

    @classmethod
    def reopen(cls, directory: Path, *, settings: Mapping[str, Any], settled_by: Container[str] = ()) -> Self:
        """Goes on with the experiment in `directory`, whatever ended it. Raises RecordError.

        Trials that did not end are moved to `dropped/`: half a trial says nothing, and its place is needed. One that is
        itself an experiment stays, because it can be gone on with. Those that failed go there too, and are made anew;
        but one that lacked connections stays where a trial of a stage in `settled_by` followed from that.
        """
        fixed = dict(read_state(directory, EXPERIMENT_FILE))
        writer = cls.__new__(cls)
        writer._begin(directory, {**fixed, "settings": redact(settings)}, goes_on=True)
        try:
            writer._trial_count = max((_number(path) for path in writer._drop_unfinished(settled_by)), default=0)
        except OSError as error:
            writer.close()
            raise unwritable(directory, error) from error
        writer.event("resumed")
        return writer

    def _begin(self, directory: Path, fixed: Mapping[str, Any], *, goes_on: bool = False) -> None:
        self.directory = directory
        self._lock = lock_directory(directory)
        self._fixed = fixed
        self._trial_count = 0
        self._events = EventLog(directory / EVENTS_FILE, goes_on=goes_on)
        replace_json(directory / EXPERIMENT_FILE, {**self._fixed, "ended_by": None, "message": ""})

    def _drop_unfinished(self, settled_by: Container[str]) -> list[Path]:
        """Moves trials away that failed, or did not end and can't be gone on with; returns the others."""
        kept = []
        told = {path: _of_trial(path) for path in _numbered(self.directory)}
        settling = (_number(path) for path, each in told.items() if each.get("stage") in settled_by and _ended(path))
        last = max(settling, default=0)
        for path, each in told.items():
            settled = _CONNECTIONS_UP in each and _number(path) < last
            if settled or (_FAILED not in each and (_holds_experiment(path) or _ended(path))):
                kept.append(path)
                continue
            make_directory(self.directory / DROPPED_DIRECTORY)
            attempt = sum(1 for _ in (self.directory / DROPPED_DIRECTORY).iterdir()) + 1
            path.rename(self.directory / DROPPED_DIRECTORY / f"{attempt:02}-{path.name}")
            self.event("dropped", directory=path.name)
        return kept

    def begin_trial(
        self,
        probe: Mapping[str, Any],
        *,
        stage: str,
        label: str,
        cool_down: Mapping[str, Any] | None = None,
        needs: str = "",
        counts_in_part: bool = False,
    ) -> Path:
        """Makes the next trial's directory, `trials/<nn>-<stage>-<label>`, and stores the probe in it.

        `cool_down` is the pause before it, if there was one. `needs`: a file that is written beside the record when the
        run is over, and without which the trial did not end. `counts_in_part`: what was measured of it counts, however
        it ended, also when the experiment is gone on with.
        """
        self._trial_count += 1
        directory = self.directory / TRIALS_DIRECTORY / f"{self._trial_count:02}-{slug(stage)}-{slug(label)}"
        try:
            directory.mkdir(mode=DIRECTORY_MODE)
        except OSError as error:
            raise unwritable(directory, error) from error
        beside: dict[str, Any] = {_COUNTS_IN_PART: True} if counts_in_part else {}
        beside |= ({} if cool_down is None else {_COOL_DOWN: cool_down}) | ({_NEEDS: needs} if needs else {})
        replace_json(directory / TRIAL_FILE, redact({**probe, **beside}))
        return directory

    def end_trial(self, directory: Path, *, took_s: float | None, failed: str = "") -> None:
        """Notes beside the probe how long the trial took by the wall clock, all effects included, and why it failed."""
        why = {_FAILED: redact_text(failed)} if failed else {}
        self._note(directory, {_TOOK: took_s, **why})

    def note_connections(self, directory: Path, up: int) -> None:
        """Notes beside the probe how many of its connections it could have."""
        self._note(directory, {_CONNECTIONS_UP: up})

    def _note(self, directory: Path, beside: Mapping[str, Any]) -> None:
        replace_json(directory / TRIAL_FILE, {**read_json(directory / TRIAL_FILE), **beside})

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
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def read_experiment(directory: Path) -> ExperimentRecord:
    """The experiment in `directory`; trials that never began to run are left out. Raises RecordError."""
    with damage_told(directory):
        return _read_experiment(directory)


def _read_experiment(directory: Path) -> ExperimentRecord:
    state = read_state(directory, EXPERIMENT_FILE)
    return ExperimentRecord(
        directory=directory,
        kind=str(state.get("kind", "")),
        name=str(state.get("name", "")),
        settings=dict(state.get("settings", {})),
        spec_text=_read_text(directory / SPEC_FILE),
        environment=read_environment(directory / ENVIRONMENT_FILE),
        ended_by=state["ended_by"],
        message=str(state.get("message", "")),
        brimline_version=str(state.get("brimline_version", "unknown")),
        trials=[_read_trial(path) for path in _trial_directories(directory)],
        plan_hash=str(state.get("plan_hash", "")),
    )


def _ended(directory: Path) -> bool:
    """Whether the run of a trial went to its end."""
    if not (directory / TRIAL_FILE).exists():
        return False
    trial = read_json(directory / TRIAL_FILE)
    if trial.get(_COUNTS_IN_PART):
        return (directory / RECORD_FILE).exists()
    if (needs := trial.get(_NEEDS)) and not (directory / needs).exists():
        return False
    return (directory / RECORD_FILE).exists() and read_state(directory, RECORD_FILE).get("ended_by") == "completed"


def _has_failed(directory: Path) -> bool:
    return _FAILED in _of_trial(directory)


def _of_trial(directory: Path) -> Mapping[str, Any]:
    """What was asked, and what is noted beside it; nothing of one that was killed before."""
    return read_json(directory / TRIAL_FILE) if (directory / TRIAL_FILE).exists() else {}


def _holds_experiment(directory: Path) -> bool:
    return (directory / EXPERIMENT_FILE).exists() and (directory / TRIAL_FILE).exists()


def _number(directory: Path) -> int:
    return int(directory.name.partition("-")[0])


def _numbered(directory: Path) -> list[Path]:
    """The directories of an experiment's trials, by number, so that the hundredth comes after the 99th.

    Others put files of theirs beside them: notes, and macOS `.DS_Store`.
    """
    every = (directory / TRIALS_DIRECTORY).glob("*-*")
    paths = [path for path in every if path.name.partition("-")[0].isdecimal() and path.is_dir()]
    return sorted(paths, key=lambda path: (_number(path), path.name))


def _trial_directories(directory: Path) -> list[Path]:
    """In the order they ran, those that have something to tell."""
    every = _numbered(directory)
    return [path for path in every if (path / RECORD_FILE).exists() or _holds_experiment(path) or _has_failed(path)]


def _read_trial(directory: Path) -> TrialEntry:
    probe = dict(read_json(directory / TRIAL_FILE))
    took_s, cool_down, failed = probe.pop(_TOOK, None), probe.pop(_COOL_DOWN, None), probe.pop(_FAILED, "")
    probe.pop(_NEEDS, None)
    probe.pop(_COUNTS_IN_PART, None)
    up = probe.pop(_CONNECTIONS_UP, None)
    return TrialEntry(
        directory=directory, probe=probe, cool_down=cool_down, took_s=took_s, failed=failed, connections_up=up
    )


def _read_text(path: Path) -> str:
    require_file(path)
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error

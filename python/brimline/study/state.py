"""Owns the directory of a study: what was asked, which experiments ended and how, and where their records are.

runs/<UTC time>-study-<name>/
  study.yaml         the study as written; a password in it is masked
  study.json         the scale, and of each experiment what it said to its verb and how that ended
  files/             files of rows; removed once the study has ended
  experiments/<name>/<record>/
  document.html  document.md  document.docx  document.pdf  figures/    written again from the records at any time
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from typing import Any

from brimline.errors import ExitCode, RecordError, UsageError, redact_text
from brimline.record.directory_lock import lock_directory
from brimline.record.environment import brimline_version
from brimline.record.files import is_there, make_directory, read_json, replace_json, replace_text
from brimline.record.listing import list_records
from brimline.study.costs import StudyPlan
from brimline.study.needs import Lacking
from brimline.study.scale import Scale
from brimline.study.secrets import storable
from brimline.study.spec import LoadedStudy, read_study

FORMAT_VERSION = 1
STATE_FILE, STUDY_FILE = "study.json", "study.yaml"
EXPERIMENTS, FILES, DROPPED = "experiments", "files", "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an experiment ended. `error`: why its result is not what was asked for; "" when it is."""

    took_s: float
    exit_code: int
    error: str

    @property
    def is_final(self) -> bool:
        """Whether going on with the study leaves it: not where a record, the machine or a server was at fault."""
        return self.exit_code not in (ExitCode.DEFECT, ExitCode.TARGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One experiment of a study: `words` as they were said, `lacks` why it is left out, `left_out` levels."""

    name: str
    words: tuple[str, ...]
    lacks: Lacking | None
    left_out: tuple[Lacking, ...]
    ended: Ended | None


class StudyDirectory:
    """A study as it lies on the disk. Everything raises RecordError where it can't be read or written."""

    def __init__(self, path: Path, state: dict[str, Any]) -> None:
        self.path, self._state = path, state

    @classmethod
    def begin(cls, runs_dir: Path, study: LoadedStudy, plan: StudyPlan) -> "StudyDirectory":
        """A new one below `runs_dir`."""
        now = datetime.now(UTC)
        path = runs_dir / f"{now:%Y%m%dt%H%M%Sz}-study-{study.spec.name}"
        make_directory(path)
        made = cls(
            path,
            {
                "format_version": FORMAT_VERSION,
                "brimline_version": brimline_version(),
                "name": study.spec.name,
                "started_at": now.isoformat(timespec="seconds"),
                "directory": str(study.directory.absolute()),
                "scale": {"fraction": plan.scale.fraction, "is_ci": plan.scale.is_ci},
                "estimate": {"seconds": round(plan.seconds), "disk_bytes": plan.disk_bytes},
                "files": [],
                "experiments": {
                    each.experiment.name: {
                        "words": storable(each.command.words),
                        "lacks": _told(each.lacks),
                        "left_out": [_told(level) for level in each.command.left_out],
                        "ended": None,
                    }
                    for each in plan.experiments
                },
            },
        )
        replace_text(path / STUDY_FILE, redact_text(study.text))
        made._save()
        return made

    @classmethod
    def open(cls, path: Path) -> "StudyDirectory":
        """One that is there. Raises UsageError where there is none."""
        if not is_there(path / STATE_FILE):
            raise UsageError(f"{path} holds no study", hint="give the directory of one: runs/…-study-…")
        state = read_json(path / STATE_FILE)
        if not isinstance(state.get("experiments"), dict):
            raise RecordError(f"{path / STATE_FILE} is damaged", hint="begin the study anew")
        return cls(path, state)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else goes on with it in the `with` block, which begins with what is there. Raises RecordError."""
        lock = lock_directory(self.path)
        try:
            self._state = read_json(self.path / STATE_FILE)  # another may have gone on with it since it was opened
            yield
        finally:
            os.close(lock)

    @property
    def study(self) -> LoadedStudy:
        """The study as it was begun. Raises SpecError."""
        text = (self.path / STUDY_FILE).read_text(encoding="utf-8")
        return read_study(text, STUDY_FILE, directory=Path(self._state["directory"]))

    @property
    def scale(self) -> Scale:
        """At which it is made."""
        return Scale(self._state["scale"]["fraction"], is_ci=self._state["scale"]["is_ci"])

    @property
    def started_at(self) -> str:
        """ISO 8601, UTC."""
        return str(self._state["started_at"])

    @property
    def version(self) -> str:
        """Of brimline."""
        return str(self._state["brimline_version"])

    @property
    def entries(self) -> Sequence[Entry]:
        """Its experiments in order."""
        return [_entry(name, each) for name, each in self._state["experiments"].items()]

    def file(self, name: str, ending: str) -> Path:
        """Where a file of rows is, or will be."""
        return self.path / FILES / f"{name}.{ending}"

    def folder(self, server: str) -> Path:
        """Where workloads and ids of an order service are."""
        place = self.path / FILES / server
        rmtree(place, ignore_errors=True)
        place.parent.mkdir(exist_ok=True, mode=0o700)
        make_directory(place)
        return place

    def has_file(self, name: str) -> bool:
        """Whether a file of rows is whole."""
        return name in self._state["files"]

    def note_file(self, name: str) -> None:
        """A file of rows is whole."""
        self._state["files"].append(name)
        self._save()

    def drop_files(self) -> None:
        """Files of rows go, once nobody needs them."""
        rmtree(self.path / FILES, ignore_errors=True)
        self._state["files"] = []
        self._save()

    def records(self, name: str) -> Path:
        """Where the records of an experiment go."""
        place = self.path / EXPERIMENTS / name
        if not place.is_dir():
            make_directory(place)
        return place

    def record(self, name: str) -> Path | None:
        """The record of an experiment; None where there is none. What was loaded for it beside it is not it."""
        found = list_records(self.path / EXPERIMENTS / name)
        main = [each.directory for each in found if each.kind != "load"] or [each.directory for each in found]
        return main[-1] if main else None

    def put_aside(self, record: Path) -> None:
        """A record that can't be gone on with is kept, and counts no more."""
        place = self.path / DROPPED
        if not place.is_dir():
            make_directory(place)
        record.rename(place / record.name)

    def note_end(self, name: str, ended: Ended) -> None:
        """An experiment has ended."""
        self._state["experiments"][name]["ended"] = {
            "took_s": round(ended.took_s, 1),
            "exit_code": ended.exit_code,
            "error": ended.error,
        }
        self._save()

    def _save(self) -> None:
        replace_json(self.path / STATE_FILE, self._state)


def _told(lacking: Lacking | None) -> dict[str, str] | None:
    return None if lacking is None else {"name": lacking.name, "why": lacking.why, "how": lacking.how}


def _entry(name: str, state: Mapping[str, Any]) -> Entry:
    ended = state["ended"]
    return Entry(
        name=name,
        words=tuple(state["words"]),
        lacks=None if state["lacks"] is None else Lacking(**state["lacks"]),
        left_out=tuple(Lacking(**each) for each in state["left_out"]),
        ended=None if ended is None else Ended(**ended),
    )

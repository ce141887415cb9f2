"""Owns the processes that the page started: the command line, as a person would call it, and how each ends."""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from brimline.errors import UsageError, redact_text, redact_uri
from brimline.ui.forms import Filled, VerbForm
from brimline.wording import LANGUAGE_VARIABLE

_TAIL_BYTES: Final = 8_000
_STOP_WAIT_S: Final = 2.0
"""How long an answer waits for the end of what is stopped; what takes longer ends afterwards."""
_CLOSE_WAIT_S: Final = 60.0
"""How long the end of the page waits for the records of what it started."""
_TERMINATE_WAIT_S: Final = 10.0
"""How long what was told to end at once has for that."""
_ADDRESS_VARIABLE, _PASSWORD_VARIABLE = "BRIMLINE_URI", "BRIMLINE_PASSWORD"


@dataclass(slots=True, kw_only=True)
class Job:
    """A process that was started. `words` are what a person would type; secrets are in the environment alone."""

    number: int
    words: tuple[str, ...]
    address: str | None
    process: subprocess.Popen[bytes]
    directory: Path
    runs_dir: Path
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_stopping: bool = False

    @property
    def exit_code(self) -> int | None:
        """None while it is at work."""
        return self.process.poll()

    @property
    def talk(self) -> str:
        """The last that it said, without secrets."""
        return redact_text(_tail(self.directory / "stderr").strip())

    @property
    def document(self) -> Mapping[str, Any]:
        """What it printed at its end; empty before, and where that is no JSON."""
        if self.exit_code is None:
            return {}
        with suppress(OSError, ValueError):
            read = json.loads((self.directory / "stdout").read_text(encoding="utf-8"))
            return read if isinstance(read, dict) else {}
        return {}

    def record(self) -> Path | None:
        """The record that it writes or wrote; None where there is none, or none yet."""
        if self.exit_code is not None:
            named = self.document.get("record", self.document.get("directory"))  # of a study, which has many
            return self._in_directory(Path(named)) if isinstance(named, str) else None
        opened = Path(f"/proc/{self.process.pid}/fd")
        with suppress(OSError):
            for each in sorted(opened.iterdir(), key=lambda link: int(link.name)):
                with suppress(OSError):
                    if (found := self._in_directory(each.readlink())) is not None:
                        return found
        return None

    def _in_directory(self, path: Path) -> Path | None:
        """A record directly in the directory of records: what is below it is a part of one."""
        runs_dir = self.runs_dir.resolve()
        resolved = path if path.is_absolute() else Path.cwd() / path
        inside = resolved.is_relative_to(runs_dir) and resolved != runs_dir
        return self.runs_dir / resolved.relative_to(runs_dir).parts[0] if inside else None


@dataclass
class Jobs:
    """What was started since the page is served, one at a time: two would be measured by each other."""

    runs_dir: Path
    _jobs: dict[int, Job] = field(default_factory=dict)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _lock: Lock = field(default_factory=Lock)
    _scratch: tempfile.TemporaryDirectory[str] | None = None

    def all(self) -> list[Job]:
        """Newest first."""
        return [self._jobs[number] for number in sorted(self._jobs, reverse=True)]

    def find(self, number: str) -> Job:
        """One of them. Raises UsageError where there is none."""
        job = self._jobs.get(int(number)) if number.isdecimal() and len(number) < 9 else None
        if job is None:
            raise UsageError("nothing of this number was started here", hint="go back to the list")
        return job

    def start(self, form: VerbForm, said: Filled, *, language: str) -> Job:
        """Starts a verb. Raises UsageError while something that was started here is at work."""
        with self._lock:
            busy = next((job for job in self._jobs.values() if job.exit_code is None), None)
            if busy is not None:
                raise UsageError(
                    f"{' '.join(busy.words)} is still at work, and two would be measured by each other",
                    hint="stop it, or wait for its end",
                )
            number = next(self._numbers)
            directory = self._directory(number)
            arguments = [
                str(self._written(directory, place, said.documents[place])) if place in said.documents else word
                for place, word in enumerate(said.arguments)
            ]
            words = [*form.words, *form.always, *said.options, f"--runs-dir={self.runs_dir}", "--", *arguments]
            self._jobs[number] = Job(
                number=number,
                words=tuple(_shown(form, said)),
                address=None if said.address is None else redact_uri(said.address),
                process=_started(words, directory, _environment(said, language)),
                directory=directory,
                runs_dir=self.runs_dir,
            )
            return self._jobs[number]

    def stop(self, job: Job) -> None:
        """Interrupts it, as Ctrl-C does, and waits a little: it writes its record first."""
        if job.exit_code is None:
            job.is_stopping = True
            job.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                job.process.wait(timeout=_STOP_WAIT_S)

    def close(self) -> None:
        """Ends all that is at work, as Ctrl-C does, and waits for their records."""
        working = [job for job in self._jobs.values() if job.exit_code is None]
        for job in working:
            job.process.send_signal(signal.SIGINT)
        for job in working:
            try:
                job.process.wait(timeout=_CLOSE_WAIT_S)
            except subprocess.TimeoutExpired:
                job.process.terminate()
                try:
                    job.process.wait(timeout=_TERMINATE_WAIT_S)
                except subprocess.TimeoutExpired:
                    job.process.kill()
                    job.process.wait()
        if self._scratch is not None:
            self._scratch.cleanup()

    def _directory(self, number: int) -> Path:
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="brimline-ui-")
        directory = Path(self._scratch.name) / str(number)
        directory.mkdir(mode=0o700)
        return directory

    def _written(self, directory: Path, place: int, text: str) -> Path:
        """A document of one's own as a file, called as records are to be."""
        path = directory / ("workload.yaml" if place == 0 else f"workload-{place + 1}.yaml")
        path.write_text(f"{text}\n", encoding="utf-8")
        return path


def _shown(form: VerbForm, said: Filled) -> Sequence[str]:
    arguments = ["(own text)" if place in said.documents else word for place, word in enumerate(said.arguments)]
    return ["brimline", *form.words, *arguments, *said.options]


def _environment(said: Filled, language: str) -> dict[str, str]:
    """The page's own, and what isn't to be seen in a list of processes."""
    secrets = {_ADDRESS_VARIABLE: said.address, _PASSWORD_VARIABLE: said.password}
    given = {name: value for name, value in secrets.items() if value is not None}
    return {**os.environ, LANGUAGE_VARIABLE: language, "NO_COLOR": "1", **given}


def _started(words: Sequence[str], directory: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with (directory / "stdout").open("wb") as out, (directory / "stderr").open("wb") as talk:
        return subprocess.Popen(  # noqa: S603 (the same program, and words that are options by their form)
            [sys.executable, "-m", "brimline", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=talk,
            env=environment,
            start_new_session=True,  # Ctrl-C at the page's terminal is told by `close`
        )


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return text if size <= _TAIL_BYTES else text.partition("\n")[2]

"""Owns brimline as its users have it: a process with arguments, two streams and an exit code."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import psutil

from tests.support.waiting import eventually

TIMEOUT_S = 120.0
REFUSED_WITHIN_S = 15.0
"""For a server that can't be used: the 5 s that connecting may take, and the start of Python on a busy machine."""
_SOURCES = Path(__file__).parents[2] / "python"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A process that has ended."""

    exit_code: int
    stdout: str
    stderr: str
    elapsed_s: float

    def json(self) -> Any:
        """What stdout holds, which must be JSON and nothing else."""
        return json.loads(self.stdout)

    @property
    def error(self) -> str:
        """The one line that says what is wrong."""
        (line,) = re.findall(r"^error: (.*)$", self.stderr, re.MULTILINE)
        return str(line)

    @property
    def hint(self) -> str:
        """The one line that says what to do."""
        (line,) = re.findall(r"^hint: (.*)$", self.stderr, re.MULTILINE)
        return str(line)

    def check_refused(self, *parts: str) -> None:
        """The error of a server that can't be used, told before anybody gives up waiting for it."""
        self.check_error(5, *parts)
        assert self.elapsed_s < REFUSED_WITHIN_S, f"after {self.elapsed_s:.1f} s"

    def check_error(self, exit_code: int, *parts: str) -> None:
        """One error, one hint, no traceback, in the form that errors have; `parts` are in one of the two."""
        assert self.exit_code == exit_code, f"{self.exit_code}\n{self.stderr}\n{self.stdout}"
        assert "Traceback" not in self.stderr
        for part in parts:
            assert part in f"{self.error}\n{self.hint}", self.stderr
        first_word = self.error.split()[0]
        # A name such as BRIMLINE_URI is written as it is.
        assert first_word[0] == first_word[0].lower() or "_" in first_word, self.error
        assert not self.error.endswith("."), self.error
        assert self.hint


@dataclass(frozen=True, slots=True)
class Running:
    """A process that has not ended, maybe."""

    process: subprocess.Popen[str]
    begun_s: float = field(default_factory=time.monotonic)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def send_to_group(self, number: signal.Signals) -> None:
        """As a terminal does on Ctrl-C: to all processes of the job."""
        os.killpg(self.process.pid, number)

    def end(self, *, timeout_s: float = TIMEOUT_S) -> Outcome:
        stdout, stderr = self.process.communicate(timeout=timeout_s)
        return Outcome(self.process.returncode, stdout, stderr, time.monotonic() - self.begun_s)

    def server(self) -> psutil.Process:
        """The mongod that this brimline started, once it runs."""
        found: list[psutil.Process] = []

        def look() -> bool:
            found[:] = [each for each in psutil.Process(self.process.pid).children(recursive=True) if _is_mongod(each)]
            return bool(found)

        assert eventually(look), "no mongod was started"
        return found[0]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs brimline in `directory`; records go to `directory/runs`, servers live in `directory/cache`."""

    directory: Path
    _started: list[subprocess.Popen[str]] = field(default_factory=list)

    @classmethod
    @contextmanager
    def below(cls, directory: Path) -> Iterator[Self]:
        command_line = cls(directory)
        try:
            yield command_line
        finally:
            for process in command_line._started:
                process.kill()
                process.communicate()

    @property
    def runs(self) -> Path:
        return self.directory / "runs"

    @property
    def servers(self) -> Path:
        return self.directory / "cache" / "brimline" / "servers"

    def run(
        self, *arguments: str | Path, environment: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
    ) -> Outcome:
        """Runs brimline to its end."""
        return self.start(*arguments, environment=environment).end(timeout_s=timeout_s)

    def start(
        self,
        *arguments: str | Path,
        environment: Mapping[str, str] | None = None,
        before_exec: Callable[[], None] | None = None,
    ) -> Running:
        """Starts brimline as a job of its own."""
        return self._start(["-m", "brimline", *map(str, arguments)], environment, before_exec)

    def start_python(self, script: Path) -> Running:
        """Starts a program that uses brimline as a library, with the same surroundings."""
        return self._start([str(script)], None, None)

    def _start(
        self, words: list[str], environment: Mapping[str, str] | None, before_exec: Callable[[], None] | None
    ) -> Running:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=self.directory,
            env={
                **os.environ,
                "PYTHONPATH": str(_SOURCES),
                "XDG_CACHE_HOME": str(self.directory / "cache"),
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=before_exec,
        )
        self._started.append(process)
        return Running(process)

    def record_directories(self, *, kind: str = "") -> list[Path]:
        """The directories of records whose name has `kind` in it, oldest first."""
        return sorted(path for path in self.runs.glob("*") if f"-{kind}" in path.name)

    def wait_for_samples(self, workload: str, *, kind: str = "") -> Path:
        """The directory of the first run of `workload` that has recorded two intervals."""
        pattern = f"*z-{kind}{workload}-*"

        def sampled() -> list[Path]:
            files = self.runs.glob(f"{pattern}/**/intervals.csv")
            return [path.parent for path in files if path.read_text().count("\n") >= 3]

        assert eventually(lambda: bool(sampled()), timeout_s=60), "nothing was recorded in time"
        return sampled()[0]

    def files_with(self, text: str) -> list[Path]:
        """Every file below the directory of runs that holds `text`."""
        return [path for path in self.runs.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def _is_mongod(process: psutil.Process) -> bool:
    try:
        return str(process.name()) == "mongod"
    except psutil.NoSuchProcess:
        return False

"""Owns brimline as its users have it: arguments, two streams and an exit code; called as a function, or as a process.

A process takes most of a second to start, so that `run` calls the function that a process calls. What is about
processes themselves uses `start` (signals), `start_fresh` or `run_process` (limits, their first moment).
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any, Self
from unittest.mock import patch

import psutil

from brimline.cli.app import main
from tests.support import forked
from tests.support.waiting import eventually

TIMEOUT_S = 120.0
REFUSED_WITHIN_S = 15.0
"""For a server that can't be used: the 5 s that connecting may take, and the start of Python on a busy machine."""
CALM = ("--connections", "4", "--think-time", "5ms")
"""For a closed loop that may do little: without a pause it would take all of the processor from others."""
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
        assert f"error: {self.error}\nhint: {self.hint}\n" in self.stderr, self.stderr


@dataclass(frozen=True, slots=True)
class Running:
    """A process that has not ended, maybe."""

    process: subprocess.Popen[str] | forked.Forked
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
    _started: list[subprocess.Popen[str] | forked.Forked] = field(default_factory=list)

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
        """Runs brimline to its end in this process."""
        words = [str(each) for each in arguments]
        begun_s = time.monotonic()
        with ExitStack() as stack:
            stack.enter_context(chdir(self.directory))
            stack.enter_context(patch.dict(os.environ, self._environment(environment)))
            stack.enter_context(patch.object(sys, "argv", ["brimline", *words]))
            stack.enter_context(_signals_as_before())
            stack.enter_context(_at_most(timeout_s))
            stdout, stderr = (stack.enter_context(_captured(name)) for name in ("stdout", "stderr"))
            exit_code = _exit_code(words)
        return Outcome(exit_code, stdout.text, stderr.text, time.monotonic() - begun_s)

    def run_process(
        self, *arguments: str | Path, environment: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
    ) -> Outcome:
        """Runs brimline to its end in a process of its own."""
        return self.start_fresh(*arguments, environment=environment).end(timeout_s=timeout_s)

    def start(
        self,
        *arguments: str | Path,
        environment: Mapping[str, str] | None = None,
        open_files_max: int | None = None,
    ) -> Running:
        """Starts brimline as a job of its own, which has imported everything already (`tests.support.forked`)."""
        return self._fork(["-m", "brimline", *map(str, arguments)], environment, open_files_max=open_files_max)

    def start_python(self, script: Path) -> Running:
        """Starts a program that uses brimline as a library, likewise."""
        return self._fork([str(script)], None)

    def _fork(
        self, words: list[str], environment: Mapping[str, str] | None, *, open_files_max: int | None = None
    ) -> Running:
        variables = {**os.environ, "PYTHONPATH": str(_SOURCES), **self._environment(environment)}
        process = forked.start(words, directory=self.directory, environment=variables, open_files_max=open_files_max)
        self._started.append(process)
        return Running(process)

    def start_fresh(
        self,
        *arguments: str | Path,
        environment: Mapping[str, str] | None = None,
        before_exec: Callable[[], None] | None = None,
    ) -> Running:
        """Starts brimline as a job of its own, from the first moment of a process on."""
        words = ["-m", "brimline", *map(str, arguments)]
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=self.directory,
            env={**os.environ, "PYTHONPATH": str(_SOURCES), **self._environment(environment)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=before_exec,
        )
        self._started.append(process)
        return Running(process)

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {"XDG_CACHE_HOME": str(self.directory / "cache"), **(more or {})}

    def record_directories(self, *, kind: str = "") -> list[Path]:
        """The directories of records whose name has `kind` in it, oldest first."""
        return sorted(path for path in self.runs.glob("*") if f"-{kind}" in path.name)

    def wait_for_samples(self, workload: str, *, kind: str = "") -> Path:
        """The directory of the first run of `workload` that has recorded an interval."""
        pattern = f"*z-{kind}{workload}-*"

        def sampled() -> list[Path]:
            files = self.runs.glob(f"{pattern}/**/intervals.csv")
            return [path.parent for path in files if path.read_text().count("\n") >= 2]

        assert eventually(lambda: bool(sampled()), timeout_s=60), "nothing was recorded in time"
        return sampled()[0]

    def files_with(self, text: str) -> list[Path]:
        """Every file below the directory of runs that holds `text`."""
        return [path for path in self.runs.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def _exit_code(words: list[str]) -> int:
    try:
        main(words)
    except SystemExit as ended:
        return int(ended.code or 0)
    raise AssertionError("the command line ends its process")


@contextmanager
def _signals_as_before() -> Iterator[None]:
    """A process would end with what handles its signals."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Ends what takes longer, which a process is killed for."""

    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"brimline was not over within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(slots=True)
class _Captured:
    text: str = ""


@contextmanager
def _captured(name: str) -> Iterator[_Captured]:
    """What goes to a stream of the process, also by its descriptor; the stream is a file, as behind a redirection."""
    captured = _Captured()
    descriptor = {"stdout": 1, "stderr": 2}[name]
    stream: IO[str] = getattr(sys, name)
    stream.flush()
    kept = os.dup(descriptor)
    try:
        with tempfile.TemporaryFile("w+b") as file:
            os.dup2(file.fileno(), descriptor)
            with open(descriptor, "w", encoding="utf-8", closefd=False) as replaced, patch.object(sys, name, replaced):
                try:
                    yield captured
                finally:
                    replaced.flush()
            file.seek(0)
            captured.text = file.read().decode("utf-8")
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def _is_mongod(process: psutil.Process) -> bool:
    try:
        return str(process.name()) == "mongod"
    except psutil.NoSuchProcess:
        return False

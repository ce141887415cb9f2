"""Owns one client process: started on its cores, followed line by line, measured from outside, always ended.

Client and server stay in the session of the runner: Linux schedules sessions as groups (autogroup), and processes of
two sessions that wake each other pay for it with every reply.

CPU time is read from the process's CPU clock (clock_getcpuclockid(3)): user and system time of all its threads, also of
those that have ended, to the nanosecond, where /proc has a grain of 10 ms.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_CPU_CLOCK_OF_PROCESS = 2
_END_DEADLINE_S = 5.0
_READ_BYTES = 65536
_KIB = 1024


class ClientFailed(Exception):
    """A client that ended, fell silent or said something else than expected."""


@dataclass(slots=True, kw_only=True)
class Client:
    """A running client whose lines are read one at a time."""

    process: subprocess.Popen[bytes]
    _unread: bytes = field(default=b"")

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self.process.pid

    def line(self, *, deadline: float) -> str:
        """The next line. Raises ClientFailed when there is none before that instant of the monotonic clock."""
        assert self.process.stdout is not None
        while b"\n" not in self._unread:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([self.process.stdout], [], [], left_s)[0]:
                raise ClientFailed("said nothing in time")
            more = os.read(self.process.stdout.fileno(), _READ_BYTES)
            if not more:
                raise ClientFailed("ended early")
            self._unread += more
        first, self._unread = self._unread.split(b"\n", 1)
        return first.decode(errors="replace")

    def expect(self, word: str, *, deadline: float) -> None:
        """Waits for this very line. Raises ClientFailed."""
        said = self.line(deadline=deadline)
        if said != word:
            raise ClientFailed(f'said "{said[:80]}" where "{word}" was expected')

    def release(self) -> None:
        """Lets it end: it has been read."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()


@contextmanager
def client(command: Sequence[str], *, cores: Sequence[int], log: Path) -> Iterator[Client]:
    """Starts a client on these cores for the length of the `with` block; its standard error goes to `log`."""
    with log.open("wb") as errors, on_cores(cores):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, process_group=0
        )
    try:
        yield Client(process=process)
    finally:
        _end(process)


@contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """What is started inside runs on these cores only; this thread does so meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_ns(pid: int) -> int:
    """User and system time of a process so far. Raises ProcessLookupError when it is gone."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _CPU_CLOCK_OF_PROCESS)
    except OSError as error:
        raise ProcessLookupError(f"no process {pid}") from error


def peak_memory_bytes(pid: int) -> int:
    """The most memory that a process ever held (VmHWM). Raises ProcessLookupError when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError as error:
        raise ProcessLookupError(f"no process {pid}") from error
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * _KIB
    raise ProcessLookupError(f"process {pid} holds no memory any more")


def descendants(pid: int) -> list[int]:
    """Children, their children and so on, the process itself left out."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = [int(word) for word in (task / "children").read_text().split()]
            found += [*children, *(each for child in children for each in descendants(child))]
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    """Waits a little, then kills the process and its children: they are in a group of their own."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    # A pidfd is ready when the process has ended, and leaves it unreaped: its number stays that of its group.
    ended = os.pidfd_open(process.pid)
    select.select([ended], [], [], _END_DEADLINE_S)
    os.close(ended)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

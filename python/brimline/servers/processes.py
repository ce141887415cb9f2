"""Owns telling processes apart: a pid that was written down may belong to another process by now."""

import os
import select
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_START_TIME_FIELD = 22
"""Field of /proc/<pid>/stat that holds the start time in clock ticks since boot, counted from 1 (proc(5))."""


PID_MAX = 2**22
"""The largest there can be, whatever `kernel.pid_max` is (proc(5)): the kernel's calls fail on much larger ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """A process of this boot: no two ever share pid and start time. `executable` is what it runs."""

    pid: int
    start_ticks: int
    executable: str


def identify(pid: int) -> ProcessIdentity | None:
    """The process with this pid now; None: there is none, it is a zombie, or somebody else's."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        executable = str((_PROC / str(pid) / "exe").readlink())
    except OSError:
        return None
    # The command's name stands in parentheses and may hold anything, also spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    state, start_ticks = fields[0], int(fields[_START_TIME_FIELD - 3])
    if state in {"Z", "X"}:
        return None
    return ProcessIdentity(pid=pid, start_ticks=start_ticks, executable=executable.removesuffix(" (deleted)"))


def is_alive(identity: ProcessIdentity) -> bool:
    """Whether this very process still runs."""
    return identify(identity.pid) == identity


def family(pid: int, *, proc: Path = _PROC) -> list[int]:
    """The process and all that it started and those started, as far as they live."""
    found = [pid]
    for each in found:  # grows while it is read
        with suppress(OSError):
            for thread in (proc / str(each) / "task").iterdir():
                with suppress(OSError):
                    found += map(int, (thread / "children").read_text().split())
    return found


def kill(identity: ProcessIdentity, *, timeout_s: float = 10.0, number: signal.Signals = signal.SIGKILL) -> bool:
    """Kills this very process, never another one that has its pid by now, and waits for its end.

    True when it is gone at the end. The pidfd is opened before the identity is checked, so that the signal
    can't reach a process that took the pid in between.
    """
    try:
        descriptor = os.pidfd_open(identity.pid)
    except OSError:
        return not is_alive(identity)
    try:
        if not is_alive(identity):
            return True
        signal.pidfd_send_signal(descriptor, number)
        ended, _, _ = select.select([descriptor], [], [], timeout_s)
        return bool(ended) or not is_alive(identity)
    except OSError:
        return not is_alive(identity)
    finally:
        os.close(descriptor)

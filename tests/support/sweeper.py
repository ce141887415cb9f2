"""Owns what becomes of servers when a process of the tests is killed, or ends before it has taken them down.

A worker (pytest-xdist) whose run was ended gets 15 s, and a command of brimline that is called in it takes the signal
for its own. So somebody else looks on: a process that reads from the one of the tests, and so sees when it has gone.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.support.labs import processes_below

_ALL_IS_DOWN = "all is down"
_SWEEP_FOR_S, _LOOK_S = 3.0, 0.1
"""A command that is just starting a server may do so until it is killed itself."""


@contextmanager
def swept(directory: Path) -> Iterator[None]:
    """However this process ends: what it started below `directory` ends too, and what it has written there goes."""
    looking_on = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, text=True, start_new_session=True
    )
    assert looking_on.stdin is not None
    # Not as an argument, by which it would find itself.
    looking_on.stdin.write(f"{directory}\n")
    looking_on.stdin.flush()
    yield
    looking_on.communicate(_ALL_IS_DOWN)


def _sweep(directory: Path) -> None:
    until = time.monotonic() + _SWEEP_FOR_S
    while time.monotonic() < until:
        for process in [*processes_below(directory), *_working_below(directory)]:
            process.kill()
        time.sleep(_LOOK_S)
    shutil.rmtree(directory, ignore_errors=True)


def _working_below(directory: Path) -> list[psutil.Process]:
    """Commands: they have no path among their arguments, but their directory."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(directory):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


if __name__ == "__main__":
    place = Path(sys.stdin.readline().rstrip("\n"))
    if sys.stdin.read() != _ALL_IS_DOWN:
        _sweep(place)

"""Owns how a run of the tests shows itself: the share that is done, what is running, what takes long without a reason.

With workers (pytest-xdist) the process that the person started shows it; the workers are silent.
"""

import os
import shutil
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

LONG_TEST_S = 5.0
"""A test that takes longer has the marker `slow` with the reason. What it waits for a processor isn't counted."""
_LINE_EVERY_S = 10.0
MEMORY = "/dev/shm"
ROOM_IN_MEMORY_BYTES = 8 << 30
"""Several times what the databases of four tests and the shared servers take."""


class Suite:
    """A plugin for the process that shows; see `register`."""

    def __init__(self) -> None:
        self._running: dict[str, float] = {}
        self._count = 0
        self._done = 0
        self._failed = 0
        self._without_reason: dict[str, float] = {}
        self._begun_s = time.monotonic()
        # What tests print is captured by descriptor, and the lines come in the middle of tests.
        self._stream = open(os.dup(1), "w", encoding="utf-8")  # noqa: PTH123, SIM115 (open until the process ends)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def pytest_sessionstart(self) -> None:
        self._thread.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._count = len(session.items)

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._count = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)
        self._done += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed += report.failed
        known = dict(report.user_properties)
        took_s = report.duration - float(str(known.get("held_up_s", 0.0)))
        if report.when == "call" and took_s > LONG_TEST_S and "slow" not in known:
            self._without_reason[report.nodeid] = took_s

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No dot for what passed: lines tell more."""
        if report.passed:
            return ("passed" if report.when == "call" else "", "", "PASSED")
        return None

    def pytest_unconfigure(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self._stream.close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._over.set()
        if self._without_reason:
            terminalreporter.section(f"over {LONG_TEST_S:g} s without a marker `slow` that says why")
            for name, duration in sorted(self._without_reason.items(), key=lambda each: -each[1]):
                terminalreporter.write_line(f"{duration:6.1f} s  {name}")

    def _show(self) -> None:
        while not self._over.wait(_LINE_EVERY_S):
            with suppress(RuntimeError):  # a test began or ended meanwhile
                self._write_line()

    def _write_line(self) -> None:
        share = self._done / self._count if self._count else 0.0
        now = time.monotonic()
        running = ", ".join(f"{_short(name)} ({now - since:.0f} s)" for name, since in sorted(self._running.items()))
        failed = f", {self._failed} failed" if self._failed else ""
        done = f"[{share:4.0%}] {self._done} of {self._count}{failed}, {now - self._begun_s:.0f} s"
        print(f"{done}; running: {running or '-'}", file=self._stream, flush=True)


def _short(name: str) -> str:
    """A test without the directory of its file."""
    file, _, test = name.partition("::")
    return f"{Path(file).name}::{test}"


_HELD_UP = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Knows how long the test waited for a processor that others had: side by side that is up to two thirds."""
    before_s = _held_up_s()
    try:
        return (yield)
    finally:
        item.stash[_HELD_UP] = _held_up_s() - before_s


def _held_up_s() -> float:
    """How long this thread could have run and did not, since its start."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """The process that shows knows by this, also of a worker's test, what it took and that it has a reason to."""
    report = yield
    if item.get_closest_marker("slow") is not None:
        report.user_properties.append(("slow", True))
    report.user_properties.append(("held_up_s", item.stash.get(_HELD_UP, 0.0)))
    return report


def keep_files_in_memory(config: pytest.Config) -> None:
    """Side by side, tests' directories are in memory where there is room: half of what they take is waiting for a disk.

    What measures runs by itself, and on the disk that a user's server has.
    """
    if getattr(config.option, "numprocesses", None) and _room_in_memory_bytes() >= ROOM_IN_MEMORY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def _room_in_memory_bytes() -> int:
    try:
        return min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available)
    except OSError:
        return 0


def register(config: pytest.Config) -> None:
    """Shows this run, unless it is a worker's or a person asked for details."""
    if not hasattr(config, "workerinput") and config.get_verbosity() <= 0:
        config.pluginmanager.register(Suite())

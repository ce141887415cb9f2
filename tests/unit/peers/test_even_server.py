"""What is done so that no client of the comparison pays for another, or for the machine."""

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from benchmarks.peers.page import page
from benchmarks.peers.processes import cpu_ns
from benchmarks.peers.ready_memory import ready_memory
from benchmarks.peers.server import Server
from tests.unit.peers.samples import results, run

MIB = 1 << 20
WORK_NS = 400_000_000


@pytest.fixture
def busy_for_a_while() -> Iterator[int]:
    """A process that works for WORK_NS of CPU time with a pause shorter than a server's between two halves."""
    code = (
        "import time\n"
        f"half = {WORK_NS // 2}\n"
        "for _ in range(2):\n"
        "    end = time.process_time_ns() + half\n"
        "    while time.process_time_ns() < end: pass\n"
        "    time.sleep(0.8)\n"
        "print(flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        yield process.pid
        process.kill()


def test_a_client_begins_when_the_server_has_done_what_the_last_one_left(busy_for_a_while: int) -> None:
    asked: list[str] = []
    client = cast("Any", SimpleNamespace(admin=SimpleNamespace(command=asked.append)))
    assert Server(address="h:1", pid=busy_for_a_while, version="", client=client).rest()
    assert asked == ["fsync"]  # a checkpoint, so that none falls into the window
    assert cpu_ns(busy_for_a_while) >= WORK_NS


@pytest.fixture
def idle() -> Iterator[int]:
    """A process that waits."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


def test_a_server_that_never_rests_is_told_of(
    busy_for_a_while: int, idle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.peers.server._QUIET_LOOKS", 2)
    monkeypatch.setattr("benchmarks.peers.server._REST_LOOKS_MAX", 2)
    client = cast("Any", SimpleNamespace(admin=SimpleNamespace(command=lambda _: None)))
    rested = [Server(address="h:1", pid=pid, version="", client=client).rest() for pid in (busy_for_a_while, idle)]
    assert rested == [False, True]
    told = page(results(run("brimline", "c"), run("ycsb", "c", round=2, rested=False)))
    assert "- the server had not come to rest before: ycsb (c, round 2)" in told
    assert "come to rest" not in page(results(run("brimline", "c")))


def test_ready_memory_was_used_and_a_hundredth_of_it_is_held() -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    with ready_memory(256 * MIB) as size:
        held = process.memory_info().rss - before
        assert size == 256 * MIB
        assert size // 256 < held < size // 32
    assert process.memory_info().rss < before + held

"""A client process: followed, measured, ended."""

import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.peers.processes import ClientFailed, client, cpu_ns, descendants, on_cores, peak_memory_bytes

ALL_CORES = sorted(os.sched_getaffinity(0))
SOON_S = 30.0


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_lines_come_one_at_a_time(tmp_path: Path) -> None:
    talk = "print('ready'); print('begin', flush=True); import sys; sys.stdin.read()"
    with client(program(talk), cores=ALL_CORES, log=tmp_path / "log") as running:
        running.expect("ready", deadline=time.monotonic() + SOON_S)
        assert running.line(deadline=time.monotonic() + SOON_S) == "begin"
        with pytest.raises(ClientFailed, match="said nothing in time"):
            running.line(deadline=time.monotonic() + 0.05)
        running.release()
    assert gone(running.pid)


def test_a_client_that_says_something_else_or_ends_has_failed(tmp_path: Path) -> None:
    with client(program("print('oops')"), cores=ALL_CORES, log=tmp_path / "log") as running:
        with pytest.raises(ClientFailed, match='said "oops" where "ready"'):
            running.expect("ready", deadline=time.monotonic() + SOON_S)
        with pytest.raises(ClientFailed, match="ended early"):
            running.line(deadline=time.monotonic() + SOON_S)


def test_children_end_with_their_client(tmp_path: Path) -> None:
    parent = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "print(child.pid, flush=True); sys.stdin.read()"
    )
    with client(program(parent), cores=ALL_CORES, log=tmp_path / "log") as running:
        child = int(running.line(deadline=time.monotonic() + SOON_S))
        assert descendants(running.pid) == [child]
    deadline = time.monotonic() + SOON_S
    while not gone(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert gone(child)


def test_a_client_runs_on_its_cores_only(tmp_path: Path) -> None:
    talk = "import os; print(sorted(os.sched_getaffinity(0)))"
    with client(program(talk), cores=ALL_CORES[:1], log=tmp_path / "log") as running:
        assert running.line(deadline=time.monotonic() + SOON_S) == str(ALL_CORES[:1])
    assert sorted(os.sched_getaffinity(0)) == ALL_CORES


def test_cores_are_given_back_after_an_error() -> None:
    with pytest.raises(RuntimeError), on_cores(ALL_CORES[:1]):
        raise RuntimeError
    assert sorted(os.sched_getaffinity(0)) == ALL_CORES


def test_cpu_time_is_that_of_all_threads_of_the_process() -> None:
    before, own_before = cpu_ns(os.getpid()), time.process_time_ns()
    while time.process_time_ns() < own_before + 50_000_000:
        pass
    used, own = cpu_ns(os.getpid()) - before, time.process_time_ns() - own_before
    assert own * 0.9 <= used <= own * 1.1


def test_a_process_that_is_gone_has_no_figures(tmp_path: Path) -> None:
    with client(program(""), cores=ALL_CORES, log=tmp_path / "log") as running:
        pass
    with pytest.raises(ProcessLookupError):
        cpu_ns(running.pid)
    with pytest.raises(ProcessLookupError):
        peak_memory_bytes(running.pid)


def test_peak_memory_is_in_bytes() -> None:
    assert 5_000_000 < peak_memory_bytes(os.getpid()) < 50_000_000_000

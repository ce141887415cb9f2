"""Looking at a server that says nothing of itself: its process and those that it started."""

import os
import subprocess
import sys
from pathlib import Path

from brimline.monitor.cpu_time import family_cpu_ns
from brimline.monitor.watched_process import WatchedProcess
from brimline.servers.processes import family


def process(proc: Path, pid: int, *, children: str = "", times: tuple[int, int, int, int] = (0, 0, 0, 0)) -> None:
    task = proc / str(pid) / "task" / str(pid)
    task.mkdir(parents=True)
    (task / "children").write_text(children)
    fields = ["S", "1", *["0"] * 9, *map(str, times), *["0"] * 4]
    (proc / str(pid) / "stat").write_text(f"{pid} (odd) name) {' '.join(fields)}")


def test_the_cpu_time_of_a_service_is_that_of_all_its_processes_also_of_those_that_ended(tmp_path: Path) -> None:
    process(tmp_path, 10, children="11 12 ", times=(1, 2, 30, 40))
    process(tmp_path, 11, children="13 ", times=(5, 0, 0, 0))
    process(tmp_path, 12, times=(0, 6, 0, 0))
    process(tmp_path, 13, times=(7, 0, 0, 0))
    ticks = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    assert sorted(family(10, proc=tmp_path)) == [10, 11, 12, 13]
    assert family_cpu_ns(10, proc=tmp_path) == (1 + 2 + 30 + 40 + 5 + 6 + 7) * ticks
    assert family_cpu_ns(99, proc=tmp_path) is None


def test_a_look_at_a_process_says_when_it_has_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with WatchedProcess(child.pid, address="127.0.0.1:1") as watched:
        alive = watched.take()
        child.communicate(b"\n")
        gone = watched.take()

    assert (alive["gap"], alive["server"], alive["shared_host"]) == ("", "127.0.0.1:1", True)
    assert alive["server_cpu_ns"] >= 0
    assert gone["gap"] == "the process has ended"
    assert watched.absent() == ()

"""Whose CPU time a host's is: members and other programs by name, from processes of a known content."""

import os
from collections.abc import Mapping
from pathlib import Path

from brimline.monitor.programs import SCAN_SHARE_MAX, Members, OtherPrograms, Programs, generating
from brimline.record.named_times import named_times_text, read_named_times
from brimline.servers.members import MemberProcess

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
SECONDARY = MemberProcess(name="mongod 127.0.0.1:27018", pid=12)


def processes(proc: Path, ticks: Mapping[int, tuple[str, int]]) -> None:
    """Makes `proc` hold these processes alone: name and CPU time by pid."""
    for gone in [each for each in proc.iterdir() if each.name.isdigit() and int(each.name) not in ticks]:
        (gone / "stat").unlink()
        gone.rmdir()
    for pid, (name, used) in ticks.items():
        (proc / str(pid)).mkdir(exist_ok=True)
        rest = "S 1 7 7 0 -1 4 100 0 0 0"
        (proc / str(pid) / "stat").write_text(f"{pid} ({name}) {rest} {used} 0 0 0 20 0 1 0 1 0 0\n")


class Clock:
    """Reading processes takes a second each time."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 1.0
        return self.now_s


def test_members_and_other_programs_are_told_apart_and_grow_by_name(tmp_path: Path) -> None:
    before = {11: ("mongod", 100), 12: ("mongod", 50), os.getpid(): ("python3", 70), 30: ("cc1plus", 5), 31: ("sh", 1)}
    processes(tmp_path, before)
    found = Programs(lambda: [SECONDARY], server_pid=11, proc=tmp_path)
    first = found.columns()
    assert first["members_cpu_ns"] == 50 * TICK_NS and first["others_cpu_ns_by_name"] == ""
    found._others._next_s = 0.0
    processes(tmp_path, before | {12: ("mongod", 90), 30: ("cc1plus", 25), 32: ("cc1plus", 7), 40: ("a=b;\n", 3)})
    later = found.columns()
    assert read_named_times(later["members_cpu_ns_by_name"]) == {"mongod 127.0.0.1:27018": 90 * TICK_NS}
    assert read_named_times(later["others_cpu_ns_by_name"]) == {"cc1plus": 27 * TICK_NS, "a?b??": 3 * TICK_NS}


def test_what_the_generator_started_is_no_other_program(tmp_path: Path) -> None:
    """The process of a driver: its CPU time is the generator's."""
    before = {11: ("mongod", 100), os.getpid(): ("python3", 70), 50: ("java", 1), 60: ("java", 1)}
    processes(tmp_path, before)
    task = tmp_path / str(os.getpid()) / "task" / "1"
    task.mkdir(parents=True)
    (task / "children").write_text("50 ")
    found = Programs(list, server_pid=11, proc=tmp_path)
    found.columns()
    found._others._next_s = 0.0
    processes(tmp_path, before | {50: ("java", 900), 60: ("java", 31)})
    assert read_named_times(found.columns()["others_cpu_ns_by_name"]) == {"java": 30 * TICK_NS}


def test_a_node_that_others_started_is_no_other_program(tmp_path: Path) -> None:
    """An actor of Ray on the command's own machine: the cluster's daemon started it."""
    before = {11: ("mongod", 100), os.getpid(): ("python3", 70), 50: ("ray::_Actor", 1), 60: ("raylet", 1)}
    processes(tmp_path, before)
    found = Programs(list, server_pid=11, proc=tmp_path)
    with generating(frozenset({50})):
        found.columns()
        found._others._next_s = 0.0
        processes(tmp_path, before | {50: ("ray::_Actor", 900), 60: ("raylet", 31)})
        assert read_named_times(found.columns()["others_cpu_ns_by_name"]) == {"raylet": 30 * TICK_NS}
    found._others._next_s = 0.0
    assert "ray::_Actor" in read_named_times(found.columns()["others_cpu_ns_by_name"]), "its id may be another's now"


def test_a_member_that_is_started_again_goes_on_under_its_name(tmp_path: Path) -> None:
    processes(tmp_path, {12: ("mongod", 50)})
    pids = iter([12, 99, 13])
    members = Members(lambda: [MemberProcess(name=SECONDARY.name, pid=next(pids))], proc=tmp_path)
    assert members.times_ns() == {SECONDARY.name: 50 * TICK_NS}
    processes(tmp_path, {13: ("mongod", 4)})
    seen = [members.times_ns()[SECONDARY.name] for _ in range(21)]
    assert seen[0] == 50 * TICK_NS and seen[-1] == 54 * TICK_NS and seen == sorted(seen)


def test_a_pid_that_another_process_got_takes_nothing_back(tmp_path: Path) -> None:
    processes(tmp_path, {30: ("cc1plus", 500)})
    others = OtherPrograms(proc=tmp_path, cost=lambda: 0.0)
    assert others.times_ns(frozenset()) == {}
    processes(tmp_path, {30: ("ld", 8)})
    assert others.times_ns(frozenset()) == {"ld": 8 * TICK_NS}


def test_threads_of_the_kernel_are_added_up_by_what_they_do(tmp_path: Path) -> None:
    processes(tmp_path, {2: ("kworker/0:1-events", 0), 3: ("kworker/1:2", 0)})
    others = OtherPrograms(proc=tmp_path, cost=lambda: 0.0)
    others.times_ns(frozenset())
    processes(tmp_path, {2: ("kworker/0:1-events", 3), 3: ("kworker/1:2", 4)})
    assert others.times_ns(frozenset()) == {"kworker": 7 * TICK_NS}


def test_reading_all_processes_takes_no_more_than_its_part_of_the_time(tmp_path: Path) -> None:
    clock = Clock()
    others = OtherPrograms(proc=tmp_path, clock=clock, cost=clock)
    read = sum(others.times_ns(frozenset()) is not None for _ in range(2_000))
    assert read <= clock.now_s * SCAN_SHARE_MAX + 1


def test_a_wait_for_a_cpu_keeps_no_program_from_being_named(tmp_path: Path) -> None:
    """On a host that others keep busy a look took half a second by the wall clock, and the next came after minutes."""
    processes(tmp_path, {30: ("rustc", 500)})
    clock = Clock()
    others = OtherPrograms(proc=tmp_path, clock=clock, cost=lambda: 0.0)
    assert all(others.times_ns(frozenset()) is not None for _ in range(20))


def test_a_cell_that_is_damaged_says_what_is_left_of_it() -> None:
    assert named_times_text({}) == "" and read_named_times("") == read_named_times(None) == read_named_times(3) == {}
    assert read_named_times("mongod=5;=7;x;y=;z=-1;w=1e9;last=8") == {"mongod": 5, "last": 8}

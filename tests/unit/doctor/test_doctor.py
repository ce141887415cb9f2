"""Each check on machines that are as they should be, on machines that are not, and on machines that don't show it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.api.checkup import checkup as api_checkup
from brimline.api.checkup import shares_host
from brimline.api.generator_checks import judge_ceilings, judge_lag, judge_socket_ceiling, thread_counts
from brimline.doctor import (
    Check,
    Planned,
    ServerInUse,
    Status,
    disk,
    examine,
    limits,
    memory,
    neighbours,
    processor,
    timing,
    worst,
)
from brimline.errors import UsageError
from brimline.servers import Deployment, binary

GIB = 1 << 30
NO_LIMIT = -1


def _files(root: Path, **files: str) -> Path:
    """A tree of the kernel's files: `proc__loadavg="…"`."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _expect(check: Check, status: Status, *parts: str) -> None:
    """The result, what must be in the evidence, a hint wherever something is to be done, and figures JSON can hold."""
    assert check.status is status, check
    for part in parts:
        assert part in check.evidence, check
    if status in (Status.WARN, Status.FAIL):
        assert check.hint
    if status is Status.UNKNOWN:
        assert check.evidence.startswith("not known here")
    if status is Status.PASS:
        assert check.hint is None
    assert check.name == check.name.lower() and " " not in check.name
    json.dumps(check.to_dict())


UNSEEN: list[Callable[[Path], Check]] = [
    processor.governor,
    processor.pressure,
    processor.load_average,
    processor.steal,
    lambda root: memory.huge_pages(None, root, own_version="6.0.5"),
    lambda root: memory.free_page_reporting(None, root),
    memory.swap,
    lambda root: timing.clock_source(root, resolution_ns=1),
    lambda root: neighbours.session(None, root),
]


@pytest.mark.parametrize("check", UNSEEN)
def test_what_a_machine_does_not_show_is_unknown_and_never_a_pass(
    check: Callable[[Path], Check], tmp_path: Path
) -> None:
    _expect(check(tmp_path), Status.UNKNOWN)


# Processor


@pytest.mark.parametrize(("count", "status"), [(1, Status.WARN), (2, Status.PASS), (64, Status.PASS)])
def test_cores(count: int, status: Status) -> None:
    _expect(processor.cores(count=count), status, str(count))


@pytest.mark.parametrize(
    ("governors", "status"),
    [(["performance", "performance"], Status.PASS), (["performance", "powersave"], Status.WARN)],
)
def test_governor(governors: list[str], status: Status, tmp_path: Path) -> None:
    for core, governor in enumerate(governors):
        _files(tmp_path, **{f"sys__devices__system__cpu__cpu{core}__cpufreq__scaling_governor": f"{governor}\n"})
    _expect(processor.governor(tmp_path), status, "performance")


@pytest.mark.parametrize(("percent", "status"), [("0.95", Status.PASS), ("45.00", Status.WARN)])
def test_pressure(percent: str, status: Status, tmp_path: Path) -> None:
    text = f"some avg10={percent} avg60=0.97 avg300=0.31 total=4271709\nfull avg10=99.00 avg60=0 total=0\n"
    check = processor.pressure(_files(tmp_path, proc__pressure__cpu=text))
    _expect(check, status)
    assert check.figures["some_avg10_percent"] == float(percent)


@pytest.mark.parametrize(("load", "status"), [("1.00", Status.PASS), ("2.10", Status.WARN)])
def test_load_average(load: str, status: Status, tmp_path: Path) -> None:
    root = _files(tmp_path, proc__loadavg=f"{load} 9 9 1/100 5\n")
    _expect(processor.load_average(root, core_count=4), status, "on 4 cores")


@pytest.mark.parametrize(
    ("stolen", "status"), [(0, Status.PASS), (5, Status.WARN), (40, Status.FAIL)], ids=["none", "5 %", "40 %"]
)
def test_steal(stolen: int, status: Status, tmp_path: Path) -> None:
    """Of the 100 ticks between two looks; guest time, which is in user time, must not count twice."""
    _files(
        tmp_path,
        proc__stat="cpu  5000 0 1000 94000 0 0 0 0 3000 0\ncpu0 1 1\n",
        proc__cpuinfo="flags\t: fpu hypervisor",
    )

    def pause(_seconds: float) -> None:
        _files(tmp_path, proc__stat=f"cpu  {5100 - stolen} 0 1000 94000 0 0 0 {stolen} 3050 0\ncpu0 1 1\n")

    check = processor.steal(tmp_path, pause=pause)
    _expect(check, status, "virtual machine")
    assert check.figures["steal_share"] == pytest.approx(stolen / 100)


# Memory


@pytest.mark.parametrize(
    ("total_kib", "free_kib", "swappiness", "status"),
    [
        (0, 0, "60", Status.PASS),
        (100_000, 95_000, "1", Status.PASS),
        (100_000, 95_000, "60", Status.WARN),
        (100_000, 70_000, "1", Status.WARN),
        (100_000, 10_000, "1", Status.FAIL),
    ],
    ids=["none", "unused", "eager", "used", "nearly full"],
)
def test_swap(tmp_path: Path, total_kib: int, free_kib: int, swappiness: str, status: Status) -> None:
    text = f"MemTotal: 5 kB\nSwapTotal: {total_kib} kB\nSwapFree: {free_kib} kB\n"
    check = memory.swap(_files(tmp_path, proc__meminfo=text, proc__sys__vm__swappiness=swappiness))
    _expect(check, status)
    assert check.figures["swap_used_bytes"] == (total_kib - free_kib) * 1024


# Time


@pytest.mark.parametrize(
    ("resolution_ns", "source", "status"),
    [(1, "tsc", Status.PASS), (1, "hpet", Status.WARN), (4_000_000, "tsc", Status.FAIL)],
)
def test_clock_source(tmp_path: Path, resolution_ns: int, source: str, status: Status) -> None:
    root = _files(tmp_path, sys__devices__system__clocksource__clocksource0__current_clocksource=source)
    _expect(timing.clock_source(root, resolution_ns=resolution_ns), status, source)


@pytest.mark.parametrize(
    ("cost_ns", "back", "smallest_ns", "largest_ns", "status"),
    [
        (30, 0, 20, 50_000, Status.PASS),
        (2_000, 0, 900, 50_000, Status.WARN),
        (30, 0, 20, 80_000_000, Status.WARN),
        (30, 1, 20, 50_000, Status.FAIL),
        (0, 0, 0, 0, Status.FAIL),
    ],
    ids=["good", "slow", "interrupted", "goes back", "stands still"],
)
def test_clock_error(cost_ns: int, back: int, smallest_ns: int, largest_ns: int, status: Status) -> None:
    def probe(reads: int) -> "timing._native.ClockProbe":
        return {
            "reads": reads,
            "elapsed_ns": reads * cost_ns,
            "steps_back": back,
            "smallest_step_ns": smallest_ns,
            "largest_step_ns": largest_ns,
        }

    _expect(timing.clock_error(probe), status)


def test_the_clock_of_this_machine_goes_forward() -> None:
    check = timing.clock_error()
    assert check.status is not Status.FAIL, check
    assert check.figures["steps_back_count"] == 0


@pytest.mark.parametrize(("stamped", "status"), [(True, Status.PASS), (False, Status.WARN)])
def test_arrival_times(stamped: bool, status: Status) -> None:
    _expect(timing.arrival_times(lambda: stamped), status)


def test_this_kernel_says_when_bytes_arrived() -> None:
    assert timing.arrival_times().status is Status.PASS


# Limits


@pytest.mark.parametrize(
    ("limit", "connections", "status"),
    [
        (NO_LIMIT, 50_000, Status.PASS),
        (64_000, None, Status.PASS),
        (64_000, 5_000, Status.PASS),
        (1_024, None, Status.WARN),
        (1_024, 32, Status.WARN),
        (5_000, 5_000, Status.FAIL),
    ],
)
def test_open_files(limit: int, connections: int | None, status: Status) -> None:
    _expect(limits.open_files(limit=limit, connections=connections), status)


def test_each_server_that_a_connection_leads_to_takes_an_open_file() -> None:
    one, two = (limits.open_files(limit=5_000, connections=3_000, sockets=sockets) for sockets in (1, 2))
    _expect(one, Status.PASS, "the workload's 3 000 connections need 3128")
    _expect(two, Status.FAIL, "the workload's 3 000 connections, 2 sockets each, need 6128")
    assert two.hint == "ulimit -Hn 64000 as root, else at most 2 436 connections can be made"
    assert limits.processes(limit=5_000, connections=3_000, sockets=2).status is Status.FAIL
    assert limits.processes(limit=5_000, connections=3_000, sockets=1).status is Status.PASS


@pytest.mark.parametrize(
    ("limit", "connections", "status"),
    [
        (NO_LIMIT, 50_000, Status.PASS),
        (63_000, 1_000, Status.PASS),
        (500, None, Status.WARN),
        (1_000, 1_000, Status.FAIL),
    ],
)
def test_processes(limit: int, connections: int | None, status: Status) -> None:
    _expect(limits.processes(limit=limit, connections=connections, threads=2), status)


# Disk


@pytest.mark.parametrize(
    ("free_gib", "planned_gib", "own", "status"),
    [
        (0, None, True, Status.FAIL),
        (1, None, True, Status.WARN),
        (5, None, True, Status.PASS),
        (10, 20, True, Status.FAIL),
        (25, 20, True, Status.WARN),
        (41, 20, True, Status.PASS),
        (20, 20, True, Status.FAIL),
        (20, 20, False, Status.WARN),
        (40, 20, False, Status.PASS),
    ],
)
def test_server_disk(free_gib: int, planned_gib: int | None, own: bool, status: Status) -> None:
    planned = None if planned_gib is None else planned_gib * GIB
    check = disk.server_disk("below /x", free_bytes=free_gib * GIB, planned_bytes=planned, own_server=own)
    _expect(check, status, "/x")
    assert (check.figures["free_bytes"], check.figures["planned_bytes"]) == (free_gib * GIB, planned)


def test_a_server_that_does_not_tell_its_room() -> None:
    _expect(disk.server_disk("at a:1", free_bytes=None, planned_bytes=GIB, own_server=False), Status.UNKNOWN)


@pytest.mark.parametrize(
    ("free_bytes", "status"), [(1 << 20, Status.FAIL), (500 << 20, Status.WARN), (2 * GIB, Status.PASS)]
)
def test_runs_disk(free_bytes: int, status: Status, tmp_path: Path) -> None:
    _expect(disk.runs_disk(tmp_path, free_bytes=free_bytes), status, str(tmp_path))
    assert disk.free_below(tmp_path / "not" / "there" / "yet") > 0


def test_data_directory(tmp_path: Path) -> None:
    _expect(disk.data_directory(tmp_path / "new"), Status.PASS)
    (tmp_path / "file").write_text("")
    _expect(disk.data_directory(tmp_path / "file"), Status.FAIL, str(tmp_path / "file"))


def test_mongod(tmp_path: Path) -> None:
    program = tmp_path / "mongod"
    program.write_text("#!/bin/sh\necho db version v9.9.0\n")
    program.chmod(0o755)
    _expect(disk.mongod(flag=program, environ={}), Status.PASS, "v9.9.0", "found by flag")
    _expect(disk.mongod(flag=tmp_path / "none", environ={}), Status.FAIL)


# Where the server is


FAR = Deployment(
    address="192.0.2.1:27017",
    uri_redacted="mongodb://192.0.2.1:27017",
    kind="standalone",
    engine="MongoDB",
    version="6.0.5",
    git_version="",
    local=False,
    pid=None,
    cpu_count=None,
)
HERE = replace(FAR, address="127.0.0.1:27017", local=True, pid=4711)
TUNNEL = replace(FAR, address="127.0.0.1:27017")


def test_shared_host() -> None:
    _expect(neighbours.shared_host(None), Status.WARN, "yes", "own server")
    _expect(neighbours.shared_host(HERE), Status.WARN, "yes", "4711")
    _expect(neighbours.shared_host(FAR), Status.PASS, "no", "192.0.2.1")
    _expect(neighbours.shared_host(TUNNEL), Status.UNKNOWN, "127.0.0.1")


def _stat(session: int) -> str:
    # The name of a process may hold anything.
    return f"99 (a ) 7 b) S 1 2 {session} 0 -1 4194304"


def test_session_scheduling(tmp_path: Path) -> None:
    _files(tmp_path, proc__sys__kernel__sched_autogroup_enabled="1", proc__self__stat=_stat(10))
    _expect(neighbours.session(None, tmp_path), Status.PASS, "own server")
    _expect(neighbours.session(HERE, tmp_path), Status.UNKNOWN, "4711")
    _files(tmp_path, proc__4711__stat=_stat(10))
    _expect(neighbours.session(HERE, tmp_path), Status.PASS)
    _files(tmp_path, proc__4711__stat=_stat(11))
    _expect(neighbours.session(HERE, tmp_path), Status.WARN, "session 11", "in 10")
    _expect(neighbours.session(FAR, tmp_path), Status.PASS, "not a process in sight")
    _files(tmp_path, proc__sys__kernel__sched_autogroup_enabled="0")
    _expect(neighbours.session(HERE, tmp_path), Status.PASS, "not grouped")


# The memory of the server


def _with_huge_pages(root: Path, chosen: str) -> Path:
    words = " ".join(f"[{word}]" if word == chosen else word for word in ("always", "madvise", "never"))
    return _files(root, sys__kernel__mm__transparent_hugepage__enabled=f"{words}\n")


@pytest.mark.parametrize(
    ("version", "chosen", "status"),
    [
        ("4.4.2", "never", Status.PASS),
        ("6.0.5", "madvise", Status.PASS),
        ("7.0.14", "always", Status.WARN),
        ("8.0.4", "always", Status.PASS),
        ("8.0.4", "never", Status.WARN),
        ("10.1.0-rc0", "madvise", Status.WARN),
    ],
)
def test_huge_pages_suit_the_version_of_the_server(tmp_path: Path, version: str, chosen: str, status: Status) -> None:
    """MongoDB's manual: off up to 7.0, on from 8.0."""
    root = _with_huge_pages(tmp_path, chosen)
    here = memory.huge_pages(replace(HERE, version=version), root)
    assert here == memory.huge_pages(None, root, own_version=version)
    _expect(here, status, chosen, version)
    assert here.hint is None or f"echo {'madvise' if version.startswith('7') else 'always'} > /sys/" in here.hint


def test_huge_pages_of_which_nothing_can_be_said(tmp_path: Path) -> None:
    """Those of another host, and what suits a server that is no MongoDB, or whose version isn't known."""
    root = _with_huge_pages(tmp_path, "always")
    for server in (FAR, TUNNEL):
        check = memory.huge_pages(server, root)
        _expect(check, Status.UNKNOWN, server.address)
        assert check.figures == {}
    _expect(memory.huge_pages(replace(HERE, engine="FerretDB", version="7.0.42"), root), Status.UNKNOWN, "always")
    _expect(memory.huge_pages(replace(HERE, version="unknown"), root), Status.UNKNOWN, "always")
    _expect(memory.huge_pages(None, root, own_version=None), Status.UNKNOWN, "always")


def test_a_checkup_asks_what_suits_the_server_that_will_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "mongod"
    program.write_text("#!/bin/sh\necho db version v8.0.4\n")
    program.chmod(0o755)
    asked: list[object] = []

    def huge_pages(deployment: Deployment | None, *, own_version: str | None = None) -> Check:
        asked.append(own_version if deployment is None else deployment)
        return Check(name="transparent_huge_pages", status=Status.PASS, evidence="")

    monkeypatch.setattr(memory, "huge_pages", huge_pages)
    monkeypatch.setattr(processor, "STEAL_WINDOW_S", 0.0)
    cases: list[dict[str, Any]] = [
        {"mongod": program},
        {"mongod": tmp_path / "none"},
        {"server_version": "99.1"},
        {"server": ServerInUse(deployment=FAR, free_bytes=None)},
    ]
    for given in cases:
        assert "transparent_huge_pages" in [check.name for check in examine(runs_dir=tmp_path, **given)]
    assert asked == ["8.0.4", None, "99.1", FAR]


@pytest.mark.parametrize("script", ["exit 0", "printf 'no \\033[31mversion'"])
def test_a_program_that_names_no_version_is_no_mongod(tmp_path: Path, script: str) -> None:
    program = tmp_path / "mongod"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    check = disk.mongod(flag=program)
    _expect(check, Status.FAIL, f"{program} --version names no version")
    assert check.hint and "\x1b" not in check.evidence


def test_a_mongod_that_hangs_is_asked_once_and_said_to_give_no_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program, asked = tmp_path / "mongod", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\necho $1 >> {asked}\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr(binary, "VERSION_DEADLINE_S", 2.0)
    monkeypatch.setattr(processor, "STEAL_WINDOW_S", 0.0)
    by_name = {check.name: check for check in examine(mongod=program, runs_dir=tmp_path)}
    _expect(by_name["mongod"], Status.FAIL, f"{program} --version gave no answer within 2 s")
    assert by_name["mongod"].hint
    assert by_name["transparent_huge_pages"].status is Status.UNKNOWN
    assert asked.read_text() == "--version\n"


BLOCK_DEVICE = ("0x0002", "0010001001100100")


def _with_virtio(root: Path, *devices: tuple[str, str], driver: bool = True) -> Path:
    """A virtual machine with these devices, each with its kind and what it agreed on with its driver."""
    _files(root, proc__cpuinfo="flags\t: fpu hypervisor lahf_lm\n")
    for number, (kind, features) in enumerate(devices):
        place = f"sys__bus__virtio__devices__virtio{number}__"
        _files(root, **{f"{place}device": f"{kind}\n", f"{place}features": f"{features}\n"})
        if driver:
            _files(root, **{f"{place}driver": ""})
    return root


@pytest.mark.parametrize(("features", "status"), [("0110010100000000", Status.WARN), ("0111101111111111", Status.PASS)])
def test_a_balloon_that_reports_free_pages_is_told(tmp_path: Path, features: str, status: Status) -> None:
    """Bit 5 of the features says it."""
    root = _with_virtio(tmp_path, BLOCK_DEVICE, ("0x0005", features))
    for server in (None, HERE):
        check = memory.free_page_reporting(server, root)
        _expect(check, status)
        assert check.figures == {"reporting": status is Status.WARN}
    _expect(memory.free_page_reporting(FAR, root), Status.UNKNOWN, FAR.address)


def test_a_balloon_without_a_driver_reports_nothing(tmp_path: Path) -> None:
    root = _with_virtio(tmp_path, ("0x0005", "0110010100000000"), driver=False)
    _expect(memory.free_page_reporting(None, root), Status.PASS)


def test_a_virtual_machine_without_a_balloon_may_give_memory_back_in_other_ways(tmp_path: Path) -> None:
    root = _with_virtio(tmp_path, BLOCK_DEVICE, ("0x0019", "0000010000000000"))
    _expect(memory.free_page_reporting(None, root), Status.UNKNOWN, "no virtio balloon")
    _files(root, proc__cpuinfo="flags\t: fpu lahf_lm\n")
    _expect(memory.free_page_reporting(None, root), Status.PASS, "no virtual machine")


# The generator itself


@pytest.mark.parametrize(
    ("ceilings", "status"),
    [
        ({1: 2e6}, Status.PASS),
        ({1: 2e6, 2: 3.8e6, 4: 7e6}, Status.PASS),
        ({1: 2e6, 2: 2.1e6}, Status.WARN),
        ({1: 0.0}, Status.WARN),
    ],
)
def test_generator_ceiling(ceilings: dict[int, float], status: Status) -> None:
    check = judge_ceilings(ceilings)
    _expect(check, status, "on 1 thread")
    assert check.figures["ceiling_by_threads_ops_per_s"] == {str(count): rate for count, rate in ceilings.items()}


@pytest.mark.parametrize(
    ("ceiling", "status"),
    [(184_000.0, Status.PASS), (59_000.0, Status.WARN), (19_000.0, Status.FAIL), (0.0, Status.FAIL)],
)
def test_ceiling_over_sockets(ceiling: float, status: Status) -> None:
    check = judge_socket_ceiling(ceiling, core_count=2)
    _expect(check, status, "on 1 engine thread, 32 connections", "on another core")
    assert check.figures["ceiling_ops_per_s"] == ceiling
    _expect(judge_socket_ceiling(ceiling, core_count=1), status, "the same core")


def test_ceilings_are_measured_from_one_thread_to_all_cores() -> None:
    assert [thread_counts(count) for count in (1, 2, 3, 8, 12)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 4, 8],
        [1, 2, 4, 8, 12],
    ]


@pytest.mark.parametrize(("p99_ns", "status"), [(40_000, Status.PASS), (400_000, Status.WARN)])
def test_generator_lag(p99_ns: int, status: Status) -> None:
    beside = judge_lag(p50_ns=5_000, p99_ns=p99_ns, beside_server=True)
    _expect(beside, status, "20 000 ops/s", "p50 5.00 µs", "beside a server on this host")
    apart = judge_lag(p50_ns=5_000, p99_ns=p99_ns, beside_server=False)
    _expect(apart, status, "with a server on another host")
    assert (beside.figures["beside_server"], apart.figures["beside_server"]) == (True, False)


def test_lag_is_measured_with_the_waits_that_a_run_would_have() -> None:
    """The engine goes by the addresses: all of the loopback, or not."""
    assert shares_host(None)
    both = replace(HERE, shards=(FAR.address,))
    shown = [shares_host(ServerInUse(deployment=each, free_bytes=None)) for each in (HERE, TUNNEL, FAR, both)]
    assert shown == [True, True, False, False]


# All of them


def test_a_whole_checkup_runs_here_and_a_check_that_breaks_does_not_end_it(tmp_path: Path) -> None:
    def broken() -> Check:
        raise ZeroDivisionError("none")

    extra = Check(name="ceiling", status=Status.PASS, evidence="1 M/s")
    checks = list(
        examine(
            mongod=tmp_path / "none",
            directory=tmp_path,
            runs_dir=tmp_path,
            extra=[("bad", broken), ("ceiling", lambda: extra)],
        )
    )
    assert [check.name for check in checks[-3:]] == ["runs_disk", "bad", "ceiling"]
    assert checks[-2].status is Status.FAIL
    assert "ZeroDivisionError" in checks[-2].evidence
    assert checks[-1] is extra
    assert len({check.name for check in checks}) == len(checks)
    assert all(check.evidence for check in checks)
    assert not [check for check in checks[:-2] if "the check broke" in check.evidence]


def test_what_a_workload_needs_is_held_against_what_there_is(tmp_path: Path) -> None:
    planned = Planned(data_bytes=1 << 60, connections=50_000, threads=2)
    by_name = {check.name: check for check in examine(directory=tmp_path, runs_dir=tmp_path, planned=planned)}
    assert by_name["server_disk"].status is Status.FAIL
    assert by_name["open_files"].figures.get("needed_files", 50_128) == 50_128


def test_a_workload_that_reads_elsewhere_needs_sockets_for_both() -> None:
    planned = Planned(data_bytes=1, connections=50_000, threads=2, sockets=2)
    figures = next(check for check in examine(planned=planned) if check.name == "open_files").figures
    assert figures.get("needed_files", 100_128) == 100_128


def test_with_a_server_given_nothing_is_said_of_one_of_our_own(tmp_path: Path) -> None:
    server = ServerInUse(deployment=FAR, free_bytes=GIB)
    by_name = {check.name: check for check in examine(runs_dir=tmp_path, server=server)}
    assert not by_name.keys() & {"mongod", "data_directory"}
    assert "192.0.2.1" in by_name["server_disk"].evidence


def test_needs_of_no_workload_are_refused() -> None:
    with pytest.raises(UsageError, match="connections is what a workload needs, and no workload is given"):
        api_checkup(overrides={"connections": "0"})
    with pytest.raises(UsageError, match=r"^records is what a workload needs"):
        api_checkup(overrides={"connections": None, "data.records": "1M"})


def test_the_worst_status_wins() -> None:
    def of(*statuses: Status) -> Status:
        return worst(Check(name="x", status=status, evidence="") for status in statuses)

    assert of(Status.WARN, Status.PASS) is Status.WARN
    assert of(Status.PASS, Status.UNKNOWN) is Status.UNKNOWN
    assert of(Status.FAIL, Status.UNKNOWN, Status.WARN) is Status.FAIL
    assert of() is Status.PASS

"""What can be said of a fault, and what is refused before anything is done."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from brimline.errors import TargetError, UsageError
from brimline.plan.model import ReplicaSet
from brimline.servers.deployment import Deployment
from brimline.servers.faults.fault import CommandFault, LabFault, fault_on, parse_fault
from brimline.servers.faults.kinds import KINDS, FaultKind
from brimline.servers.faults.said import said_between
from brimline.servers.faults.site import Site, site_of
from brimline.servers.lab import disk_rate, restart, small_disk
from brimline.servers.lab.cpu_share import group_name
from brimline.servers.lab.disk_rate import require_rate
from brimline.servers.lab.leftovers import sweep_labs
from brimline.servers.lab.lifecycle import ServerLook
from brimline.servers.lab.state import Lab, LabServer, Role, claim, write_lab
from brimline.servers.processes import identify
from tests.support.small_disk import small_disk as mounted
from tests.support.waiting import eventually

SERVERS = tuple(LabServer(address=f"127.0.0.1:500{number}", role="member", set_name="s") for number in (1, 2, 3))


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Deployment(
        address="127.0.0.1:5001", uri_redacted="mongodb://127.0.0.1:5001", kind="replica-set member", engine="MongoDB",
        version="8.0.0", git_version="", local=False, pid=None, cpu_count=None,
    )  # fmt: skip


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return replace(claim(tmp_path / "labs", name="s", topology="replica set", outlives=True), servers=SERVERS)


@pytest.mark.parametrize("name", KINDS)
def test_every_fault_says_what_it_is_and_how_it_is_undone(deployment: Deployment, lab: Lab, name: str) -> None:
    kind = KINDS[name]
    site = Site(deployment=deployment, lab=lab, server=SERVERS[0])
    assert parse_fault(name).kind is kind
    assert kind.what and "{" not in kind.what
    assert bool(kind.by_hand(site, "")) == (name != "step-down")


def test_a_command_is_more_than_a_word() -> None:
    asked = parse_fault("ssh db1 sudo systemctl stop mongod", "ssh db1 sudo systemctl start mongod")
    assert (asked.name, asked.undo) == ("command", "ssh db1 sudo systemctl start mongod")
    for text, undo in (("kil", ""), ("", ""), ("kill:9", ""), ("kill", "ssh db1 start")):
        with pytest.raises(UsageError):
            parse_fault(text, undo)


def test_nothing_is_done_to_servers_of_others_by_itself(deployment: Deployment) -> None:
    site = site_of(deployment)
    assert site.lab is None
    with pytest.raises(UsageError, match="aren't those of a lab"):
        fault_on(parse_fault("kill"), site)
    with pytest.raises(UsageError, match="several members"):
        fault_on(parse_fault("step-down"), site)
    with pytest.raises(UsageError, match="lab's alone"):
        site_of(deployment, at="2")
    of_set = replace(deployment, replica_set=ReplicaSet(name="s", members=("a:1", "b:1"), selection_timeout_ns=1))
    assert fault_on(parse_fault("step-down"), site_of(of_set)).by_hand == ""
    assert fault_on(parse_fault("ssh db1 stop", "ssh db1 start"), site).by_hand == "ssh db1 start"


def test_the_only_server_goes_where_that_is_meant(deployment: Deployment, lab: Lab) -> None:
    alone = replace(lab, servers=SERVERS[:1])
    site = Site(deployment=deployment, lab=alone, server=SERVERS[0])
    for name in ("kill", "stop", "pause"):
        with pytest.raises(UsageError, match="the only server"):
            fault_on(parse_fault(name), site)
        assert fault_on(parse_fault(name), site, alone=True).at == "127.0.0.1:5001"


def test_a_lab_whose_only_server_is_struck_stays_until_it_is_up_again(deployment: Deployment, lab: Lab) -> None:
    """Any other command of brimline's took it away meanwhile, data and all: no server of it ran any more."""
    alone = replace(lab, servers=SERVERS[:1], phase="up")
    write_lab(alone)
    site = Site(deployment=deployment, lab=alone, server=SERVERS[0])
    fault = LabFault(kind=FaultKind(name="x", what="x", do=lambda *_: None), argument="", site=site)
    fault.do()
    assert sweep_labs(alone.directory.parent) == () and alone.directory.exists()
    fault.undo()
    assert sweep_labs(alone.directory.parent) == (alone.name,) and not alone.directory.exists()


def test_one_that_is_alone_has_nobody_to_be_parted_from(deployment: Deployment, lab: Lab) -> None:
    site = Site(deployment=deployment, lab=replace(lab, servers=SERVERS[:1]), server=SERVERS[0])
    with pytest.raises(UsageError, match="no other members") as refused:
        fault_on(parse_fault("partition"), site, alone=True)
    assert "isolate" in str(refused.value.hint)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.of_lab and kind.takes_away])
def test_where_the_load_follows_nobody_a_shard_is_not_left_to_another(
    deployment: Deployment, lab: Lab, name: str
) -> None:
    """What only slows a server needs no other; of shards that are one server each, it is meant or refused as ever."""
    shards = replace(deployment, kind="client-routed shards", shards=("127.0.0.1:6001",))
    site = Site(deployment=shards, lab=lab, server=SERVERS[0])
    with pytest.raises(UsageError, match="doesn't follow it there") as refused:
        fault_on(parse_fault(name), site, alone=True)
    assert "behind a mongos" in str(refused.value.hint)


def test_of_a_cluster_the_primary_of_a_shard_is_struck(
    deployment: Deployment, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A config server is a primary as well, and holds no data."""
    roles: tuple[Role, ...] = ("config server", "shard", "shard", "mongos")
    cluster = tuple(
        LabServer(address=f"127.0.0.1:600{number}", role=role, set_name=None if role == "mongos" else f"s{number // 2}")
        for number, role in enumerate(roles)
    )
    looks = [
        ServerLook(server=server, pid=1, state=state)
        for server, state in zip(cluster, ("PRIMARY", "SECONDARY", "PRIMARY", "up"), strict=True)
    ]
    monkeypatch.setattr("brimline.servers.faults.site.look_at", lambda _lab: looks)
    monkeypatch.setattr("brimline.servers.faults.site.lab_of", lambda _deployment: replace(lab, servers=cluster))
    assert site_of(deployment).server == cluster[2]
    assert site_of(deployment, at="secondary").server == cluster[1]


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.by_line])
def test_a_line_that_is_not_there_cannot_be_cut(deployment: Deployment, lab: Lab, name: str) -> None:
    site = Site(deployment=deployment, lab=lab, server=SERVERS[0])
    with pytest.raises(UsageError, match="no line stands before") as refused:
        fault_on(parse_fault(name), site)
    assert "--delay 0ms --between all" in str(refused.value.hint)


@pytest.mark.parametrize("text", ["slow-disk:soon", "slow-disk:0B", "full-disk:1MB", "full-disk:much", "full-disk"])
def test_a_disk_that_cannot_be_had_is_refused(deployment: Deployment, lab: Lab, text: str) -> None:
    """The machine's own disk is never filled."""
    (lab.directory_of(SERVERS[0]) / "data").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"disk"):
        fault_on(parse_fault(text), Site(deployment=deployment, lab=lab, server=SERVERS[0]))


def test_a_small_disk_is_filled_and_emptied_and_nothing_else_is(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with pytest.raises(TargetError, match="nothing else is filled"):
        small_disk.fill(tmp_path / "own")
    with mounted(tmp_path / "disk", "2m") as place:
        assert small_disk.is_small(place)
        small_disk.fill(place)
        with pytest.raises(OSError, match="No space"):
            (place / "more").write_bytes(bytes(10_000))
        small_disk.empty(place)
        (place / "more").write_bytes(bytes(10_000))


def test_a_disk_that_memory_could_not_hold_is_refused_and_never_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel ends programs where memory is full: the servers, and others that have nothing to do with it."""
    monkeypatch.setattr(small_disk, "memory_left_bytes", lambda: 3_000_000_000)
    small_disk.require_memory(1_500_000_000)
    with pytest.raises(UsageError, match=r"99.0 TB is in memory, of which 3.00 GB are left"):
        small_disk.require_memory(99_000_000_000_000)
    with mounted(tmp_path / "disk", "2m") as place:
        # More than the room, which is 2.10 MB: what is left then is the servers', and the host's.
        monkeypatch.setattr(small_disk, "memory_left_bytes", lambda: 4_000_000)
        with pytest.raises(TargetError, match=r"4.00 MB of memory are left, of which it may take half"):
            small_disk.fill(place)
        assert list(place.iterdir()) == []


@pytest.mark.parametrize("text", ["slow-network:-5ms", "slow-disk:0B", "full-disk:0"])
def test_what_stands_behind_a_name_is_read_before_there_is_a_server(text: str) -> None:
    with pytest.raises(UsageError, match=r"disk|network"):
        parse_fault(text)


@pytest.fixture
def version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of control groups of version 2, as files: what would be written to the kernel."""
    root = tmp_path / "cgroup"
    root.mkdir()
    (root / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (root / "cgroup.procs").write_text("")
    monkeypatch.setattr("brimline.servers.lab.disk_rate._ROOT", root)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return root


def test_a_disk_is_held_and_let_go_by_control_groups_of_version_2(version_2: Path, tmp_path: Path) -> None:
    held = disk_rate.hold_disk(tmp_path / "lab", server="one", pid=os.getpid(), device="254:0", bytes_per_s=1_000_000)
    (group,) = (each for each in version_2.iterdir() if each.is_dir())
    assert (version_2 / "cgroup.subtree_control").read_text() == "+io"
    assert (group / "io.max").read_text() == "254:0 rbps=1000000 wbps=1000000"
    assert (group / "cgroup.procs").read_text() == str(os.getpid())
    disk_rate.let_go(replace(held, before=version_2), pid=os.getpid())
    assert (group / "io.max").read_text() == "254:0 rbps=max wbps=max"
    assert (version_2 / "cgroup.procs").read_text() == str(os.getpid())


def test_of_version_2_a_server_keeps_the_group_of_its_share_of_the_processors(
    version_2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = group_name(tmp_path / "lab", "one")
    (version_2 / name).mkdir()
    monkeypatch.setattr(disk_rate, "_group_of", lambda _pid, _controller: name)
    held = disk_rate.hold_disk(tmp_path / "lab", server="one", pid=7, device="254:0", bytes_per_s=1)
    assert held.group == held.before
    disk_rate.let_go(held, pid=None)
    assert (version_2 / name / "io.max").read_text() == "254:0 rbps=max wbps=max"
    assert (version_2 / name).is_dir() and (version_2 / "cgroup.procs").read_text() == ""


@pytest.mark.parametrize("first", [False, True], ids=["cgroup 2", "cgroup 1"])
@pytest.mark.parametrize("last", ["SECONDARY", "ended"])
def test_starting_a_lab_lets_a_disk_go_that_a_killed_failover_held(
    version_2: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch, first: bool, last: str
) -> None:
    """Every later run was measured at that rate. And the lab counts as struck only while something of it is left."""
    if first:
        (version_2 / "blkio").mkdir()
    held = disk_rate.hold_disk(
        lab.directory, server=SERVERS[1].directory_name, pid=os.getpid(), device="254:0", bytes_per_s=1_000_000
    )
    lab.struck_file.touch()
    looks = [
        ServerLook(server=server, pid=1, state=state)
        for server, state in zip(SERVERS, ("PRIMARY", "SECONDARY", last), strict=True)
    ]
    monkeypatch.setattr(restart, "find_lab", lambda _name: lab)
    monkeypatch.setattr(restart, "look_at", lambda _lab: looks)
    monkeypatch.setattr(restart, "server_process", lambda *_: identify(os.getpid()))
    said: list[str] = []
    assert restart.start_servers("s", ("1", "2"), deadline_s=5, say=said.append) == []
    assert said == ["the disk of 127.0.0.1:5002 was held to a rate, and is let go"]
    assert {file: (held.group / file).read_text() for file in held.released} == held.released
    assert not disk_rate.restore_disk(lab.directory, server=SERVERS[1].directory_name)
    assert lab.struck_file.exists() == (last == "ended")


def test_without_a_controller_of_disks_or_the_right_to_it_none_is_held(version_2: Path, tmp_path: Path) -> None:
    (version_2 / "cgroup.controllers").write_text("cpu memory\n")
    with pytest.raises(UsageError, match="no control groups for block devices"):
        require_rate(tmp_path)
    (version_2 / "cgroup.subtree_control").mkdir()  # as a tree that may not be written to
    with pytest.raises(TargetError, match="can't be held to a rate"):
        disk_rate.hold_disk(tmp_path / "lab", server="one", pid=7, device="254:0", bytes_per_s=1)


def test_only_root_makes_disks_small_or_slow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for require in (lambda: require_rate(tmp_path), small_disk.require_mounting):
        with pytest.raises(UsageError, match="only root"):
            require()


@pytest.mark.parametrize("text", ["slow-network:soon", "slow-network:local", "slow-network:1%"])
def test_a_slow_network_has_a_delay_or_a_rate(deployment: Deployment, lab: Lab, text: str) -> None:
    with pytest.raises(UsageError, match=r"slow.network"):
        fault_on(parse_fault(text), Site(deployment=deployment, lab=lab, server=SERVERS[0]))


def test_a_command_that_fails_says_what_it_said(tmp_path: Path) -> None:
    made = tmp_path / "made"
    CommandFault(command=f"touch {made}", undoing="").do()
    assert made.exists()
    with pytest.raises(TargetError, match="ended with 3: no such host") as failed:
        CommandFault(command="echo no such host >&2; exit 3", undoing="").do()
    assert "try it" in str(failed.value.hint)
    secret = CommandFault(command="echo password=hunter2; false", undoing="mongosh --password=hunter2 x")
    with pytest.raises(TargetError) as told:
        secret.do()
    assert "hunter2" not in f"{told.value.message} {told.value.hint} {secret.what} {secret.by_hand}"


def test_a_command_is_not_reached_by_what_is_pressed_at_the_terminal(tmp_path: Path) -> None:
    session = tmp_path / "session"
    CommandFault(command=f"cut -d ' ' -f 6 /proc/self/stat > {session}", undoing="").do()
    assert int(session.read_text()) != os.getsid(0)


def test_a_server_that_a_command_starts_behind_itself_lives_on(tmp_path: Path) -> None:
    """`mongod … &` holds what the shell could say to open: nobody waits for that, and nothing ends it."""
    begun = tmp_path / "begun"
    before_s = time.monotonic()
    CommandFault(command="", undoing=f"sleep 60 & echo $! > {begun}").undo()
    assert time.monotonic() - before_s < 30
    process = int(begun.read_text())
    try:
        assert Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
        assert Path(f"/proc/{process}/fd/1").readlink().name.startswith("memfd:"), (
            "to a pipe it could not go on writing"
        )
    finally:
        os.kill(process, signal.SIGKILL)


def test_a_command_that_does_not_end_is_ended_with_all_that_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brimline.servers.faults.fault.COMMAND_WITHIN_S", 0.3)
    begun = tmp_path / "begun"
    with pytest.raises(TargetError, match=r"did not end within 0\.3 s"):
        CommandFault(command=f"sleep 60 & echo $! > {begun}; wait", undoing="").do()
    process = Path(f"/proc/{int(begun.read_text())}/stat")
    assert eventually(lambda: not process.exists() or process.read_text().split()[2] == "Z")


def test_a_line_that_does_not_follow_leaves_no_other_cut(
    deployment: Deployment, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    def order(_lab: Lab, server: LabServer) -> None:
        told.append(server)
        if server != SERVERS[2]:
            raise TargetError(f"{server.address} doesn't follow", hint="")

    monkeypatch.setattr("brimline.servers.faults.kinds.order", order)
    with pytest.raises(TargetError, match="5001"):
        KINDS["partition"].undo(Site(deployment=deployment, lab=lab, server=SERVERS[0]), "")
    assert told == list(SERVERS)


def test_what_servers_said_of_a_fault_is_read_from_their_logs(deployment: Deployment, lab: Lab) -> None:
    permitted = "Transition to primary complete; database writes are now permitted"
    lines = [
        ("2026-11-26T18:38:03.297+00:00", "REPL", permitted, {}),
        ("2026-11-26T18:38:02.100+00:00", "REPL", "Replica set state transition",
         {"newState": "PRIMARY", "oldState": "SECONDARY"}),
        ("2026-11-26T18:38:02.000+00:00", "ELECTION", "VoteRequester processResponse", {}),
        ("2026-11-26T18:30:02.000+00:00", "ELECTION", "Starting an election, since we've seen no PRIMARY", {}),
    ]  # fmt: skip
    place = lab.directory_of(SERVERS[1])
    place.mkdir(parents=True)
    entries = [
        json.dumps({"t": {"$date": at}, "s": "I", "c": component, "id": 1, "ctx": "x", "msg": text, "attr": attributes},
                   separators=(",", ":"))
        for at, component, text, attributes in lines
    ]  # fmt: skip
    (place / "mongod.log").write_text("\n".join([*entries, "no JSON", '{"msg":"MongoDB starting']))
    begin = 1_795_718_280 * 10**9  # 18:38:00
    said = said_between(deployment, lab, begin, begin + 10 * 10**9)
    assert [(at - begin, address, text) for at, address, text in said] == [
        (2_100_000_000, "127.0.0.1:5002", "SECONDARY → PRIMARY"),
        (3_297_000_000, "127.0.0.1:5002", permitted),
    ]


def test_servers_that_are_no_labs_are_asked_what_they_said_and_their_clocks_may_be_wrong(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One doesn't answer; the clock of the other is an hour fast."""
    begin, hour = datetime(2026, 11, 26, 18, 38, tzinfo=UTC), timedelta(hours=1)
    line = {"t": {"$date": (begin + hour).isoformat()}, "msg": "Rolling back to a stable timestamp", "attr": {}}
    answers = {"getLog": {"log": ["no JSON", json.dumps(line, separators=(",", ":"))]},
               "hello": {"localTime": (begin + hour).replace(tzinfo=None)}}  # fmt: skip

    @contextmanager
    def client(address: str, **_: object) -> Iterator[Any]:
        if address == "b:1":
            raise AutoReconnect("refused")
        yield SimpleNamespace(admin=SimpleNamespace(command=lambda name, *_: answers[name]))

    begin_ns = round(begin.timestamp()) * 10**9
    monkeypatch.setattr("brimline.servers.faults.said.control_client", client)
    monkeypatch.setattr("brimline.servers.faults.said._native.unix_now_ns", lambda: begin_ns)
    of_set = replace(deployment, replica_set=ReplicaSet(name="s", members=("b:1", "a:1"), selection_timeout_ns=1))
    assert said_between(of_set, None, begin_ns - 10, begin_ns + 10) == [
        (begin_ns, "a:1", "Rolling back to a stable timestamp")
    ]


def test_who_has_the_role_when_it_happens_is_struck(
    deployment: Deployment, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [
        ServerLook(server=server, pid=1, state=state)
        for server, state in zip(SERVERS, ("SECONDARY", "PRIMARY", "SECONDARY"), strict=True)
    ]
    monkeypatch.setattr("brimline.servers.faults.site.look_at", lambda _lab: looks)
    site = Site(deployment=deployment, lab=lab, server=SERVERS[0], at="primary")
    site.look_again()
    assert site.server == SERVERS[1]
    named = Site(deployment=deployment, lab=lab, server=SERVERS[0])
    named.look_again()
    assert named.server == SERVERS[0]

"""What a lab is to be, what its set is told, and what the sweep of labs takes and leaves."""

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.api.lab import lab_spec
from brimline.errors import TargetError, UsageError
from brimline.servers import ServerBinary
from brimline.servers.lab import certificates, mongodb
from brimline.servers.lab.access import connection_string, make_secrets, write_uris
from brimline.servers.lab.leftovers import sweep_labs
from brimline.servers.lab.lifecycle import find_lab, take_down
from brimline.servers.lab.replica_sets import set_configuration
from brimline.servers.lab.sharding import require_mongos
from brimline.servers.lab.spec import LabSpec, check_name, members_of
from brimline.servers.lab.state import Lab, LabServer, claim, damaged_names, read_lab, write_lab
from brimline.servers.processes import ProcessIdentity, identify
from tests.support.waiting import eventually
from tests.unit.servers.test_server_binary import program

_GONE = ProcessIdentity(pid=2**22 - 3, start_ticks=1, executable="/gone")


# What it is to be


def test_members_are_said_by_number() -> None:
    first, second, third, arbiter = members_of(3, priorities=(2, 1), hidden=(3,), arbiter=True)
    assert [each.priority for each in (first, second, third, arbiter)] == [2, 1, 0, 0]
    assert [each.hidden for each in (first, second, third, arbiter)] == [False, False, True, False]
    assert arbiter.arbiter
    (_, _, delayed) = members_of(3, delays_s={3: 60})
    assert (delayed.delay_s, delayed.hidden, delayed.priority) == (60, True, 0)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"replica_set": 0}, "can't have 0 members"),
        ({"replica_set": 8}, "8 members is too large"),
        ({"replica_set": 2, "hidden": (3,)}, "no member 3"),
        ({"replica_set": 2, "delays_s": {0: 5}}, "no member 0"),
        ({"replica_set": 2, "delays_s": {2: 0}}, "delay can't be"),
        ({"replica_set": 1, "priorities": (1.0, 1.0)}, "2 priorities for 1 member"),
        ({"replica_set": 1, "priorities": (1001.0,)}, "priority 1001"),
        ({"replica_set": 2, "priorities": (1.0, 1.0), "hidden": (2,)}, "hidden or delayed with priority 1"),
        ({"replica_set": 2, "hidden": (1, 2)}, "could become its primary"),
        ({"arbiter": True}, "belong to a replica set"),
        ({"shards": 2, "client_routed": 2}, "behind a mongos or client-routed"),
        ({"shards": 0}, "can't have 0 shards"),
        ({"client_routed": 17}, "can't have 17 shards"),
        ({"cache_gb": 0.1}, "can't be 0.1 GB"),
        ({"cpus": (4095,)}, "no processor 4095"),
        ({"cpu_share": 0.0}, "share of the processors can't be 0"),
        ({"replica_set": 1, "election_timeout_ms": 1}, "election timeout"),
    ],
)
def test_what_cannot_be_is_refused(words: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as raised:
        lab_spec(words)  # type: ignore[arg-type]
    assert raised.value.hint


def test_the_topology_follows_from_the_words() -> None:
    assert lab_spec({}).topology == "standalone"
    assert lab_spec({"replica_set": 1}).topology == "replica set"
    assert lab_spec({"client_routed": 2}).members == ()
    sharded = lab_spec({"shards": 2})
    assert (sharded.topology, sharded.set_count, len(sharded.members)) == ("sharded cluster", 2, 1)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "A", ".new-1", "x" * 41, "a b"])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(UsageError, match="can't be called"):
        check_name(name)


def test_the_configuration_names_the_delay_as_the_version_does() -> None:
    spec = LabSpec(members=members_of(2, delays_s={2: 60}, arbiter=True), election_timeout_ms=2000)
    addresses = ["h:1", "h:2", "h:3"]
    old, new = (
        set_configuration(spec, spec.members, addresses, set_name="lab", version=version)
        for version in ("4.4.2", "5.0.4")
    )
    assert old["members"][1] == {"_id": 1, "host": "h:2", "priority": 0.0, "hidden": True, "slaveDelay": 60}
    assert new["members"][1] == {"_id": 1, "host": "h:2", "priority": 0.0, "hidden": True, "secondaryDelaySecs": 60}
    assert new["members"][2] == {"_id": 2, "host": "h:3", "priority": 0.0, "arbiterOnly": True}
    assert new["settings"] == {"electionTimeoutMillis": 2000, "heartbeatIntervalMillis": 500}


def test_a_sharded_cluster_needs_a_mongos_of_the_same_release(tmp_path: Path) -> None:
    mongod = ServerBinary(path=program(tmp_path / "mongod", "echo db version v6.0.5"), source="flag")
    with pytest.raises(UsageError, match="needs mongos, and there is none") as raised:
        require_mongos(None, mongod=mongod)
    assert raised.value.hint is not None
    assert "client-routed shards are what can be had" in raised.value.hint
    old = program(tmp_path / "old", "echo mongos version v5.0.4")
    with pytest.raises(UsageError, match=r"mongos is 5.0.4 and mongod is 6.0.5"):
        require_mongos(old, mongod=mongod)
    other = program(tmp_path / "other", "echo some other program")
    with pytest.raises(UsageError, match="doesn't say which version it is"):
        require_mongos(other, mongod=mongod)
    same = program(tmp_path / "same", "echo mongos version v6.0.27")
    assert require_mongos(same, mongod=mongod) == same


# What is on disk


@pytest.fixture
def labs(tmp_path: Path) -> Path:
    return tmp_path / "labs"


def _lab(labs: Path, name: str = "one", *, outlives: bool = True) -> Lab:
    return claim(labs, name=name, topology="standalone", outlives=outlives)


def _server(lab: Lab, process: ProcessIdentity) -> LabServer:
    server = LabServer(address="127.0.0.1:1", role="standalone")
    lab.directory_of(server).mkdir()
    document = {"pid": process.pid, "start_ticks": process.start_ticks, "executable": process.executable}
    (lab.directory_of(server) / "server.json").write_text(json.dumps({"process": document}))
    return server


def test_a_lab_is_read_as_it_was_written_and_private(labs: Path) -> None:
    lab = replace(_lab(labs), user="brimline", uris=("mongodb://h/",), settings={"cache_gb": 1.0})
    lab = replace(lab, servers=(LabServer(address="h:1", role="member", set_name="s", priority=2.0),))
    write_lab(lab)
    assert read_lab(lab.directory) == lab
    assert {path.stat().st_mode & 0o777 for path in (labs, lab.directory, lab.secret)} == {0o700}


def test_a_name_is_taken_once(labs: Path) -> None:
    _lab(labs)
    with pytest.raises(UsageError, match='there is a lab called "one" already'):
        _lab(labs)
    assert [path.name for path in labs.iterdir()] == ["one"]


def test_the_sweep_takes_labs_that_nobody_can_use_and_leaves_the_others(labs: Path) -> None:
    us = _lab(labs, "starting-by-us").owner
    for phase in ("starting", "stopping"):
        write_lab(replace(_lab(labs, f"{phase}-by-nobody"), phase=phase, owner=_GONE))  # type: ignore[arg-type]
    write_lab(replace(_lab(labs, "bound-to-nobody", outlives=False), phase="up", owner=_GONE))
    write_lab(replace(_lab(labs, "bound-to-us", outlives=False), phase="up"))
    running, ended = _lab(labs, "up-and-running"), _lab(labs, "up-and-ended")
    _server(running, us)
    _server(ended, _GONE)
    for lab in (running, ended):
        write_lab(replace(lab, phase="up", owner=_GONE))
    booted = _lab(labs, "of-an-earlier-boot")
    write_lab(replace(booted, phase="up", scope=replace(booted.scope, boot_id="before")))
    foreign = _lab(labs, "of-another-host")
    write_lab(replace(foreign, owner=_GONE, scope=replace(foreign.scope, host="elsewhere", boot_id="theirs")))
    contained = _lab(labs, "of-a-container")
    write_lab(replace(contained, owner=_GONE, scope=replace(contained.scope, pid_namespace="pid:[1]")))
    (labs / f".new-{_GONE.pid}-1-x").mkdir()
    (labs / f".new-{us.pid}-{us.start_ticks}-y").mkdir()
    taken = {"bound-to-nobody", "of-an-earlier-boot", "starting-by-nobody", "stopping-by-nobody", "up-and-ended"}
    assert set(sweep_labs(labs)) == taken
    assert {path.name for path in labs.iterdir()} == {
        "starting-by-us",
        "bound-to-us",
        "up-and-running",
        "of-another-host",
        "of-a-container",
        f".new-{us.pid}-{us.start_ticks}-y",
    }
    assert os.getpid() == us.pid, "and we live"


def test_the_sweep_ends_the_processes_of_a_lab_and_no_others(labs: Path) -> None:
    """Whatever they run: a mongod whose directory vanishes ends by itself, and would prove nothing."""
    ours, other = (subprocess.Popen(["sleep", "100"]) for _ in range(2))
    try:
        assert eventually(lambda: all(_runs_sleep(process) for process in (ours, other)))
        lab = _lab(labs)
        known, stranger = identify(ours.pid), identify(other.pid)
        assert known is not None
        assert stranger is not None
        _server(lab, known)
        # The same pid as another process's, of an earlier start: it was given away since.
        second = LabServer(address="127.0.0.1:2", role="standalone")
        lab.directory_of(second).mkdir()
        stale = {"pid": stranger.pid, "start_ticks": stranger.start_ticks - 1, "executable": stranger.executable}
        (lab.directory_of(second) / "server.json").write_text(json.dumps({"process": stale}))
        write_lab(replace(lab, phase="stopping", owner=_GONE))
        assert sweep_labs(labs) == ("one",)
        assert ours.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


def _runs_sleep(process: subprocess.Popen[bytes]) -> bool:
    identity = identify(process.pid)
    return identity is not None and "python" not in identity.executable


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format_version": 1}'])
def test_a_lab_whose_file_is_damaged_can_be_taken_down(labs: Path, content: str) -> None:
    lab = _lab(labs)
    process = subprocess.Popen(["sleep", "60"])
    try:
        assert eventually(lambda: _runs_sleep(process))
        identity = identify(process.pid)
        assert identity is not None
        _server(lab, identity)
        (lab.directory / "lab.json").write_text(content)
        assert damaged_names(labs) == ["one"]
        with pytest.raises(UsageError, match=r"lab.json is damaged") as raised:
            find_lab("one", parent=labs)
        assert raised.value.hint == "brimline lab down one removes it"
        take_down("one", parent=labs)
        assert process.wait(timeout=10) == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()
    assert not lab.directory.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 5),
        ("name", "another"),
        ("topology", None),
        ("phase", "lost"),
        ("outlives", "perhaps"),
        ("owner", {"pid": 2**70, "start_ticks": 1, "executable": "/x"}),
        ("owner", {"pid": "7", "start_ticks": 1, "executable": "/x"}),
        ("owner", {"pid": 7, "start_ticks": None, "executable": "/x"}),
        ("owner", [7]),
        ("scope", {"host": 1, "boot_id": 2, "pid_namespace": 3}),
        ("servers", 5),
        ("servers", [5]),
        ("servers", [{"address": 5, "role": "member"}]),
        ("servers", [{"address": "127.0.0.1:1", "role": 5}]),
        ("servers", [{"address": "127.0.0.1:1", "role": "member", "set_name": []}]),
        ("servers", [{"address": "127.0.0.1:1", "role": "member", "behind": "../../elsewhere"}]),
        ("servers", [{"address": "nowhere", "role": "member"}]),
        ("uris", [5]),
        ("user", {}),
        ("settings", []),
        ("settings", {"network": 5}),
        ("settings", {"network": {"delay_ns": "x"}}),
        ("settings", {"network": {"between": "us"}}),
        ("version", []),
    ],
)
def test_a_lab_of_which_something_is_wrong_is_damaged_and_harms_nobody(labs: Path, field: str, value: object) -> None:
    lab = _lab(labs)
    assert read_lab(lab.directory) is not None
    path = lab.directory / "lab.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    assert read_lab(lab.directory) is None
    assert sweep_labs(labs) == ()
    assert damaged_names(labs) == ["one"]
    take_down("one", parent=labs)
    assert not lab.directory.exists()


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, json.dumps({"process": {"pid": 2**70, "start_ticks": 1, "executable": "/x"}}), '{"process": 5}'],
)
def test_what_can_t_be_a_process_stops_nothing(labs: Path, content: str) -> None:
    lab = _lab(labs)
    write_lab(replace(lab, phase="up"))
    state = lab.directory / "servers" / "127.0.0.1-1" / "server.json"
    state.parent.mkdir()
    state.write_text(content)
    take_down("one", parent=labs)
    assert not lab.directory.exists()


def test_what_is_no_lab_is_never_taken_down(labs: Path) -> None:
    (labs / "junk").mkdir(parents=True)
    assert damaged_names(labs) == []
    with pytest.raises(UsageError, match="there is no lab"):
        take_down("junk", parent=labs)
    assert (labs / "junk").is_dir()


def test_a_link_or_a_file_among_labs_is_left_alone(labs: Path, tmp_path: Path) -> None:
    target = replace(_lab(tmp_path / "elsewhere"), owner=_GONE)
    write_lab(target)
    labs.mkdir()
    (labs / "link").symlink_to(target.directory)
    (labs / "file").write_text("{")
    assert sweep_labs(labs) == ()
    assert target.directory.exists()
    assert sweep_labs(tmp_path / "none") == ()


# Secrets


def test_the_password_is_in_private_files_only(labs: Path) -> None:
    lab = replace(_lab(labs), user="brimline")
    make_secrets(lab)
    assert lab.password_file is not None
    password = lab.password_file.read_text()
    assert len(password) >= 24
    shown = connection_string(lab, ["h:1", "h:2"], set_name="s")
    assert shown == "mongodb://brimline@h:1,h:2/?replicaSet=s&authSource=admin"
    whole = connection_string(lab, ["h:1", "h:2"], set_name="s", with_password=True)
    write_uris(lab, [whole])
    write_lab(replace(lab, uris=(shown,)))
    holding = {path.name for path in lab.directory.rglob("*") if path.is_file() and password in path.read_text()}
    assert holding == {"password", "uri"}
    assert {path.stat().st_mode & 0o777 for path in lab.secret.iterdir()} == {0o600}


def test_without_openssl_tls_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(TargetError, match="there is no openssl command") as raised:
        certificates.make_certificates(tmp_path)
    assert raised.value.hint is not None
    assert "leave --tls out" in raised.value.hint


def test_a_lab_is_taken_down_although_nothing_can_be_written(labs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full: taking the lab away is what makes room."""
    lab = _lab(labs)
    write_lab(replace(lab, phase="up"))

    def full(*_words: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("brimline.servers.lab.state.write_json", full)
    take_down("one", parent=labs)
    assert not lab.directory.exists()


# What its members are


@pytest.mark.parametrize(("primary", "third"), [("b", "SECONDARY"), ("", "RECOVERING")])
def test_members_are_what_their_primary_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, primary: str, third: str
) -> None:
    """A secondary heard of the third one a heartbeat ago. Without a primary, the first that answers is believed."""
    servers = tuple(LabServer(address=each, role="member", set_name="s") for each in "abc")
    lab = replace(claim(tmp_path, name="s", topology="replica set", outlives=True), servers=servers)

    def seen(_: Lab, address: str) -> dict[str, str]:
        own = "PRIMARY" if address == primary else "SECONDARY"
        return {"a": "SECONDARY", "b": own, "c": "SECONDARY" if own == "PRIMARY" else "RECOVERING"}

    monkeypatch.setattr(mongodb, "server_process", lambda *_: _GONE)
    monkeypatch.setattr(mongodb.replica_sets, "member_states", seen)
    assert mongodb.view_of_set(lab, "s")["c"] == third

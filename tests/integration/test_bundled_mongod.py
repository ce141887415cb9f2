"""The bundled mongod, for real: started, watched, stopped, and swept after every kind of end."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pymongo
import pytest

from brimline.dataset import MANIFEST_COLLECTION, Manifest, State, complete, inspect, prepare
from brimline.errors import InvalidRun, TargetError, UsageError
from brimline.monitor import ServerSampler, check_agreement, read_opcounters
from brimline.servers import (
    Deployment,
    bundled,
    control_client,
    external,
    server_documents,
    sweep,
)
from brimline.servers.binary import ServerBinary
from brimline.servers.processes import ProcessIdentity, identify, is_alive
from brimline.servers.state import read_server
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod
bundled_module = sys.modules["brimline.servers.bundled"]


@pytest.fixture(scope="module", autouse=True)
def _needs_a_mongod() -> None:
    required_mongod()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with bundled(directory=tmp_path_factory.mktemp("server"), cache_gb=0.25) as deployment:
        yield deployment


def _eventually(condition: Callable[[], bool], *, timeout_s: float = 20.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def _fake_mongod(path: Path, script: str) -> ServerBinary:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return ServerBinary(path=path, source="flag")


# Start and stop


def test_a_deployment_states_what_the_server_is(server: Deployment) -> None:
    assert server.engine == "MongoDB"
    assert server.is_mongodb
    assert not server.scripted
    assert server.kind == "standalone"
    assert server.version.split(".")[0].isdigit()
    assert len(server.git_version) == 40
    assert server.local
    assert server.pid is not None
    assert identify(server.pid) is not None
    assert server.cpu_count is not None
    assert server.cpu_count >= 1
    assert server.uri_redacted == f"mongodb://{server.address}"


def test_the_server_listens_on_loopback_only(server: Deployment) -> None:
    with control_client(server.address) as client:
        options = client.admin.command("getCmdLineOpts")["parsed"]
    assert options["net"]["bindIp"] == "127.0.0.1"
    assert options["storage"]["wiredTiger"]["engineConfig"]["cacheSizeGB"] == 0.25


def test_server_documents_are_plain_json(server: Deployment) -> None:
    with control_client(server.address) as client:
        documents = server_documents(client)
    assert {"buildInfo", "getCmdLineOpts", "hostInfo"} <= set(documents)
    assert json.loads(json.dumps(documents)) == documents


def test_leaving_the_context_ends_the_server_and_removes_its_directory(tmp_path: Path) -> None:
    with bundled(directory=tmp_path) as deployment:
        (directory,) = tmp_path.iterdir()
        process = read_server(directory)
        assert process is not None
        assert process.pid == deployment.pid
        assert directory.stat().st_mode & 0o777 == 0o700
    assert not is_alive(process)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_in_the_context_ends_the_server(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), bundled(directory=tmp_path):
        (directory,) = tmp_path.iterdir()
        process = read_server(directory)
        raise KeyboardInterrupt
    assert process is not None
    assert not is_alive(process)
    assert list(tmp_path.iterdir()) == []


def test_two_servers_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with (
        bundled(directory=tmp_path, cache_gb=0.25) as first,
        bundled(directory=tmp_path, cache_gb=0.25) as second,
    ):
        assert first.address != second.address
        for deployment in (first, second):
            with control_client(deployment.address) as client:
                assert client.admin.command("serverStatus")["pid"] == deployment.pid
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_died_meanwhile_leaves_nothing(tmp_path: Path) -> None:
    with bundled(directory=tmp_path, cache_gb=0.25) as deployment:
        assert deployment.pid is not None
        os.kill(deployment.pid, signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []


# The end of brimline itself

_PARENT = """
    import signal, sys, threading, time
    from pathlib import Path
    from brimline.servers import bundled
    # A job that a script puts in the background inherits SIGINT ignored, and these tests may be such a job.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def hold():
        with bundled(directory=Path(sys.argv[1]), cache_gb=0.25):
            print("started", flush=True)
            {wait}
    {run}
"""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a brimline process that holds a server below `tmp_path`."""
    started: list[subprocess.Popen[str]] = []

    def start(*, wait: str = "time.sleep(600)", run: str = "hold()") -> subprocess.Popen[str]:
        program = textwrap.dedent(_PARENT).format(wait=wait, run=run)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _server_below(parent: Path) -> tuple[Path, ProcessIdentity]:
    (directory,) = parent.iterdir()
    process = read_server(directory)
    assert process is not None
    assert is_alive(process)
    return directory, process


def _guardian_of(process: ProcessIdentity) -> int:
    stat = Path(f"/proc/{process.pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


@pytest.mark.parametrize("number", [signal.SIGKILL, *repetitions(signal.SIGTERM, signal.SIGINT)])
def test_the_server_ends_with_brimline_and_its_directory_goes(
    parent: Callable[..., subprocess.Popen[str]], tmp_path: Path, number: signal.Signals
) -> None:
    brimline = parent()
    _, process = _server_below(tmp_path)
    brimline.send_signal(number)
    brimline.wait(timeout=60)
    assert _eventually(lambda: not is_alive(process))
    assert _eventually(lambda: list(tmp_path.iterdir()) == [])


def test_the_next_start_sweeps_what_a_kill_of_brimline_and_guardian_left(
    parent: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    brimline = parent()
    directory, process = _server_below(tmp_path)
    guardian = _guardian_of(process)
    os.kill(guardian, signal.SIGSTOP)  # so that it can't clean up before it is killed
    brimline.kill()
    brimline.wait()
    os.kill(guardian, signal.SIGKILL)
    assert _eventually(lambda: not is_alive(process)), "the kernel ends the server with its guardian"
    assert directory.exists()
    with bundled(directory=tmp_path, cache_gb=0.25):
        assert not directory.exists()
        assert len(list(tmp_path.iterdir())) == 1


def test_a_server_outlives_the_thread_that_started_it(
    parent: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    run = "manager = bundled(directory=Path(sys.argv[1]), cache_gb=0.25)\n"
    run += "thread = threading.Thread(target=manager.__enter__); thread.start(); thread.join()\n"
    run += "print('started', flush=True); time.sleep(600)"
    parent(run=run)
    _, process = _server_below(tmp_path)
    time.sleep(0.5)  # far longer than the kernel takes to send a signal
    assert is_alive(process)


def test_a_running_server_of_another_brimline_is_left_alone(
    parent: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    parent()
    directory, process = _server_below(tmp_path)
    assert sweep(tmp_path).directories == ()
    assert directory.exists()
    assert is_alive(process)


# What can go wrong at the start


def test_a_port_that_is_taken_between_choice_and_start_is_chosen_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = [taken.getsockname()[1], bundled_module.free_port()]
        monkeypatch.setattr(bundled_module, "free_port", lambda: ports.pop(0))
        with bundled(directory=tmp_path, cache_gb=0.25) as deployment:
            assert ports == []
            assert not deployment.address.endswith(f":{taken.getsockname()[1]}")
    assert list(tmp_path.iterdir()) == []


def test_another_server_on_the_port_is_never_taken_for_ours(
    server: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled_module, "free_port", lambda: int(server.address.rpartition(":")[2]))
    with pytest.raises(TargetError, match="already in use"), bundled(directory=tmp_path, cache_gb=0.25):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_mongod_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    words = "mongod: error while loading shared libraries: libcrypto.so.1.1: cannot open shared object file"
    binary = _fake_mongod(tmp_path / "mongod", f"echo '{words}' >&2; exit 127\n")
    with pytest.raises(TargetError) as raised, bundled(binary=binary, directory=tmp_path / "servers"):
        pass
    assert "exit code 127" in raised.value.message
    assert "libcrypto.so.1.1" in raised.value.message
    assert raised.value.hint is not None
    assert "library" in raised.value.hint
    assert raised.value.exit_code == 5
    assert list((tmp_path / "servers").iterdir()) == []


def test_a_mongod_that_never_answers_is_given_up(tmp_path: Path) -> None:
    binary = _fake_mongod(tmp_path / "mongod", "exec sleep 600\n")
    with (
        pytest.raises(TargetError, match="did not answer within 1 s"),
        bundled(binary=binary, directory=tmp_path / "servers", start_deadline_s=1),
    ):
        pass
    assert list((tmp_path / "servers").iterdir()) == []


def test_a_file_that_is_no_program_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "mongod").write_bytes(b"\x7fELF and nothing else")
    (tmp_path / "mongod").chmod(0o755)
    binary = ServerBinary(path=tmp_path / "mongod", source="flag")
    with (
        pytest.raises(TargetError, match=r"(?i)exec format error") as raised,
        bundled(binary=binary, directory=tmp_path / "servers"),
    ):
        pass
    assert raised.value.hint is not None
    assert "processor" in raised.value.hint


def test_a_directory_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TargetError, match="file exists") as raised, bundled(directory=tmp_path / "file"):
        pass
    assert str(tmp_path / "file") in raised.value.message
    assert raised.value.hint is not None


def test_a_read_only_directory_is_named() -> None:
    # Also root can't write there.
    with (
        pytest.raises(TargetError, match="can't be made in /proc/self"),
        bundled(directory=Path("/proc/self/none")),
    ):
        pass


def test_a_cache_below_the_server_s_minimum_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"0\.1 GB"), bundled(directory=tmp_path, cache_gb=0.1):
        pass


# A server behind a connection string


def test_an_external_server_is_described_like_the_bundled_one(server: Deployment) -> None:
    found = external(f"mongodb://{server.address}/?directConnection=true")
    assert (found.address, found.engine, found.pid) == (server.address, "MongoDB", server.pid)
    assert found.binary is None


def test_nothing_at_the_address_is_told_in_bounded_time() -> None:
    started = time.monotonic()
    with pytest.raises(TargetError, match="connection refused") as raised:
        external(f"mongodb://127.0.0.1:{bundled_module.free_port()}", connect_timeout_s=1)
    assert raised.value.hint is not None
    assert time.monotonic() - started < 30


def test_something_that_is_no_mongodb_server_is_told() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(TargetError, match="no server answers"),
    ):
        external(f"mongodb://127.0.0.1:{silent.getsockname()[1]}", connect_timeout_s=0.5)


# Watching


def test_the_sampler_sees_the_server_work(server: Deployment) -> None:
    with control_client(server.address) as client, ServerSampler(server, interval_s=0.1) as sampler:
        time.sleep(0.3)
        client["watched"]["documents"].insert_many([{"n": n} for n in range(20_000)])
        time.sleep(0.3)
    rows = sampler.take_rows()
    assert len(rows) >= 4
    assert all(row.gap == "" for row in rows)
    assert [row.at_ns for row in rows] == sorted(row.at_ns for row in rows)
    first, last = rows[0], rows[-1]
    assert last.insert is not None and first.insert is not None
    assert last.insert - first.insert == 20_000
    assert last.server_cpu_ns is not None and first.server_cpu_ns is not None
    assert last.server_cpu_ns > first.server_cpu_ns
    assert last.host_busy_ns is not None and first.host_busy_ns is not None
    assert last.host_busy_ns - first.host_busy_ns > 0
    assert last.shared_host is True
    assert last.cache_bytes_max == 256 * 1024 * 1024
    for column in (
        "cache_bytes_used",
        "read_tickets_total",
        "connections",
        "checkpoint_running",
        "resident_bytes",
    ):
        assert getattr(last, column) is not None, column
    cost = sampler.cost()
    assert cost.command_count == len(rows)
    assert cost.cpu_ns > 0
    assert sampler.take_rows() == []


@pytest.mark.slow("a server dies during a run")
def test_a_server_that_dies_leaves_gaps_in_the_rows_and_no_crash(tmp_path: Path) -> None:
    with bundled(directory=tmp_path, cache_gb=0.25) as deployment:
        sampler = ServerSampler(deployment, interval_s=0.1)
        sampler.start()
        time.sleep(0.3)
        assert deployment.pid is not None
        os.kill(deployment.pid, signal.SIGKILL)
        time.sleep(0.5)
        sampler.stop()
    rows = sampler.take_rows()
    assert rows[0].gap == ""
    assert rows[-1].gap != ""
    assert rows[-1].insert is None


def test_opcounters_agree_with_what_was_done_and_betray_another_client(server: Deployment) -> None:
    with control_client(server.address) as client:
        collection = client["counted"]["documents"]
        collection.drop()
        before = read_opcounters(client)
        collection.insert_many([{"_id": n} for n in range(1000)])
        for n in range(50):
            collection.update_one({"_id": n}, {"$set": {"x": n}})
            collection.find_one({"_id": n})
        list(collection.find({}, batch_size=300))
        collection.delete_one({"_id": 1})
        after = read_opcounters(client)
        # 1000 documents in batches of 300: one find and three getMore.
        done = {"insert": 1000, "update": 50, "query": 51, "getmore": 3, "delete": 1}
        honest = check_agreement(before=before, after=after, acknowledged=done, uncertain={})
        assert honest.verdict == "pass", honest.evidence
        assert all(check.counted == check.acknowledged for check in honest.checks)
        lost = check_agreement(before=before, after=after, acknowledged=done | {"insert": 1001}, uncertain={})
        assert lost.verdict == "fail"
        collection.insert_many([{"_id": n} for n in range(2000, 2100)])
        others = check_agreement(before=before, after=read_opcounters(client), acknowledged=done, uncertain={})
        assert others.verdict == "fail"
        assert "another client" in others.evidence


def test_an_idle_server_counts_nothing_but_commands(server: Deployment) -> None:
    with control_client(server.address) as client:
        before = read_opcounters(client)
        time.sleep(2)
        agreement = check_agreement(before=before, after=read_opcounters(client), acknowledged={}, uncertain={})
    assert [check.counted for check in agreement.checks] == [0] * len(agreement.checks)


# The data set


def _manifest(collection: str, *, records: int = 100, seed: int = 1) -> Manifest:
    data = {
        "seed": seed,
        "record_count": records,
        "insert_start": 0,
        "field_count": 10,
        "field_length": {"kind": "constant", "length": 100},
        "field_name_prefix": "field",
        "key_prefix": "user",
        "insert_order": "hashed",
        "zero_padding": 1,
    }
    return Manifest(collection=collection, data=data, state="loading", count=None, loaded_at=None, brimline_version="0")


@pytest.fixture
def database(server: Deployment) -> Iterator[pymongo.database.Database[dict[str, object]]]:
    with control_client(server.address) as client:
        client.drop_database("data")
        yield client["data"]


def test_a_load_is_prepared_proven_and_found_again(
    database: pymongo.database.Database[dict[str, object]],
) -> None:
    wanted = _manifest("usertable", seed=2**64 - 1)
    assert inspect(database, wanted).state is State.ABSENT
    prepare(database, wanted)
    assert "usertable" in database.list_collection_names()
    assert inspect(database, wanted).state is State.UNFINISHED
    database["usertable"].insert_many([{"_id": f"user{n}"} for n in range(99)])
    with pytest.raises(InvalidRun, match="holds 99 documents and not the intended 100"):
        complete(database, wanted)
    assert inspect(database, wanted).state is State.UNFINISHED
    database["usertable"].insert_one({"_id": "user99"})
    finished = complete(database, wanted)
    assert (finished.count, finished.seed) == (100, 2**64 - 1)
    found = inspect(database, wanted)
    assert found.ready, found.explanation
    assert found.manifest == finished


def test_other_and_changed_data_are_told_in_words(
    database: pymongo.database.Database[dict[str, object]],
) -> None:
    wanted = _manifest("usertable", records=2)
    prepare(database, wanted)
    database["usertable"].insert_many([{"_id": 1}, {"_id": 2}])
    complete(database, wanted)
    other = inspect(database, _manifest("usertable", records=2, seed=7))
    assert other.state is State.OTHER
    assert "the seed is 1 there and 7 in the plan" in other.explanation
    database["usertable"].insert_one({"_id": 3})
    changed = inspect(database, wanted)
    assert changed.state is State.CHANGED
    assert changed.document_count == 3


def test_documents_of_somebody_else_are_only_dropped_when_told(
    database: pymongo.database.Database[dict[str, object]],
) -> None:
    wanted = _manifest("orders")
    database["orders"].insert_one({"precious": True})
    assert inspect(database, wanted).state is State.FOREIGN
    with pytest.raises(UsageError, match="did not load"):
        prepare(database, wanted)
    assert database["orders"].count_documents({}) == 1
    assert database[MANIFEST_COLLECTION].count_documents({}) == 0
    prepare(database, wanted, drop=True)
    assert database["orders"].count_documents({}) == 0


def test_what_brimline_starts_is_not_told_its_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMLINE_PASSWORD", "hunter2")
    monkeypatch.setenv("BRIMLINE_URI", "mongodb://somebody:hunter2@127.0.0.1:1")
    monkeypatch.setenv("ANOTHER", "kept")
    with bundled(directory=tmp_path, cache_gb=0.25) as deployment:
        guardian = int(Path(f"/proc/{deployment.pid}/stat").read_text().rpartition(")")[2].split()[1])
        for pid in (deployment.pid, guardian):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"hunter2" not in environment
            assert b"ANOTHER=kept" in environment

"""Runs that several nodes share, as processes of this machine: one record, and nothing is left, whoever ends."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from brimline.plan import WireTarget, resolve
from brimline.record import read_record
from tests.support.command_line import CommandLine, Running
from tests.support.namespaces import networks
from tests.support.nodes import performed, processes, shared_spec
from tests.support.scripted_server import scripted_server
from tests.support.simulation import read_only
from tests.support.waiting import eventually

GONE_WITHIN_S = 10.0


@pytest.fixture
def spec(brimline_cli: CommandLine) -> str:
    return shared_spec(brimline_cli, "duration: 120s")


def _nodes(running: Running) -> list[psutil.Process]:
    children = psutil.Process(running.process.pid).children()
    return [child for child in children if "brimline.execution.cluster.processes" in " ".join(child.cmdline())]


def _all_gone(processes: list[psutil.Process]) -> bool:
    return eventually(lambda: not any(each.is_running() for each in processes), timeout_s=GONE_WITHIN_S)


@pytest.mark.mongod
def test_a_load_and_a_run_are_shared_and_the_server_counts_the_same(brimline_cli: CommandLine, uri: str) -> None:
    """The load is performed by the nodes as well, and what they inserted is what the next run reads."""
    database = f"{uri}/workers"
    ran = brimline_cli.run(
        "run", "ycsb-a", "--uri", database, "--workers", "local:2", "--records", "1000", "--data", "load",
        "--duration", "1s", "--warmup", "0s", "--connections", "4", "--think-time", "2ms", "--json",
    )  # fmt: skip
    # 4: three processes that had too little of a busy machine count right all the same.
    assert ran.exit_code in (0, 4), ran.stderr
    document = ran.json()
    assert [node["node"] for node in document["nodes"]] == [0, 1]
    assert all(node["connections"] == 2 and node["why_lost"] is None for node in document["nodes"])
    checks = {check["name"]: check["result"] for check in document["checks"]}
    assert (checks["conservation"], checks["opcounters"]) == ("pass", "pass")
    (directory,) = brimline_cli.record_directories(kind="load")
    load = read_record(directory).summary
    assert load is not None and load["inserts"]["inserted"] == 1000  # type: ignore[typeddict-item]
    assert load["nodes"][0]["ok"] == load["ok"], "a load of one connection is one node's"
    brimline_cli.run("run", "ycsb-a", "--uri", database, "--drop")


@pytest.mark.slow("a command with nodes of its own, and their end")
def test_a_node_that_is_killed_ends_the_run_and_what_was_measured_is_kept(brimline_cli: CommandLine, spec: str) -> None:
    running = brimline_cli.start("run", spec, "--null", "--workers", "local:2")
    directory = brimline_cli.wait_for_samples("shared")
    nodes = _nodes(running)
    nodes[1].kill()
    killed_s = time.monotonic()
    outcome = running.end()
    assert time.monotonic() - killed_s < GONE_WITHIN_S
    outcome.check_error(4, "was lost: its process ended with signal 9")
    record = read_record(directory)
    assert (record.ended_by, record.imbalances) == ("worker_lost", ())
    assert record.summary is not None and record.summary["ok"] > 0
    assert _all_gone(nodes)


@pytest.mark.slow("a command with nodes of its own, and their end")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_however_the_coordinator_ends_nothing_runs_on(
    brimline_cli: CommandLine, spec: str, number: signal.Signals
) -> None:
    running = brimline_cli.start("run", spec, "--null", "--workers", "local:2")
    directory = brimline_cli.wait_for_samples("shared")
    nodes = _nodes(running)
    assert len(nodes) == 2
    running.send(number)
    outcome = running.end()
    assert _all_gone(nodes)
    record = read_record(directory)
    if number is signal.SIGKILL:
        assert record.ended_by == "killed" and record.operations
    else:
        outcome.check_error(128 + number, f"interrupted by {number.name}")
        assert (record.ended_by, record.imbalances) == ("interrupt", ())


@pytest.mark.slow("a command with nodes of its own, and their end")
def test_a_node_whose_coordinator_falls_silent_ends_by_itself(brimline_cli: CommandLine, spec: str) -> None:
    running = brimline_cli.start("run", spec, "--null", "--workers", "local:2")
    brimline_cli.wait_for_samples("shared")
    nodes = _nodes(running)
    running.send(signal.SIGSTOP)
    try:
        assert _all_gone_or_ended(nodes)
    finally:
        running.send(signal.SIGCONT)
        running.process.kill()
        running.end()


def _all_gone_or_ended(processes: list[psutil.Process]) -> bool:
    """A process whose parent is stopped stays as a zombie."""

    def over(process: psutil.Process) -> bool:
        try:
            return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    return eventually(lambda: all(map(over, processes)), timeout_s=GONE_WITHIN_S)


def test_without_ray_the_error_says_how_to_get_it(brimline_cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    brimline_cli.run("run", "ycsb-c", "--null", "--workers", "ray").check_error(
        2, "--workers ray needs Ray, which is not installed here", "pip install 'brimline[cluster]'"
    )


@pytest.mark.slow("runs by turns")
def test_how_many_take_part_is_a_factor(brimline_cli: CommandLine) -> None:
    spec = shared_spec(brimline_cli, "duration: 200ms")
    words = ("run", spec, "--null", "--workers", "local:2", "--vary")
    brimline_cli.run(*words, "nodes=1,4").check_error(2, "4 workers are asked for, and there are 2")
    assert not list(brimline_cli.runs.glob("*/trials/*"))
    ran = brimline_cli.run(*words, "nodes=1,2")
    assert ran.exit_code in (0, 4), ran.stderr  # so short runs say little
    records = [read_record(path) for path in sorted(brimline_cli.runs.glob("*/trials/*"))]
    assert {len(record.summary["nodes"]) for record in records if record.summary} == {1, 2}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--workers", "dask:4"), "names no workers"),
        (("--workers", "local:0"), "there can be 1 to"),
        (("--workers-per-node", "2"), "has no effect without --workers"),
        (("--vary", "nodes=1,2"), "--vary nodes needs workers to choose from"),
    ],
)
def test_what_names_no_workers_is_told_before_anything_happens(
    brimline_cli: CommandLine, words: tuple[str, ...], part: str
) -> None:
    brimline_cli.run("run", "ycsb-c", "--null", *words).check_error(2, part)
    assert not brimline_cli.runs.exists()


def test_nodes_with_networks_and_clocks_of_their_own_offer_one_rate(tmp_path: Path) -> None:
    """Each from an address of its own; one of them has a clock that is 5 s ahead of this one's."""
    if subprocess.run(["unshare", "-T", "--monotonic", "5", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no time namespace can be made here")
    with (
        networks(2, subnet="10.111.0") as network,
        scripted_server({}) as server,
        _reachable(network.here, server.address) as address,
    ):
        plan = resolve(
            read_only(
                load={"kind": "constant", "rate": 2000}, connections=4, warmup="0s", duration="1s", interval="100ms"
            ),
            target=WireTarget(address=address, write_concern=None),
        )
        clock = ("unshare", "-T", "--monotonic", "5")
        with processes(network.command(0), network.command(1, *clock)) as links:
            record = performed(plan, tmp_path / "run", links)
    assert record.summary is not None
    assert (record.ended_by, record.imbalances, record.summary["failed"]) == ("completed", (), 0)
    assert record.summary["due"] == 2000
    first, second = record.summary["nodes"]
    assert first["due"] == second["due"] == 1000
    assert abs(first["clock"]["ahead_ns"]) <= first["clock"]["error_ns"]
    ahead_ns = second["clock"]["ahead_ns"]
    assert abs(ahead_ns - 5_000_000_000) <= second["clock"]["error_ns"]
    assert 0 < second["clock"]["error_ns"] < 50_000_000


@contextmanager
def _reachable(host: str, address: str) -> Iterator[str]:
    """A way from `host`, where other namespaces find it, to a server on the loopback."""
    target_host, _, target_port = address.rpartition(":")

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with source, suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def accept(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.create_connection((target_host, int(target_port)))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    with socket.create_server((host, 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        yield f"{host}:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)

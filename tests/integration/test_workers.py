"""Runs that several nodes share, as processes of this machine: one record, and nothing is left, whoever ends."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import brimline
from brimline.execution import execute
from brimline.execution.cluster import cluster
from brimline.execution.cluster.cluster import Cluster
from brimline.experiments.settings import SweepSettings, quick
from brimline.plan import WireTarget, resolve
from brimline.record import RunRecord, read_experiment, read_record
from brimline.report.view import Table
from tests.support.command_line import CommandLine, Running
from tests.support.namespaces import networks
from tests.support.nodes import HereLink, processes, shared_spec
from tests.support.repetitions import repetitions
from tests.support.scripted_server import scripted_server
from tests.support.simulation import context, read_only
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


_SHORT = ("--records", "500", "--duration", "200ms", "--warmup", "0s", "--connections", "2")
_TWICE = ("--repeats", "2", "--repeats-max", "2")
_FAULT = (
    *("--fault", "sleep 0; true", "--undo", "sleep 0; true", "--ledger", "0"),
    *("--before", "2s", "--hold", "0s", "--after", "2s"),
)
EXPERIMENTS: dict[str, tuple[tuple[str, ...], int]] = {
    "run": ((*_SHORT, "--vary", "keys=uniform,zipfian", *_TWICE), 3),
    "sweep": ((*_SHORT[:-1], "2,4", *_TWICE), 3),
    "ab": ((*_SHORT, "--b", "connections=4", "--pairs", "2"), 4),
    "interfere": ((*_SHORT, "--with", "scan", "--background-rows", "500", "--pairs", "2"), 4),
    "failover": (("--records", "500", "--rate", "200/s", "--connections", "2", *_FAULT, "--repeats", "2"), 2),
    "soak": (("--records", "500", "--rate", "200/s", "--connections", "2", "--duration", "2s"), 1),
}
"""By verb: what begins it, and in which of the runs that it takes part in a node is lost; a load is one node's.

All go on by the same conductor; a soak alone counts the time that is left.
"""


@pytest.mark.mongod
@pytest.mark.slow("experiments of two nodes, one of which is lost, and what goes on with them")
@pytest.mark.parametrize("verb", ["run", "soak", *repetitions("sweep", "ab", "interfere", "failover")])
def test_an_experiment_ends_with_the_node_that_is_lost_and_goes_on_when_it_is_back(
    verb: str, uri: str, brimline_cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, lost_in = EXPERIMENTS[verb]
    links = [HereLink(), HereLink(lost_in=lost_in)]
    monkeypatch.setattr(cluster, "ProcessLink", lambda: links.pop(0) if links else HereLink())
    at = ("--uri", f"{uri}/lost_{verb}", "--workers", "local:2", "--data", "load")
    ended = brimline_cli.run(verb, "ycsb-c", *words, *at)
    ended.check_error(4, "node 1 (", "was lost: it is lost for a test", "start that node again", f"{verb} --resume")
    (directory,) = (path.parent for path in brimline_cli.runs.glob("*/experiment.json"))
    assert read_experiment(directory).ended_by == "worker_lost"
    again = brimline_cli.run(verb, "--resume", directory, *at)
    assert again.exit_code in (0, 3, 4), again.stderr  # so short runs may say little, and a soak may miss its objective
    assert read_experiment(directory).ended_by == "completed", again.stderr
    runs = [read_record(path.parent) for path in directory.glob("trials/*/record.json")]
    assert {len(run.summary["nodes"]) for run in runs if run.summary is not None} <= {1, 2}
    assert any(run.summary is not None and len(run.summary["nodes"]) == 2 for run in runs)
    assert verb == "soak" or all(run.complete for run in runs)


@pytest.mark.slow("searches of two nodes, one of which is lost, and what goes on with it")
def test_a_search_ends_with_the_node_that_is_lost_and_goes_on_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = [HereLink(), HereLink(lost_in=2)]
    monkeypatch.setattr(cluster, "ProcessLink", lambda: links.pop(0) if links else HereLink())
    sweep = SweepSettings(connections_max=4, warmup_s=0.0, duration_s=0.2)
    settings = replace(quick(), sweep=sweep, calibrate_s=0.2, window_s=0.2, warmup_s=0.0, windows_max=4, budget_s=60.0)
    options = brimline.Options(null=True, workers="local:2", runs_dir=tmp_path)
    ended = brimline.capacity("ycsb-c", settings=settings, options=options)
    assert (ended.exit_code, read_experiment(ended.directory).ended_by) == (4, "worker_lost")
    assert ended.error is not None and "was lost" in ended.error.message
    assert f"capacity --resume {ended.directory}" in (ended.error.hint or "")
    again = brimline.resume_search(ended.directory, options=options)
    assert read_experiment(again.directory).ended_by == "completed"
    assert len(again.trials) > len(ended.trials)
    (section,) = [each for each in again.report.sections if each.id == "nodes"]
    (table,) = section.blocks
    assert isinstance(table, Table) and len(table.rows) == 2
    assert f"2 nodes in all, over the measured windows of {len(again.trials)} runs" in str(table.caption)
    runs = [read_record(path.parent).summary for path in again.directory.glob("trials/*/record.json")]
    every = [each for run in runs if run is not None for each in run["nodes"]]
    for node in again.report.data["nodes"]:
        errors_ns = [each["clock"]["error_ns"] for each in every if each["node"] == node["node"]]
        assert node["why_lost"] is None and node["clock_error_ns"] == max(errors_ns) > 0


@pytest.mark.long
@pytest.mark.slow(
    "a command with nodes of its own, and their end; quick twin: test_however_the_coordinator_ends_its_nodes_end"
)
def test_a_coordinator_that_is_terminated_takes_its_nodes_along(brimline_cli: CommandLine) -> None:
    _takes_its_nodes_along(brimline_cli, signal.SIGTERM)


def _takes_its_nodes_along(brimline_cli: CommandLine, number: signal.Signals) -> None:
    spec = shared_spec(brimline_cli, "duration: 120s", name="asked")
    running = brimline_cli.start("run", spec, "--null", "--workers", "local:2")
    directory = brimline_cli.wait_for_samples("asked")
    nodes = _nodes(running)
    assert len(nodes) == 2
    running.send(number)
    running.end().check_error(128 + number, f"interrupted by {number.name}")
    assert _all_gone(nodes)
    record = read_record(directory)
    assert (record.ended_by, record.imbalances) == ("interrupt", ())


@pytest.mark.slow("commands with nodes of their own, and 8 s of silence")
def test_however_the_coordinator_ends_its_nodes_end(brimline_cli: CommandLine, spec: str) -> None:
    """One is killed, and one gets Ctrl-C, while the nodes of another wait for a word."""
    silent = brimline_cli.start("run", spec, "--null", "--workers", "local:2")
    brimline_cli.wait_for_samples("shared")
    nodes = _nodes(silent)
    silent.send(signal.SIGSTOP)
    until = time.monotonic() + GONE_WITHIN_S
    try:
        other = shared_spec(brimline_cli, "duration: 120s", name="killed")
        killed = brimline_cli.start("run", other, "--null", "--workers", "local:2")
        directory = brimline_cli.wait_for_samples("killed")
        its_nodes = _nodes(killed)
        assert len(its_nodes) == len(nodes) == 2
        killed.send(signal.SIGKILL)
        killed.end()
        assert _all_gone(its_nodes)
        record = read_record(directory)
        assert record.ended_by == "killed" and record.operations
        _takes_its_nodes_along(brimline_cli, signal.SIGINT)
        assert _all_gone_or_ended(nodes, within_s=until - time.monotonic())
    finally:
        silent.send(signal.SIGCONT)
        silent.process.kill()
        silent.end()


def _all_gone_or_ended(processes: list[psutil.Process], *, within_s: float) -> bool:
    """A process whose parent is stopped stays as a zombie."""

    def over(process: psutil.Process) -> bool:
        try:
            return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    return eventually(lambda: all(map(over, processes)), timeout_s=max(within_s, 0.0))


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
    ran = brimline_cli.run(*words, "nodes=1,2", "--repeats", "2")
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


RATE, NODES, CLOCK_WRONG_NS = 200, 4, 5_000_000_000
SPACING_NS = 1_000_000_000 // RATE
SERVICE_NS = 10_000_000


@pytest.mark.parametrize("words", [(), ("--workers", "local:2")])
def test_a_node_of_ray_is_asked_about_the_host_where_there_is_one(
    brimline_cli: CommandLine, words: tuple[str, ...]
) -> None:
    ran = brimline_cli.run("run", "ycsb-c", "--uri", "mongodb://127.0.0.1:9", "--host-metrics", "ray", *words)
    ran.check_error(2, "--host-metrics ray asks a node of a Ray cluster", "--workers ray")


@pytest.mark.parametrize(
    ("words", "why", "hint"),
    [
        (("scan", "ycsb-c"), "it asks one query at a time", "brimline load --workers"),
        (("study", "run", "s3-versions"), "says itself how many clients", 'workers: "local:2"'),
    ],
)
def test_verbs_of_one_client_say_why(brimline_cli: CommandLine, words: tuple[str, ...], why: str, hint: str) -> None:
    for option, value in (("--workers", "local:2"), ("--workers-per-node", "2")):
        brimline_cli.run(*words, option, value).check_error(2, f"{words[0]} has no {option}: ", why, hint)


def test_other_verbs_name_those_that_nodes_share(brimline_cli: CommandLine) -> None:
    """Of a lab --workers are processes of the order service."""
    said = brimline_cli.run("doctor", "--workers", "local:2")
    said.check_error(2, "no such option: --workers", "an option of capacity, run, load, import, sweep, grow, ab")
    assert "lab" not in said.stderr.split("hint: ")[1]


@pytest.mark.slow("runs in real time of one client, and of one, two and four nodes")
def test_nodes_with_networks_and_clocks_of_their_own_offer_one_rate(tmp_path: Path) -> None:
    """Each from an address of its own; one of them has a clock that is 5 s ahead of this one's.

    When requests arrive is seen between the nodes and the server: they are not early, and the least late of each node
    are late by no more than the way.
    """
    wrong = ("unshare", "-T", "--monotonic", "5")
    if subprocess.run([*wrong, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no time namespace can be made here")
    load = {"load": {"kind": "constant", "rate": RATE}, "connections": 16, "threads": 1, "warmup": "0s"}
    load["duration"] = "2s"
    with (
        networks(NODES, second=111) as network,
        scripted_server({"service": {"kind": "fixed", "ns": SERVICE_NS}}) as server,
        _reachable(network.here, server.address) as (address, arrivals),
        processes(network.command(0), *(network.command(each, *wrong) for each in range(1, NODES))) as links,
    ):
        plan = resolve(read_only(**load), target=WireTarget(address=address, write_concern=None))
        alone = execute(plan, directory=tmp_path / "alone", title="alone", context=context())
        nodes = Cluster(links)
        for count in (1, 2, 4):
            arrivals.clear()
            shared = replace(context(), executor=nodes.of(count))
            record = execute(plan, directory=tmp_path / f"{count}", title="shared", context=shared)
            _same_measured(record, alone)
            _meshed(record, arrivals, [network.addresses[number] for number in range(count)])


def _same_measured(record: RunRecord, alone: RunRecord) -> None:
    """The same operations, and times that differ by what a busy machine does to both."""
    assert record.summary is not None and alone.summary is not None
    assert (record.ended_by, record.imbalances, record.summary["failed"]) == ("completed", (), 0)
    assert record.summary["due"] == alone.summary["due"] == 2 * RATE, "to the operation"
    assert record.summary["operations_hash"] == alone.summary["operations_hash"]
    assert record.histograms.keys() == alone.histograms.keys()
    ours, its = (each.histograms["read", "service"] for each in (record, alone))
    assert ours.count() == its.count() == 2 * RATE
    for share in (0.05, 0.25, 0.5, 0.75):  # above, a busy machine decides
        assert ours.quantile(share) == pytest.approx(its.quantile(share), rel=0.3), share
    for node in record.summary["nodes"]:
        ahead_ns = CLOCK_WRONG_NS if node["node"] else 0
        assert abs(node["clock"]["ahead_ns"] - ahead_ns) <= node["clock"]["error_ns"] < 50_000_000


def _meshed(record: RunRecord, arrivals: Sequence[tuple[str, int]], addresses: Sequence[str]) -> None:
    """Each node sends its operations between those of the others, and the rate is that of all from end to end."""
    late_ns: dict[str, list[int]] = {}
    for number, address in enumerate(addresses):
        seen_ns = sorted(at_ns for source, at_ns in arrivals if source == address)
        due_ns = range(number * SPACING_NS, 2 * RATE * SPACING_NS, len(addresses) * SPACING_NS)
        late_ns[address] = [at_ns - due for at_ns, due in zip(seen_ns, due_ns, strict=True)]
    least = [min(each) for each in late_ns.values()]
    assert max(least) - min(least) < SPACING_NS / 2, least
    quarter = RATE // 2 // len(addresses)
    first, last = (
        min(min(each[part]) for each in late_ns.values()) for part in (slice(quarter), slice(-quarter, None))
    )
    assert abs(last - first) < 0.001 * 1_500_000_000, "0.1 % of the time between them"


@contextmanager
def _reachable(host: str, address: str) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """A way from `host`, where other namespaces find it, to a server on the loopback; and when which peer's finds came.

    A connection has one operation under way, which is one packet.
    """
    target_host, _, target_port = address.rpartition(":")
    arrivals: list[tuple[str, int]] = []

    def pump(source: socket.socket, sink: socket.socket, peer: str | None) -> None:
        with source, suppress(OSError):
            while data := source.recv(65_536):
                if peer is not None and b"find\0" in data:
                    arrivals.append((peer, time.monotonic_ns()))
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def accept(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, (peer, _) = listening.accept()
                far = socket.create_connection((target_host, int(target_port)))
                for each in (near, far):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for each in ((near, far, peer), (far, near, None)):
                    threading.Thread(target=pump, args=each, daemon=True).start()

    with socket.create_server((host, 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        yield f"{host}:{listening.getsockname()[1]}", arrivals
        listening.shutdown(socket.SHUT_RDWR)

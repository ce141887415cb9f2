"""The nodes of a Ray cluster share a run: the same operations, an error for whatever they lack, and nothing is left."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import psutil
import pymongo
import pytest

from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.record import read_record
from brimline.record.named_times import read_named_times
from tests.support.command_line import CommandLine, Outcome
from tests.support.nodes import shared_spec
from tests.support.other_host import OtherHost
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.repetitions import repetitions
from tests.support.secured_mongod import ADMIN, ADMIN_PASSWORD
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow("Ray takes seconds to start, and each command reaches it anew")

GONE_WITHIN_S = 10.0
OPERATIONS = "operation_count: 2000"
"""All are sent, however late."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(2) as there:
        yield there


def _ended(brimline_cli: CommandLine, cluster: RayCluster, *words: str) -> Outcome:
    """Of a command that has imported all but Ray already."""
    return brimline_cli.start(*words, environment=cluster.environment).end()


def _summary(brimline_cli: CommandLine, cluster: RayCluster, *words: str) -> dict[str, Any]:
    spec = shared_spec(brimline_cli, OPERATIONS)
    outcome = _ended(brimline_cli, cluster, "run", spec, "--null", "--json", *words)
    assert outcome.exit_code in (0, 4), outcome.stderr  # a busy machine lets a run of a second prove little
    document: dict[str, Any] = outcome.json()
    assert {each["name"] for each in document["checks"] if each["result"] == "fail"} <= GENERATOR_CHECKS, outcome.stderr
    return document


def test_one_node_and_two_send_what_this_machine_alone_does(brimline_cli: CommandLine, cluster: RayCluster) -> None:
    """The one of one node is reached by Ray's client, as from a machine that is no node."""
    spec = shared_spec(brimline_cli, OPERATIONS)
    alone = brimline_cli.run("run", spec, "--null", "--json").json()
    one, two = (_summary(brimline_cli, cluster, "--workers", where) for where in (f"{cluster.client}/1", "ray"))
    _are_alike(alone, one, two)
    assert [len(each["nodes"]) for each in (alone, one, two)] == [0, 1, 2]
    for node in two["nodes"]:
        assert node["why_lost"] is None
        assert 0 < node["clock_error_ns"] < 100_000_000
        assert abs(node["clock_ahead_ns"]) <= node["clock_error_ns"], "they have this machine's own clock"
    assert eventually(lambda: not cluster.actors(), timeout_s=GONE_WITHIN_S)


@pytest.mark.long
@pytest.mark.slow("Ray starts four workers; quick twin: test_one_node_and_two_send_what_this_machine_alone_does")
def test_two_workers_on_each_node_send_the_same(brimline_cli: CommandLine, cluster: RayCluster) -> None:
    two = _summary(brimline_cli, cluster, "--workers", "ray")
    four = _summary(brimline_cli, cluster, "--workers", "ray", "--workers-per-node", "2")
    _are_alike(two, four)
    assert [len(each["nodes"]) for each in (two, four)] == [2, 4]


def _are_alike(*runs: dict[str, Any]) -> None:
    assert {(each["operations_hash"], each["counts_whole_run"]["sent"]) for each in runs} == {
        (runs[0]["operations_hash"], 2000)
    }


def test_a_server_on_a_node_is_watched_by_it_and_imported_into_and_its_password_is_on_no_disk(
    brimline_cli: CommandLine, cluster: RayCluster, tmp_path: Path
) -> None:
    """Both nodes reach it by its own address. It asks for no login, and gets one: the user is there."""
    with OtherHost.of(cluster.network.names[1], cluster.network.addresses[1]) as host:
        host.start_mongod(tmp_path / "db")
        with pymongo.MongoClient[dict[str, Any]](host.uri, directConnection=True) as client:
            client.admin.command("createUser", ADMIN, pwd=ADMIN_PASSWORD, roles=["root"])
        uri = host.uri.replace("//", f"//{ADMIN}:{quote_plus(ADMIN_PASSWORD)}@")
        at = ("--uri", uri, "--workers", "ray", "--json")
        words = ("--data", "load", "--records", "500", "--duration", "1s", "--warmup", "0s", "--connections", "4")
        ran = _ended(brimline_cli, cluster, "run", "ycsb-c", *at, "--host-metrics", "ray", *words)
        (brimline_cli.directory / "rows.json").write_text("".join(f'{{"_id": {number}}}\n' for number in range(500)))
        imported = _ended(brimline_cli, cluster, "import", "rows.json", *at, "-d", "shared")
    assert imported.exit_code == 0, imported.stderr
    told = imported.json()
    assert told["counts"]["inserted"] == told["count_after"] == 500
    assert [(node["lost"], node["documents"] > 0) for node in told["nodes"]] == [(None, True), (None, True)]
    assert ran.exit_code in (0, 4), ran.stderr  # a busy machine lets so short a run say little
    document = ran.json()
    assert len(document["nodes"]) == 2 and document["counts_whole_run"]["failed"] == 0
    (directory,) = brimline_cli.runs.glob("*z-ycsb-c-*")
    record = read_record(directory)
    assert record.server_facts["monitor"]["host"]["source"] == "watch"
    assert any(row["host_busy_ns"] is not None and row["server_cpu_ns"] is not None for row in record.server)
    others = [read_named_times(row["others_cpu_ns_by_name"]) for row in record.server]
    assert not [name for each in others for name in each if "_Actor" in name], "they are the generator's"
    for top in (cluster.directory, brimline_cli.runs):
        files = [path for path in top.rglob("*") if path.is_file()]
        assert files and not [path for path in files if ADMIN_PASSWORD.encode() in path.read_bytes()]
    assert eventually(lambda: not cluster.actors(), timeout_s=GONE_WITHIN_S)


@pytest.mark.long
@pytest.mark.slow(
    "a server is started, and workers on two nodes; "
    "quick twin: test_a_server_on_this_machines_loopback_is_no_target_for_a_node_elsewhere"
)
def test_a_server_that_only_this_machine_hears_is_refused(brimline_cli: CommandLine, cluster: RayCluster) -> None:
    ran = _ended(brimline_cli, cluster, "run", "ycsb-c", "--workers", "ray")
    ran.check_error(2, "leads to this machine alone, and node 0", "--workers local:N")


@pytest.mark.parametrize("number", [signal.SIGKILL, *repetitions(signal.SIGTERM, signal.SIGINT)])
def test_however_the_command_ends_no_actor_is_left(
    brimline_cli: CommandLine, cluster: RayCluster, number: signal.Signals
) -> None:
    running = brimline_cli.start(
        "run",
        shared_spec(brimline_cli, "duration: 120s"),
        "--null",
        "--workers",
        "ray",
        environment=cluster.environment,
    )
    directory = brimline_cli.wait_for_samples("shared")
    assert cluster.actors() == [1, 1], "one on each node, though each has room for both"
    running.send(number)
    outcome = running.end()
    assert eventually(lambda: not cluster.actors(), timeout_s=GONE_WITHIN_S)
    record = read_record(directory)
    if number is signal.SIGKILL:
        assert record.ended_by == "killed" and record.operations
    else:
        outcome.check_error(128 + number, f"interrupted by {number.name}")
        assert (record.ended_by, record.imbalances) == ("interrupt", ())


@pytest.mark.long
def test_a_machine_that_is_gone_ends_the_run_and_what_was_measured_is_kept(
    brimline_cli: CommandLine, cluster: RayCluster
) -> None:
    """The last test: the cluster has a node less afterwards.

    Quick twins: `test_a_node_that_is_lost_leaves_what_the_others_measured`, with an actor, and of processes
    `test_a_node_that_is_killed_ends_the_run_and_what_was_measured_is_kept`.
    """
    running = brimline_cli.start(
        "run",
        shared_spec(brimline_cli, "duration: 120s"),
        "--null",
        "--workers",
        "ray",
        environment=cluster.environment,
    )
    directory = brimline_cli.wait_for_samples("shared")
    for process in psutil.Process(cluster.nodes[1].pid).children(recursive=True):
        process.kill()
    cluster.nodes[1].kill()
    killed_s = time.monotonic()
    outcome = running.end()
    assert time.monotonic() - killed_s < GONE_WITHIN_S
    outcome.check_error(4, "was lost: its actor is gone")
    record = read_record(directory)
    assert (record.ended_by, record.imbalances) == ("worker_lost", ())
    assert record.summary is not None and record.summary["ok"] > 0

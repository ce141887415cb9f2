"""Sharded clusters as a topology: config server and shards are real, the router a stand-in, as no package brings one.

It shows the way that brimline goes with a mongos, not that a router takes what it is told: see `fake_mongos`.
"""

import json
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brimline.servers import control_client
from tests.support import fake_mongos
from tests.support.command_line import CALM, CommandLine
from tests.support.labs import left_behind, stand_in_mongos
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod

SHORT = ("--records", "1000", "--duration", "500ms", "--warmup", "100ms")
VERSION = ("--server-version", fake_mongos.VERSION)
NAMESPACE = "ycsb.usertable"
HASHED = {"shardCollection": NAMESPACE, "key": {"_id": "hashed"}}


@pytest.fixture(autouse=True)
def _needs_a_mongod() -> None:
    required_mongod()


def _told(lab: dict[str, Any]) -> list[dict[str, Any]]:
    """What the router was told of the shard key of the collection, not of one beside."""
    told = json.loads((Path(lab["servers"][-1]["directory"]) / "commands.json").read_text())
    return [each for each in told if each.get("shardCollection") == NAMESPACE]


@pytest.mark.slow("a sharded cluster comes up")
def test_what_a_load_makes_is_spread_over_the_shards_and_what_was_sharded_stays_so(brimline_cli: CommandLine) -> None:
    words = (
        "--shards",
        "1",
        "--small",
        "--election-timeout",
        "1s",
        "--mongos",
        stand_in_mongos(brimline_cli.directory),
    )
    outcome = brimline_cli.run("lab", "up", "cluster", *words, *VERSION, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    lab = outcome.json()
    uri = ("--uri", lab["uri"])
    try:
        outcome = brimline_cli.run("run", "ycsb-a", "--data", "load", *SHORT, *CALM, *uri, "--json")
        assert outcome.exit_code in (0, 4), outcome.stderr
        checks = {check["name"]: check["result"] for check in outcome.json()["checks"]}
        assert (checks["opcounters"], checks["conservation"]) == ("pass", "pass")
        assert _told(lab) == [HASHED]
        router = lab["servers"][-1]["address"]
        with control_client(router) as client:
            usertable = client["ycsb"]["usertable"]
            usertable.drop()
            client.admin.command("shardCollection", NAMESPACE, key={"field0": 1})
            assert brimline_cli.run("load", "ycsb-a", *SHORT[:2], *uri, "--drop").exit_code == 0
            client["ycsb"].drop_collection("brimline_manifest")
            assert brimline_cli.run("load", "ycsb-a", *SHORT[:2], *uri, "--drop").exit_code == 0
            theirs = {"shardCollection": NAMESPACE, "key": {"field0": 1}}
            assert _told(lab)[1:] == [theirs, HASHED, HASHED], "the first load found no collection"
            client.admin.command("shardCollection", NAMESPACE, key={"field0": 1})
            assert brimline_cli.run("load", "ycsb-a", *SHORT[:2], *uri, "--drop").exit_code == 0
            assert _told(lab)[4:] == [theirs, theirs], "sharded again as it was"
            usertable.drop()
            client["ycsb"].create_collection("usertable")
            usertable.create_index([("field1", pymongo.ASCENDING)])
            assert brimline_cli.run("load", "ycsb-a", *SHORT[:2], *uri, "--drop").exit_code == 0
            assert len(_told(lab)) == 6, "an empty collection that is there is as its owner wants it"
            assert "field1_1" in usertable.index_information()
    finally:
        assert brimline_cli.run("lab", "down", "cluster").exit_code == 0


@pytest.mark.long
@pytest.mark.slow("two clusters are brought up")
def test_a_router_near_the_client_and_one_near_the_shards(brimline_cli: CommandLine, tmp_path: Path) -> None:
    """A line before the router is a remote one, a line between the servers a router beside the client.

    Its quick twins are the load above, and `test_service_times_follow_the_network` of `test_vary_topology.py`.
    """
    spec = tmp_path / "one.yaml"
    spec.write_text("name: one\ndata: {records: 1000}\noperations: {read: 1.0}\nconnections: 1\n")
    outcome = brimline_cli.run(
        *("sweep", spec, "--topology", "sharded-1", "--vary", "network=10ms,members:15ms", *VERSION),
        *("--mongos", stand_in_mongos(brimline_cli.directory), "--cache-gb", "0.25", *SHORT, "-q", "--json"),
        *("--repeats", "1", "--repeats-max", "1"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    service_ms = {run["levels"]["network"]: run["service"]["p50_ns"] / 1e6 for run in outcome.json()["probes"]}
    # A line that is passed twice as often would take 40 and 60 ms.
    assert 20 <= service_ms["10ms"] < 38
    assert 30 <= service_ms["members:15ms"] < 56
    (directory,) = brimline_cli.record_directories(kind="vary-")
    for trial in directory.glob("trials/*-run-1-*"):
        server = json.loads((trial / "environment.json").read_text())["server"]
        assert (server["kind"], server["lab"]["topology"]) == ("mongos", "sharded cluster")
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--vary", "topology=standalone,sharded-2"), "a sharded cluster needs mongos", "client-routed"),
        (("--topology", "sharded-2", "--connections", "1,2"), "a sharded cluster needs mongos", "client-routed"),
        (("--topology", "replica-set-1", "--mongos", "MONGOS"), "--mongos is the router", "--topology sharded-2"),
        (("--mongos", "MONGOS"), "--mongos is the router", "--topology sharded-2"),
        (("--vary", "topology=standalone,replica-set-1", "--mongos", "MONGOS"), "--mongos is the router", ""),
        (("--topology", "sharded-2", "--mongos", "/nowhere/mongos"), "/nowhere/mongos", ""),
        (
            ("--vary", "topology=standalone,sharded-2", "--mongos", "MONGOS", "--mongod", "MONGOD 7"),
            "mongos is 6.0.5 and mongod is 7.0.1: a cluster needs the same release of both",
            "",
        ),
        (("--mongos", "MONGOS", "--uri", "mongodb://127.0.0.1:1"), "--mongos", "exclude each other"),
    ],
)
def test_what_can_t_be_is_refused_before_anything_starts(
    brimline_cli: CommandLine, words: tuple[str, ...], message: str, hint: str
) -> None:
    mongod = brimline_cli.directory / "mongod"
    mongod.write_text("#!/bin/sh\necho db version v7.0.1\n")
    mongod.chmod(0o755)
    programs = {"MONGOS": str(stand_in_mongos(brimline_cli.directory)), "MONGOD 7": str(mongod)}
    words = tuple(programs.get(word, word) for word in words)
    outcome = brimline_cli.run("sweep", "ycsb-c", *words, "-q", environment={"PATH": ""})
    outcome.check_error(2, message, hint)
    assert brimline_cli.record_directories() == []
    assert left_behind(brimline_cli.directory / "cache") == []

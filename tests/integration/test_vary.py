"""`brimline sweep --vary` with real servers: what is started and loaded, going on, and what is refused beforehand."""

import json
import signal
from pathlib import Path

import pytest

from brimline.servers import Deployment, control_client
from brimline.servers.binary import bundled_path
from tests.support.command_line import CommandLine
from tests.support.starved import awake

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

SHORT = ("--records", "1000", "--duration", "100ms", "--warmup", "20ms", "-q")
ONCE = ("--repeats", "1", "--repeats-max", "1")
TWICE = ("--repeats", "2", "--repeats-max", "2")
DATABASE = "brimline_vary"


@pytest.fixture
def uri(mongod: Deployment) -> str:
    return f"mongodb://{mongod.address}/{DATABASE}"


@pytest.mark.slow("runs of each combination on real servers")
def test_servers_are_fresh_for_each_level_and_block_and_loaded_once(brimline_cli: CommandLine) -> None:
    factors = ("--vary", "cache-gb=0.25,0.5", "--vary", "connections=1,4")
    outcome = awake(brimline_cli, "sweep", "ycsb-a", *factors, *TWICE, *SHORT, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert document["servers_apart_by"] == ["cache-gb"]
    runs = document["probes"]
    assert len(runs) == 2 * 4
    servers = {(run["block"], run["levels"]["cache-gb"]): run["server"] for run in runs}
    assert sorted(servers.values()) == [1, 2, 3, 4]
    assert sorted(load["server"] for load in document["load_runs"]) == [1, 2, 3, 4]
    shown = brimline_cli.run("show", "latest", "--json").json()
    assert shown["differences"] == document["differences"]
    (directory,) = brimline_cli.record_directories(kind="vary-")
    (argv,) = {_cache_of(trial) for trial in directory.glob("trials/*-run-1-0.25-*")}
    assert argv == "0.25"
    assert brimline_cli.run("report", "latest", "--format", "csv", "-o", "-").stdout.count("\n") == 1 + 8


def _cache_of(trial: Path) -> str:
    server = json.loads((trial / "environment.json").read_text())["server"]
    argv = server["getCmdLineOpts"]["argv"]
    return str(argv[argv.index("--wiredTigerCacheSizeGB") + 1])


@pytest.mark.long
@pytest.mark.slow("runs of each combination on real servers")
def test_several_workloads_on_binaries_give_one_table(brimline_cli: CommandLine, tmp_path: Path) -> None:
    """`test_version_against_version_is_one_command` of `test_server_versions.py` is the quick twin."""
    bundled = bundled_path()
    assert bundled is not None
    other = tmp_path / "mongod"
    other.symlink_to(bundled)
    outcome = awake(
        brimline_cli,
        *("sweep", "--vary", "workload=ycsb-a,ycsb-b", "--vary", f"mongod={bundled},{other}"),
        *("--vary", "connections=1,4", "--repeats", "1", "--repeats-max", "1", *SHORT, "--json"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert len(document["combinations"]) == 8
    assert len(document["load_runs"]) == 2, "two workloads of the same data share what was loaded"
    assert {each["verdict"] for each in document["differences"]} == {"no claim"}
    assert {tuple(each["at"]) for each in document["differences"]} == {("workload",)}
    writes = {run["levels"]["workload"]: run["label"] for run in document["probes"]}
    assert set(writes) == {"ycsb-a", "ycsb-b"}


@pytest.mark.slow("runs of each combination on real servers")
def test_indexes_and_write_concern_on_a_server_that_is_there(
    uri: str, mongod: Deployment, brimline_cli: CommandLine
) -> None:
    factors = ("--vary", "indexes=none,single,field1+field0", "--vary", "w=1,majority")
    once = ("--repeats", "1", "--repeats-max", "1", "--uri", uri)
    brimline_cli.run("sweep", "ycsb-a", *factors, *once, *SHORT).check_error(2, "", "--data load")
    outcome = brimline_cli.run("sweep", "ycsb-a", *factors, *once, *SHORT, "--data", "load", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert {run["server"] for run in document["probes"]} == {1}
    assert [load["levels"]["indexes"] for load in document["load_runs"]].count("single") == 1
    with control_client(mongod.address) as client:
        keys = {
            name: [list(dict(index["key"])) for index in client[DATABASE][name].index_information().values()]
            for name in client[DATABASE].list_collection_names()
            if name.startswith("usertable")
        }
    assert [each for each in keys["usertable_by_field0"] if each != ["_id"]] == [["field0"]]
    assert [each for each in keys["usertable_by_field1_field0"] if each != ["_id"]] == [["field1", "field0"]]
    again = brimline_cli.run("sweep", "ycsb-a", *factors, *once, *SHORT, "--json").json()
    assert again["load_runs"] == [], "what is there is taken"


@pytest.mark.slow("two servers are started, one for each cache size, with two runs on each")
def test_one_that_was_interrupted_goes_on(brimline_cli: CommandLine) -> None:
    running = brimline_cli.start(
        *("sweep", "ycsb-c", "--vary", "cache-gb=0.25,0.5", "--vary", "connections=1,2", *ONCE),
        *("--records", "1000", "--duration", "200ms", "--warmup", "50ms"),
    )
    directory = brimline_cli.wait_for_samples("ycsb-c", kind="vary-").parents[1]
    running.send(signal.SIGINT)
    ended = running.end()
    assert ended.exit_code == 130, ended.stderr
    outcome = brimline_cli.run("sweep", "--resume", str(directory), "-q", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert document["vary_ended_by"] in ("blocks_max", "precise")
    assert sorted((run["block"], *run["levels"].values()) for run in document["probes"] if run["attempt"] == 1) == [
        (1, cache, count) for cache in ("0.25", "0.5") for count in ("1", "2")
    ]
    brimline_cli.run("sweep", "--resume", str(directory), "--vary", "w=1,2").check_error(2, "--resume goes on")
    brimline_cli.run("capacity", "--resume", str(directory)).check_error(2, "holds a vary", "brimline sweep --resume")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--vary", "colour=a,b"), 'no factor "colour"', "factors are"),
        (("--vary", "connections=8"), "one level", ""),
        (("--vary", "connections=8,8"), "twice", ""),
        (("--vary", "w=1,2", "--vary", "w=1,3"), "given twice", ""),
        (("--vary", "compression=none,gzip"), "must be one of none, snappy, zlib, zstd", "compressors of messages"),
        (("--vary", "compression=none,zstd", "--null"), "the null target is none", "--null"),
        (
            ("--vary", "compression=none,zstd", "--uri", "mongodb://127.0.0.1:1/?compressors=zlib"),
            "contradict each other",
            "one of them",
        ),
        (("--vary", "connections=1,8", "--connections-max", "16"), "no meaning for sweep", "something else"),
        (("--vary", "rate=100,200"), "no meaning for sweep: its runs are in a closed loop", "something else"),
        (("--levels", "connections=1"), "one combination", "--levels connections=1,records=1k"),
        (("--levels", "connections=1,w=1", "--levels", "connections=8"), "other factors: write-concern", "--levels"),
        (("--vary", "connections=1,8", "--vary", "in-flight=1,8"), "connections 1 and in-flight 8 can't be had", ""),
        (("--vary", "records=1k,2k", "--records", "1000"), "contradict each other", ""),
        (("--vary", "cache-gb=0.25,1", "--cache-gb", "2"), "contradict each other", ""),
        (("--vary", "cache-gb=0.25,1", "--uri", "mongodb://127.0.0.1:1"), "servers that brimline starts", "--uri"),
        (("--vary", "cache-gb=0.25,1", "--null"), "the null target is none", "--null"),
        (("--vary", "client=wire,pymongo", "--null"), "pymongo is a driver", "--null"),
        (("--vary", "network=5ms,9ms", "--uri", "mongodb://127.0.0.1:1"), "servers that brimline starts", "--uri"),
        (("--vary", "mongod=/a,/b", "--server-version", "6.0"), "--vary mongod and --server-version contradict", ""),
        (("--vary", "indexes=none,nofield"), 'no field "nofield"', ""),
        (("--vary", "mongod=/nowhere/a,/nowhere/b"), "/nowhere/a: no such file", ""),
        (("--vary", "connections=1,8", "--repeats", "0"), "1 to 1000 repeats", ""),
        (("--vary", "connections=1,8", "--budget", "1s"), "budget is shorter", ""),
        (("--vary", "connections=1,8", "--precision", "5"), "no percentage", "5%"),
        (("--vary", "workload=ycsb-a,ycsb-b"), "the workload is given, and varied as well", "leave ycsb-c out"),
        (("--precision", "5%"), "no effect without --vary", ""),
    ],
)
def test_what_can_t_be_is_refused_before_anything_starts(
    brimline_cli: CommandLine, words: tuple[str, ...], message: str, hint: str
) -> None:
    brimline_cli.run("sweep", "ycsb-c", *words, "-q").check_error(2, message, hint)
    assert brimline_cli.record_directories() == []


def test_indexes_are_those_of_the_first_collection_unless_another_is_named(brimline_cli: CommandLine) -> None:
    (brimline_cli.directory / "shop.yaml").write_text(
        "collections: {customers: {records: 10, fields: {city: int}}, orders: {records: 10, fields: {sum: int}}}\n"
        "operations: {look: {find: {collection: orders}}}\n"
    )
    asked = ("sweep", "shop.yaml", "-q", "--uri", "mongodb://127.0.0.1:1", "--vary")
    refused = brimline_cli.run(*asked, "indexes=1,0")
    refused.check_error(
        2, '--vary indexes of customers: the documents have no field "1"', "orders.FIELD or orders.none"
    )
    brimline_cli.run(*asked, "indexes=orders.city,none").check_error(2, "--vary indexes of orders", "customers.FIELD")
    brimline_cli.run(*asked, "indexes=orders.sum,orders.none").check_error(5, "127.0.0.1:1")


def test_a_server_that_is_not_there_leaves_nothing_behind(brimline_cli: CommandLine) -> None:
    at = ("--uri", "mongodb://127.0.0.1:1")
    brimline_cli.run("sweep", "ycsb-c", "--vary", "connections=1,8", *at, "-q").check_error(5, "127.0.0.1:1")
    assert brimline_cli.record_directories() == []


def test_a_ladder_at_each_level_has_a_record_of_its_own(uri: str, brimline_cli: CommandLine) -> None:
    short = ("--records", "500", "--duration", "100ms", "--warmup", "20ms", "--connections-max", "2", "-q")
    at = ("--uri", uri, "--data", "load", "--drop")
    outcome = brimline_cli.run("sweep", "ycsb-c", "--vary", "keys=uniform,zipfian", *short, *at, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert document["measure"] == "sweep"
    assert [each["highest_ops_per_s"] > 0 for each in document["combinations"]] == [True, True]
    (directory,) = brimline_cli.record_directories(kind="vary-")
    names = [each["record"] for each in document["cells"]]
    for name in names:
        assert brimline_cli.run("show", str(directory / "trials" / name)).stdout.startswith("Sweep · ycsb-c")
    brimline_cli.run("capacity", "--resume", str(directory)).check_error(2, "holds a vary", "brimline sweep --resume")
    again = brimline_cli.run("sweep", "--resume", str(directory), *at[:2], "-q", "--json")
    assert [each["record"] for each in again.json()["cells"]] == names, "no cell is made twice"


def test_a_rate_is_kept_while_other_things_are_varied(uri: str, brimline_cli: CommandLine) -> None:
    """Each is a run with the load of its workload, and the times that are compared are response times."""
    words = ("--records", "500", "--duration", "300ms", "--warmup", "50ms", "--uri", uri, "--data", "load", "--drop")
    asked = ("run", "ycsb-a", "--rate", "300", "--vary", "write-concern=1,majority", "--repeats", "1", "-q", "--json")
    outcome = brimline_cli.run(*asked, "--repeats-max", "1", *words)
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert document["measure"] == "run"
    assert {run["levels"]["write-concern"] for run in document["probes"]} == {"1", "majority"}
    assert all(run["response"] is not None for run in document["probes"])
    (directory,) = brimline_cli.record_directories(kind="vary-")
    brimline_cli.run("sweep", "--resume", str(directory), "-q").check_error(2, "holds a vary", "brimline run --resume")
    again = brimline_cli.run("run", "--resume", str(directory), "--uri", uri, "-q", "--json")
    assert len(again.json()["probes"]) == 2


def test_loads_are_compared_on_one_server(uri: str, brimline_cli: CommandLine) -> None:
    asked = ("load", "ycsb-a", "--records", "300", "--vary", "compression=none,zlib", "--repeats", "1", "--drop")
    outcome = brimline_cli.run(*asked, "--repeats-max", "1", "--uri", uri, "-q", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert [each["throughput_documents_per_s"] > 0 for each in document["combinations"]] == [True, True]
    brimline_cli.run("load", "--vary", "compression=none,zlib", "ycsb-a", "--vary", "rate=1,2").check_error(
        2, "no meaning for load", "something else"
    )

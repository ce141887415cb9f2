"""Topology, network and read preference as factors, on labs of real servers; counts agree in every run (conftest)."""

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.distribution import distribution
from brimline.analysis.finding import Standing
from brimline.analysis.validity import opcounters
from brimline.record import RunRecord, read_record
from tests.support.command_line import CommandLine
from tests.support.labs import left_behind
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod

SHORT = ("--records", "1000", "--duration", "200ms", "--warmup", "50ms", "-q")
ONCE = ("--repeats", "1", "--repeats-max", "1")


@pytest.fixture(autouse=True)
def _needs_a_mongod() -> None:
    required_mongod()


def _sweep(cli: CommandLine, *words: str) -> dict[str, Any]:
    outcome = cli.run("sweep", *words, *ONCE, *SHORT, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    return dict(outcome.json())


def _trials(cli: CommandLine, levels: str) -> list[Path]:
    (directory,) = cli.record_directories(kind="vary-")
    return sorted(directory.glob(f"trials/*-{levels}"))


@pytest.mark.slow("each level has servers of its own")
def test_client_routed_shards_are_loaded_measured_counted_and_named_so(brimline_cli: CommandLine) -> None:
    factors = ("--vary", "topology=standalone,shards-2", "--vary", "workload=ycsb-a,ycsb-d")
    document = _sweep(brimline_cli, *factors, "--cache-gb", "0.25")
    assert document["factors"][0] == {"name": "topology", "levels": ["standalone", "client-routed-2"]}
    assert document["servers_apart_by"] == ["topology"]
    assert {each["levels"]["topology"] for each in document["loads"]} == {"standalone", "client-routed-2"}
    assert {run["result"] for run in document["probes"]} <= {"counts", "client_limited"}, document["probes"]
    trials = _trials(brimline_cli, "*-client-routed-2*")
    assert trials
    loads = [read_record(each) for each in sorted(brimline_cli.runs.rglob("trials/*-load-*"))]
    routed = [shards for record in loads if (shards := distribution(record.server_facts))]
    assert [[shard.documents for shard in shards] for shards in routed] == [[500, 500]] * len(routed)
    assert sum("each of the 2 shards" in opcounters(record).evidence for record in loads) == len(routed)
    assert routed
    for trial in trials:
        record = read_record(trial)
        work = [shard.operation_count for shard in distribution(record.server_facts)]
        assert all(count is not None and count > 0 for count in work), work
        assert len(record.plan.target.shards) == 1  # type: ignore[union-attr]
        held = opcounters(record)
        assert held.verdict is Standing.PASS, held.evidence
        assert "each of the 2 shards counted what was sent to it" in held.evidence
        server = record.environment["server"]
        assert (server["kind"], server["lab"]["topology"], server["lab"]["servers"]) == (
            "client-routed shards", "client-routed shards", 2,
        )  # fmt: skip
    (directory,) = brimline_cli.record_directories(kind="vary-")
    report = brimline_cli.run("report", str(directory), "--format", "md", "-o", "-").stdout
    groups = groupby(report.splitlines(), key=lambda line: line.startswith("|"))
    tables = [text for is_table, lines in groups if is_table and "| standalone" in (text := "\n".join(lines))]
    assert tables
    assert all("client-routed-2" in table for table in tables), tables
    assert "no sharded cluster" in report
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.long
@pytest.mark.slow("four servers and two elections; twins: test_client_routed_shards_…, test_reads_reach_the_members_…")
def test_shards_that_are_sets_are_loaded_indexed_and_read(brimline_cli: CommandLine) -> None:
    """Two sets of two members; the second run meets data and an index that are there."""
    factors = ("--vary", "indexes=none,single", "--vary", "connections=1,4", "--topology", "shards-2x2")
    document = _sweep(brimline_cli, "ycsb-a", *factors, "--cache-gb", "0.25")
    assert {run["result"] for run in document["probes"]} <= {"counts", "client_limited"}, document["probes"]
    trials = _trials(brimline_cli, "run-1-*")
    assert len(trials) == 4
    for trial in trials:
        target = read_record(trial).plan.target
        assert (len(target.shards), target.replica_set) == (1, None)  # type: ignore[union-attr]
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.slow("each level has servers of its own")
def test_service_times_follow_the_network(brimline_cli: CommandLine) -> None:
    document = _sweep(brimline_cli, "ycsb-c", "--vary", "network=local,10ms", "--cache-gb", "0.25")
    service_ns = {run["levels"]["network"]: run["service"]["p50_ns"] for run in document["probes"]}
    assert service_ns["10ms"] >= 0.999 * 20_000_000
    (trial,) = _trials(brimline_cli, "run-1-10ms")
    lab = json.loads((trial / "environment.json").read_text())["server"]["lab"]
    assert lab["network"] == {"delay_ns": 10_000_000, "rate_bit_per_s": None, "between": "clients"}
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.slow("each level has servers of its own")
@pytest.mark.long  # `test_reads_reach_the_members_that_are_preferred_and_no_others` of test_replica_sets.py is its twin
def test_reads_go_where_each_level_wants_them_on_one_set(brimline_cli: CommandLine) -> None:
    words = ("--topology", "replica-set-2", "--vary", "read-preference=primary,secondary", "--cache-gb", "0.25")
    document = _sweep(brimline_cli, "ycsb-a", *words)
    assert document["servers_apart_by"] == [], "all runs share one set"
    modes = {}
    for run in document["probes"]:
        (trial,) = _trials(brimline_cli, f"run-1-{run['levels']['read-preference']}")
        target = json.loads((trial / "plan.json").read_text())["target"]
        modes[run["levels"]["read-preference"]] = target.get("reads")
    assert modes["primary"] is None
    assert modes["secondary"]["mode"] == "secondary"
    assert len(modes["secondary"]["addresses"]) == 1
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("ycsb-c", "--vary", "topology=standalone,ring-3"), '"ring-3" is no topology', "replica-set-3"),
        (("ycsb-c", "--vary", "topology=standalone,cluster-2"), "behind a mongos", ""),
        (("ycsb-c", "--vary", "topology=standalone,replica-set-9"), "set of 9 members", ""),
        (("ycsb-c", "--vary", "topology=shards-2,client-routed-2"), "client-routed-2 twice", ""),
        (("ycsb-e", "--vary", "topology=standalone,shards-2"), "no query over client-routed shards", "without scans"),
        (("ycsb-c", "--vary", "topology=standalone,shards-2", "--topology", "shards-4"), "contradict", ""),
        (("ycsb-c", "--vary", "topology=standalone,shards-2", "--uri", "mongodb://127.0.0.1:1"), "brimline starts", ""),
        (("ycsb-c", "--vary", "network=local,faraway"), "is no network", ""),
        (("ycsb-c", "--vary", "read-preference=primary,secondary"), "needs a replica set", "--topology replica-set-3"),
        (("ycsb-c", "--vary", "read-preference=primary,anywhere"), "must be one of primary", ""),
        (
            ("ycsb-c", "--vary", "read-preference=primary,secondary", "--topology", "shards-2x2"),
            "go where writes go",
            "",
        ),
        (("ycsb-c", "--topology", "shards-2", "--uri", "mongodb://127.0.0.1:1"), "exclude each other", "one of them"),
        (
            ("ycsb-e", "--topology", "shards-2", "--connections-max", "2"),
            "no query over client-routed shards",
            "without",
        ),
        (("ycsb-c", "--network", "5ms", "--null"), "exclude each other", "one of them"),
    ],
)
def test_what_can_t_be_is_refused_before_anything_starts(
    brimline_cli: CommandLine, words: tuple[str, ...], message: str, hint: str
) -> None:
    brimline_cli.run("sweep", *words, "-q").check_error(2, message, hint)
    assert brimline_cli.record_directories() == []


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("find: {collection: orders}", "operations.one: which of the client-routed shards `find orders` is for"),
        ("find: {collection: orders, filter: {a: $order}}", "it doesn't ask for _id by a key of orders"),
        ("find: {collection: orders, filter: {_id: {$in: [$order]}}}", "it doesn't ask for _id by a key of orders"),
        ("find: {collection: orders, filter: {_id: $customer}}", "it doesn't ask for _id by a key of orders"),
        ("find: {collection: old, filter: {_id: $order}}", "its collection is existing"),
        ("insert: {collection: orders, document: {a: 1}}", "the _id of its document is no key of orders"),
        ("insert: {collection: orders, document: {_id: {$value: {new_key_of: orders}}}, count: 2}", "it has 2 stat"),
        ("command: {ping: 1}", "ping is about no single document"),
        (
            "aggregate: {collection: orders, pipeline: [{$match: {_id: $order}}, {$facet: {a: [{$lookup: "
            "{from: customers, pipeline: [], as: c}}]}}]}",
            "operations.one: the step aggregate orders has a stage that takes other documents",
        ),
    ],
)  # fmt: skip
def test_a_step_that_names_no_record_is_refused_on_client_routed_shards_before_a_server_is_started(
    here: CommandLine, step: str, reason: str
) -> None:
    Path("own.yaml").write_text(
        "collections: {orders: {records: 10}, customers: {records: 9, key_prefix: c}, old: existing}\n"
        "values: {order: {key_of: orders}, customer: {key_of: customers}}\n"
        f"operations: {{one: {{share: 1, {step}}}}}\n"
    )
    outcome = here.run("run", "own.yaml", "--topology", "client-routed-2")
    outcome.check_error(2, "operations of your own can't all run on client-routed-2", reason, "sharded-2")
    assert "bringing up" not in outcome.stderr
    outcome = here.run("sweep", "own.yaml", "--vary", "topology=standalone,shards-2")
    outcome.check_error(2, "operations of your own can't all run on", reason)


ROUTED = """
database: shop
collections:
  orders:
    records: 600
    key_prefix: o
    fields: {customer: {key_of: customers}, total: {kind: int, max: 9}}
  customers: {records: 200, key_prefix: c, insert_order: ordered, fields: {city: {kind: fake, what: city}}}
values:
  order: {key_of: orders}
  customer: {key_of: customers, keys: uniform}
  placed: {new_record_of: orders}
operations:
  look:
    steps:
      - find: {collection: orders, filter: {_id: $order}, limit: 1}
        save: {of: customer}
        expect: {documents: 1}
      - find: {collection: customers, filter: {_id: {$eq: $customer}}}
        expect: {documents: 1}
  bill: {update: {collection: orders, filter: {_id: $order}, update: {$inc: {total: 1}}}, expect: {matched: 1}}
  move: {replace: {collection: customers, filter: {_id: $customer}, replacement: {city: Xi'an}}, expect: {matched: 1}}
  take:
    find_and_modify: {collection: orders, filter: {_id: $order}, update: {$set: {taken: $now}}, new: true}
    expect: {fields: {_id: $order}}
  place: {insert: {collection: orders, document: $placed}}
  newest:
    find: {collection: orders, filter: {_id: {$value: {latest_key_of: orders}}}}
  count: {count: {collection: customers, filter: {_id: $customer}}, expect: {counted: 1}}
  sum:
    aggregate: {collection: orders, pipeline: [{$match: {_id: $order}}, {$group: {_id: null, n: {$sum: $$total}}}]}
    expect: {documents: 1}
  different: {distinct: {collection: orders, field: total, filter: {_id: $order}}}
  cancel:
    delete: {collection: orders, filter: {_id: $order}}
slo: {response_p99: 1s}
"""


def _held_shard_by_shard(record: RunRecord) -> list[int]:
    """Each shard must have counted what went to it, of steps and of documents; how many commands each answered."""
    held = opcounters(record)
    assert held.verdict is Standing.PASS, held.evidence
    assert "each of the 2 shards counted what was sent to it" in held.evidence
    assert record.summary is not None
    shards = record.summary["shards"]
    for name, total in record.summary["commands"].items():
        assert sum(shard["commands"][name] for shard in shards) == total
    return [sum(each["answered"] for each in shard["command_names"].values()) for shard in shards]


@pytest.mark.slow("two servers are brought up")
@pytest.mark.parametrize("topology", ["client-routed-2", *repetitions("client-routed-2x2")])
def test_steps_that_name_a_record_go_to_its_shard(topology: str, here: CommandLine) -> None:
    """Each finds its record, and what each server counts is what went to it."""
    required_mongod()
    found = ROUTED.replace("  cancel:\n    delete: {collection: orders, filter: {_id: $order}}\n", "")
    Path("routed.yaml").write_text(found)
    words = ("--topology", topology, "--cache-gb", "0.25", "--rate", "400/s", "--duration", "2s")
    outcome = here.run("run", "routed.yaml", *words, "--warmup", "0s", "--json")
    assert outcome.exit_code in (0, 3, 4), outcome.stderr
    document = outcome.json()
    assert document["error_rate"] == 0, document["errors"]
    assert {name: each["samples"] > 0 for name, each in document["operations"].items()} == dict.fromkeys(
        ["look", "bill", "move", "take", "place", "newest", "count", "sum", "different"], True
    )
    (directory,) = (each for each in here.record_directories() if "-load-" not in each.name)
    record = read_record(directory)
    assert all(count > 200 for count in _held_shard_by_shard(record))
    counted, sent = record.opcounters, record.summary
    assert counted is not None and sent is not None
    turned = replace(record, opcounters={**counted, "shards": counted["shards"][::-1]})
    swapped = opcounters(turned)
    assert swapped.verdict is Standing.FAIL, "their sum is the same"
    assert "it went to another shard than it was for" in swapped.evidence
    assert f"shard 1 ({counted['shards'][1]['address']}): " in swapped.evidence
    Path("routed.yaml").write_text(ROUTED)
    outcome = here.run("run", "routed.yaml", *words, "--warmup", "0s", "--json")
    assert outcome.exit_code in (0, 1, 3, 4), outcome.stderr
    assert outcome.json()["operations"]["cancel"]["samples"] > 0
    directory = max(each for each in here.record_directories() if "-load-" not in each.name)
    _held_shard_by_shard(read_record(directory))

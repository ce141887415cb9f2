"""The contract of runners: the same cases for every driver that is ready here, and for runners that fail."""

import hashlib
import json
import os
import runpy
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import bson
import psutil
import pymongo
import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.doctor.runners import runners_ready
from brimline.execution import execute
from brimline.execution.progress import Silence
from brimline.plan import resolve, runner_target, sql_target, wire_target
from brimline.record import RunRecord, read_record
from brimline.record.model import Samples, Summary
from brimline.runners import CATALOGUE, clients_for
from brimline.runners.catalogue import built
from brimline.servers import Deployment
from brimline.servers.sql_client import SqlError
from brimline.spec import load_spec
from tests.support.command_line import TIMEOUT_S, CommandLine, Outcome
from tests.support.java_histograms import JAVA_FOR_SECONDS
from tests.support.lies import Lie, Sending
from tests.support.lying_server import lying_server
from tests.support.repetitions import each_once
from tests.support.replica_set import Member
from tests.support.runners import TWINS, each_client, ready
from tests.support.scripted_server import OF_YCSB, scripted_server, started
from tests.support.simulation import context
from tests.support.sql_servers import SYSTEMS, SqlServer
from tests.support.waiting import eventually

each_pool = each_client("mongodb", "mysql", long=TWINS)
"""Each runner, but those whose twin is the quick one only in `make test-all`; with every kind of step all are tried."""
OWN_BOUND = ("go", "rust")
"""Runners that end an operation by its time themselves; of the others the driver does."""
_SOURCES = Path(__file__).parents[2] / "runners" / "python"

MIX = """\
name: both
data: {records: 300, fields: 3, field_length: 30}
operations: {read: 0.5, update: 0.5}
connections: 4
warmup: 0s
operation_count: 1000
operation_timeout: 20s
connect_timeout: 5s
drain_timeout: 5s
"""
EVERY_STEP = """\
name: both
database: runners
collections:
  orders:
    records: 60
    fields: {city: {kind: choice, of: [Berlin, 北京]}, total: {kind: double, max: 500}, number: {kind: int, max: 9}}
connections: 1
warmup: 0s
operation_count: 30
operations:
  all:
    steps:
      - find: {collection: orders, filter: {city: Berlin}, sort: {_id: 1}, batch_size: 7}
      - insert: {collection: orders, document: {city: new, total: 1.0}}
      - update: {collection: orders, filter: {city: Berlin}, update: {$inc: {number: 1}}, many: true}
      - replace: {collection: orders, filter: {city: none}, replacement: {city: none, number: 2}, upsert: true}
      - find_and_modify: {collection: orders, filter: {city: none}, update: {$inc: {number: 3}}, new: true}
        save: {number: number}
      - aggregate: {collection: orders, pipeline: [{$group: {_id: $$city, n: {$sum: 1}}}]}
      - count: {collection: orders, filter: {city: Berlin}}
      - distinct: {collection: orders, field: city}
      - delete: {collection: orders, filter: {city: new}}
      - bulk_write:
          collection: orders
          requests:
            - insert: {document: {city: bulk}}
            - update: {filter: {city: bulk}, update: {$set: {number: $number}}}
            - update: {filter: {city: bulk}, update: {$inc: {number: 1}}}
            - delete: {filter: {city: bulk}}
      - transaction:
          steps:
            - find: {collection: orders, filter: {city: none}, limit: 1}
            - update: {collection: orders, filter: {city: none}, update: {$inc: {paid: 1}}}
"""
EVERY_STATEMENT = """\
name: both
protocol: sql
collections:
  orders:
    records: 60
    fields:
      city: {kind: choice, of: [Berlin, 北京]}
      total: {kind: double, max: 500}
      number: {kind: int, max: 9}
      at: {kind: date, from: "2024-01-01", to: "2025-01-01"}
      sold: boolean
      raw: uuid
      place: {kind: document, fields: {x: int, name: {kind: string, length: 3}}}
values:
  order: {key_of: orders}
  city: {kind: choice, of: [it's, '北"京\\', "?"]}
  total: {kind: double, max: 500}
  at: {kind: date, from: "2024-01-01", to: "2025-01-01"}
  raw: uuid
  place: {kind: document, fields: {x: int, name: {kind: string, length: 3}}}
  sold: {kind: boolean}
  key: {concat: ["m", {text: $index}]}
  copy: {concat: ["c", {text: $index}, "-", {kind: string, length: 12}]}
connections: 1
warmup: 0s
operation_count: 30
operations:
  all:
    steps:
      - sql: "SELECT * FROM orders WHERE id = $order /* $order? */ AND city <> '$1?'"
        expect: {rows: 1, fields: {id: $order, number: {min: 0}}}
        save: {was: total, where: place, when: at, which: raw, if: sold}
      - sql: "SELECT id FROM orders WHERE id < 'user3'"
      - sql: "UPDATE orders SET number = number + 1, total = $total, city = $city WHERE id = $order"
        expect: {affected: 1}
      - sql: "INSERT INTO orders (id, city, total, at, sold, raw, place, number)
          VALUES ($key, $city, $was, $at, $sold, $raw, $place, 5)"
        expect: {affected: 1}
      - sql: "UPDATE orders SET at = $when, raw = $which, sold = $if, place = $where WHERE id = $key"
        save: {changed: {path: affected, from: reply}}
      - sql: {statement: "INSERT INTO orders (id, city, number) VALUES", row: [$copy, $city, $changed], count: 3}
        expect: {affected: 3}
      - sql: "DELETE FROM orders WHERE city = 'Berlin' AND id LIKE 'c%'"
      - transaction:
          - sql: "UPDATE orders SET number = number + 1 WHERE id = $order"
          - sql: "SELECT number FROM orders WHERE id = $order"
            expect: {rows: 1}
"""


@pytest.mark.parametrize("client", CATALOGUE)
def test_what_can_be_built_here_is_ready(client: str) -> None:
    """So that the tests of a language whose tools are here are not skipped without a word."""
    if not built().exists():
        pytest.skip("make runners was not called here")
    language = CATALOGUE[client].language.removesuffix(".js").lower()
    needed = runpy.run_path(str(_SOURCES.parent / "build.py"))["NEEDS"].get(language, ())
    if lacking := [program for program in needed if shutil.which(program) is None]:
        pytest.skip(f"there is no {' and no '.join(lacking)} on the PATH")
    missing, failed = CATALOGUE[client].missing(), built() / f"{language}.failed"
    if missing is not None and failed.exists():
        pytest.skip(f"make runners could not build it: {failed.read_text().strip()}")
    if missing is not None and "is not built" not in missing:
        pytest.skip(missing)  # such as a runtime that is too old
    assert missing is None


@pytest.fixture(autouse=True)
def _java_for_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that compiles little: half of the processor's time, where nothing runs for longer than some seconds."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", " ".join(JAVA_FOR_SECONDS))


def _spec(directory: Path, text: str = MIX) -> Path:
    path = directory / "both.yaml"
    path.write_text(text)
    return path


def _summary(brimline_cli: CommandLine) -> dict[str, Any]:
    """What the last run came to."""
    directory = max(each for each in brimline_cli.record_directories() if "-load-" not in each.name)
    summary: dict[str, Any] = json.loads((directory / "record.json").read_text())["summary"]
    return summary


def _counted(brimline_cli: CommandLine) -> dict[str, int]:
    """By how much the server's own counters moved in the last run: of documents, that no driver has use for itself."""
    directory = max(each for each in brimline_cli.record_directories() if "-load-" not in each.name)
    counted = read_record(directory).opcounters
    assert counted is not None
    return {name: counted["after"][name] - counted["before"][name] for name in ("insert", "query", "update", "delete")}


def _content(uri: str, database: str) -> str:
    """A hash of all documents, whatever is of one run alone taken out."""
    found = hashlib.sha256()
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        for name in sorted(client[database].list_collection_names()):
            if name == "brimline_manifest":
                continue
            for document in client[database][name].find(sort=[("_id", 1)]):
                key = document.pop("_id")
                found.update(bson.encode({"_id": None if isinstance(key, bson.ObjectId) else key, **document}))
    return found.hexdigest()


LONG_S = 900.0
"""For the many operations of a long test, one after the other, on a busy machine."""


def _run(
    brimline_cli: CommandLine, spec: Path, client: str, uri: str, *words: str, timeout_s: float = TIMEOUT_S
) -> Outcome:
    given = ("run", spec, "--client", client, "--uri", uri, "--data", "load", "--drop", "--json", "--seed", "7")
    return brimline_cli.run(*given, *words, timeout_s=timeout_s)


def _all_do_the_same(brimline_cli: CommandLine, uri: str, spec: Path, *, database: str, told: tuple[str, ...],
                     timeout_s: float = TIMEOUT_S) -> None:  # fmt: skip
    """Each client loads and runs. What is `told` of the run, the server's counts and what is in the collections then
    are as by the wire.
    """
    seen = {}
    for client in ("wire", *ready("mongodb")):
        outcome = _run(brimline_cli, spec, client, uri, "--connections", "1", timeout_s=timeout_s)
        assert outcome.exit_code in (0, 4), outcome.stderr
        summary = _summary(brimline_cli)
        assert summary["failed"] == summary["unfinished"] == 0, (client, summary["errors"])
        figures = {name: summary[name] for name in told if name in summary}
        figures.get("commands", {}).pop("getmore", None)
        counted = _counted(brimline_cli)
        # For each session that begins to write the server looks twice whether it knows that. The driver for Rust gives
        # a session back behind the next operation's start, which takes a second one.
        queries = seen["wire"][1]["query"] if seen else counted["query"]
        assert counted["query"] - queries in (0, 2), client
        seen[client] = (figures, counted | {"query": queries}, _content(uri, database))
    for client, each in seen.items():
        assert each == seen["wire"], client


@pytest.mark.mongod
@pytest.mark.long
def test_every_client_does_the_same(brimline_cli: CommandLine, mongod: Deployment, tmp_path: Path) -> None:
    """YCSB's kinds; the quick twin is `test_every_kind_of_step_does_the_same`."""
    _all_do_the_same(
        brimline_cli,
        f"mongodb://{mongod.address}",
        _spec(tmp_path),
        database="ycsb",
        told=("operations_hash", "commands", "operations"),
    )


UNFLUSHED = "target: {write_concern: {w: 1, journal: false}}\n"
"""Not waiting for the journal takes half of the time or less, and what is in the collections is the same."""
ORDERS = """\
name: both
database: runners
collections:
  orders:
    records: 300
    fields: {city: {kind: choice, of: [Berlin, 北京]}, total: {kind: double, max: 500}, paid: {kind: int, max: 9}}
connections: 1
warmup: 0s
operation_count: 20000
operations:
  pay:
    steps:
      - find: {collection: orders, filter: {city: Berlin}, limit: 5}
      - transaction:
          steps:
            - update: {collection: orders, filter: {city: Berlin}, update: {$inc: {paid: 1}}}
            - insert: {collection: orders, document: {city: new, total: 1.0}}
"""


@pytest.mark.mongod
@pytest.mark.long
@pytest.mark.parametrize("kind", ["ycsb-a", "transaction"])
def test_twenty_thousand_operations_of_every_client_leave_the_same(
    kind: str, brimline_cli: CommandLine, member: Member, tmp_path: Path
) -> None:
    """YCSB A, and an operation of several steps with a transaction: 20 000 operations of each.

    The quick twin is `test_every_kind_of_step_does_the_same`.
    """
    address = member.address
    if kind == "ycsb-a":
        spec = _spec(tmp_path, MIX.replace("operation_count: 1000", "operation_count: 20000") + UNFLUSHED)
        uri, told = f"mongodb://{address}/?directConnection=true", ("operations_hash", "commands", "operations")
        _all_do_the_same(brimline_cli, uri, spec, database="ycsb", told=told, timeout_s=LONG_S)
    else:
        uri, of_steps = f"mongodb://{address}/?replicaSet=test", ("commands", "operations", "steps", "document_counts")
        spec = _spec(tmp_path, ORDERS + UNFLUSHED)
        _all_do_the_same(brimline_cli, uri, spec, database="runners", told=of_steps, timeout_s=LONG_S)


ORDERS_SQL = """\
name: both
protocol: sql
collections:
  orders:
    records: 300
    fields: {city: {kind: choice, of: [Berlin, 北京]}, total: {kind: double, max: 500}, paid: {kind: int, max: 9}}
values: {order: {key_of: orders}, key: {concat: ["n", {text: $index}]}}
connections: 1
warmup: 0s
operation_count: 20000
operations:
  pay:
    steps:
      - sql: "SELECT * FROM orders WHERE city = 'Berlin' ORDER BY id LIMIT 5"
      - transaction:
          - sql: "UPDATE orders SET paid = paid + 1 WHERE id = $order"
          - sql: "INSERT INTO orders (id, city, total) VALUES ($key, 'new', 1.0)"
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ycsb-a", "transaction"])
def test_twenty_thousand_operations_of_every_sql_client_leave_the_same(
    kind: str, brimline_cli: CommandLine, sql_server: SqlServer, tmp_path: Path
) -> None:
    """The same by SQL; the quick twin is `test_every_sql_client_does_the_same`."""
    text = ORDERS_SQL if kind == "transaction" else MIX.replace("operation_count: 1000", "operation_count: 20000")
    _all_sql_clients_do_the_same(brimline_cli, sql_server, _spec(tmp_path, text), LONG_S)


@pytest.mark.mongod
@pytest.mark.slow("each client loads and runs")
def test_every_kind_of_step_does_the_same(brimline_cli: CommandLine, member: Member, tmp_path: Path) -> None:
    """Operations by their hash, counts, and what is in the collections in the end.

    One operation after the other, so that the last update of a record is the same one.
    """
    uri, spec = f"mongodb://{member.address}/?replicaSet=test", _spec(tmp_path, EVERY_STEP)
    seen = {}
    for client in ("wire", *ready("mongodb")):
        outcome = _run(brimline_cli, spec, client, uri)
        assert outcome.exit_code in (0, 4), outcome.stderr
        summary = _summary(brimline_cli)
        assert summary["failed"] == summary["unfinished"] == 0, summary["errors"]
        told = {
            name: summary[name] for name in ("commands", "operations", "steps", "document_counts", "operations_hash")
        }
        told["commands"].pop("getmore", None)
        seen[client] = (told, _content(f"mongodb://{member.address}", "runners"))
    for client, (told, content) in seen.items():
        assert content == seen["wire"][1], client
        for name, count in told.items():
            assert count == seen["wire"][0][name], (client, name)


def _rows(server: SqlServer) -> str:
    """A hash of the table's rows, each column of it."""
    found = hashlib.sha256()
    with server.client("runners") as client:
        tables = ("usertable", "orders")
        for name in tables:
            with suppress(SqlError):
                for row in client.rows(f"SELECT * FROM {name} ORDER BY 1"):
                    found.update(repr(row).encode())
    return found.hexdigest()


def _all_sql_clients_do_the_same(
    brimline_cli: CommandLine, server: SqlServer, spec: Path, timeout_s: float = TIMEOUT_S
) -> None:
    """Each has the same table to begin with. What each did, what the server counted and the rows are then alike."""
    seen = {}
    for client in ("wire", *ready("mysql")):
        server.make_database("runners")
        outcome = _run(brimline_cli, spec, client, server.uri("runners"), "--connections", "1", timeout_s=timeout_s)
        assert outcome.exit_code in (0, 4), outcome.stderr
        summary = _summary(brimline_cli)
        assert summary["failed"] == summary["unfinished"] == 0, (client, summary["errors"])
        agreement = next(each for each in outcome.json()["checks"] if each["name"] == "opcounters")
        assert agreement["result"] == "pass", (client, agreement)
        told = ("operations_hash", "commands", "command_names", "operations", "steps", "document_counts")
        seen[client] = ({name: summary.get(name) for name in told}, _rows(server))
    for client, each in seen.items():
        assert each == seen["wire"], client


@pytest.mark.slow("each client loads and runs")
@pytest.mark.parametrize(
    ("kind", "sql_server"), each_once(["ycsb", "every statement"], SYSTEMS), indirect=["sql_server"]
)
def test_every_sql_client_does_the_same(
    kind: str, brimline_cli: CommandLine, sql_server: SqlServer, tmp_path: Path
) -> None:
    text = MIX if kind == "ycsb" else EVERY_STATEMENT
    _all_sql_clients_do_the_same(brimline_cli, sql_server, _spec(tmp_path, text))


def _against(
    brimline_cli: CommandLine, tmp_path: Path, client: str, script: dict[str, Any], text: str = MIX, *words: str
) -> Outcome:
    with scripted_server(script) as server:
        given = ("--client", client, "--uri", server.uri, "--data", "as-is", "--json", "--details")
        return brimline_cli.run("run", _spec(tmp_path, text), *given, *words)


def _executed(
    client: str,
    script: dict[str, Any],
    directory: Path,
    text: str = MIX,
    *,
    is_killed: bool = False,
    **overrides: object,
) -> tuple[RunRecord, Summary]:
    """A run in this process, by one of the drivers, on a server that plays `script`; it may be killed in the middle."""
    spec = load_spec(_spec(directory, text), overrides={"target.client": client, **overrides}).spec
    is_sql = "mysql" in CATALOGUE[client].servers
    with started("mysql", script) if is_sql else started("mongodb", {**OF_YCSB, **script}) as (address, process):
        target = (
            sql_target(kind="mysql", address=address, database="d", client=client, max_pool_size=spec.pool_size)
            if is_sql
            else runner_target(spec, wire_target(spec, address=address))
        )
        around = replace(context(), progress=_Killing(process)) if is_killed else context()
        plan = resolve(spec, target=target)
        record = execute(plan, directory=directory / "run", title="scripted", context=around)
    assert record.summary is not None
    return record, record.summary


class _Killing(Silence):
    """Kills a process when the first second of a run is over."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def samples(self, samples: Samples) -> None:
        """The server is gone."""
        self._process.kill()


BALLAST_BYTES = 512 << 20


@each_pool
@pytest.mark.slow("a driver waits for another server")
def test_a_server_that_is_gone_and_the_size_of_the_pool(client: str, tmp_path: Path) -> None:
    """Drivers wait for another server, and in the end say that there is none: no reply was late."""
    spec = MIX.replace("connect_timeout: 5s", "connect_timeout: 1s").replace("1000", "1000000")
    ballast = b"x" * BALLAST_BYTES  # a process that was started by a large one has its peak at first
    record, summary = _executed(client, {}, tmp_path, spec, is_killed=True, connections=8, max_pool_size=2)
    del ballast
    assert summary["ended_by"] == "target_lost"
    assert {row["outcome"] for row in summary["errors"]} == {"connection_lost"}, summary["errors"]
    if "mongodb" in CATALOGUE[client].servers:
        _check_pool(client, record, summary)


@each_client("mysql")
def test_the_size_of_a_pool_of_sql(client: str, tmp_path: Path) -> None:
    """On a server that stays: a connection that is tried and refused counts there as one that was made."""
    record, summary = _executed(client, {}, tmp_path, connections=8, max_pool_size=2)
    assert summary["ok"] == 1000 and not summary["failed"]
    _check_pool(client, record, summary)


def _check_pool(client: str, record: RunRecord, summary: Summary) -> None:
    """A pool of two connections for eight workers."""
    [runner] = summary["runners"]
    assert runner["client"] == client and runner["workers"] == 8
    assert 1 <= runner["connections_created"] <= 2
    assert runner["pool_taken"] >= summary["ok"] > 0
    assert runner["cpu_ns"] > 0 and 1_000_000 < runner["memory_peak_bytes"] < BALLAST_BYTES
    waits = runner["pool_waits"]
    assert sum(waits) == runner["pool_taken"] + runner["pool_refused"]
    longest = max(place for place, count in enumerate(waits) if count)
    assert runner["pool_waited_max_ns"] >= 1000 * 2**longest // 2, "the bounds hold what they count"
    assert sum(count * (2**place // 2) for place, count in enumerate(waits)) * 1000 <= runner["pool_waited_ns"] + 1000
    assert observe(record).usage.client_connections == runner["connections_created"], "its sockets, and not its workers"
    for clock in ("clock_before", "clock_after"):
        assert abs(runner[clock]["ahead_ns"]) <= runner[clock]["error_ns"]


STALL_S = 1.0
OPEN = MIX + "load: {kind: constant, rate: 800/s}\n"


@each_client("mongodb", "mysql")
def test_failures_a_service_time_and_a_stall_are_seen(client: str, tmp_path: Path) -> None:
    """As the script has it, whoever sends the commands: one of a hundred fails, nothing comes for a second, seven
    connections are closed. An operation is due every 1.25 ms, so that those of the stall wait for its end, each by as
    much as it is due before that. Times are lower bounds on any machine, less what the runner's clock is known to.
    """
    bad = {"error": {"code": 2, "name": "BadValue"}}
    errors = [{"when": {"at_request": number}, "kind": bad} for number in range(25, 1000, 100)]
    closed = [{"when": {"at_request": number}, "kind": "close"} for number in range(300, 307)]
    script = {
        "service": {"kind": "fixed", "ns": 2_000_000},
        "stalls": [{"at_ns": 50_000_000, "length_ns": round(STALL_S * 1e9)}],
        "faults": [*errors, *closed],
    }
    record, summary = _executed(client, script, tmp_path, OPEN)
    [runner] = summary["runners"]
    error_ns = max(runner[clock]["error_ns"] for clock in ("clock_before", "clock_after"))
    seen = observe(record)
    assert seen.service is not None and seen.response is not None
    assert (seen.service.p50_ns or 0) >= 2_000_000 - error_ns
    assert seen.response.max_ns >= STALL_S * 0.98e9 - error_ns
    # 120 of 1000 are due in its first 0.15 s.
    assert (seen.response.quantiles[0.9].known_ns or 0) >= (STALL_S - 0.15) * 1e9 - error_ns
    failures = {(row["outcome"], row["code"]): 0 for row in summary["errors"]}
    for row in summary["errors"]:
        failures[row["outcome"], row["code"]] += row["count"]
    refused = failures.pop(("server_error", 2))
    assert refused == 10 and sum(failures.values()) == summary["failed"] - 10 >= 7
    assert {outcome for outcome, _ in failures} == {"connection_lost"}


ENDLESS = """\
name: both
database: runners
collections:
  orders: {records: 20, fields: {city: {kind: choice, of: [Berlin, 北京]}}}
connections: 1
warmup: 0s
operation_count: 3
operation_timeout: 400ms
connect_timeout: 3s
drain_timeout: 3s
operations:
  all:
    steps:
      - transaction:
          steps:
            - find: {collection: orders, filter: {city: none}, limit: 1}
            - update: {collection: orders, filter: {city: none}, update: {$inc: {paid: 1}}}
"""


@pytest.mark.mongod
@pytest.mark.other_client
@each_client("mongodb", long=[name for name in clients_for("mongodb") if name not in OWN_BOUND])
def test_a_transaction_whose_end_is_never_answered_holds_up_no_worker(
    client: str, brimline_cli: CommandLine, member: Member, tmp_path: Path
) -> None:
    """The server is silent from the first commit on, but for finds: to that one, to updates and to aborts."""
    spec = _spec(tmp_path, ENDLESS)
    tried: list[bytes] = []

    def silent(_random: object, request: bytes, reply: bytes) -> Sending:
        tried.extend([request] * (b"autocommit" in request))
        # Two try the steps before the run, then come the first transaction's find and update.
        is_quiet = b"autocommit" in request and b"find" not in request and len(tried) > 4
        return Sending(b"", then="silence") if is_quiet else Sending(reply)

    loaded = brimline_cli.run("load", spec, "--uri", f"mongodb://{member.address}/?directConnection=true", "--drop")
    assert loaded.exit_code == 0, loaded.stderr
    with lying_server(member.address, Lie("silent in transactions", silent, always=True)) as address:
        given = ("--client", client, "--uri", f"mongodb://{address}/?directConnection=true", "--data", "as-is")
        outcome = brimline_cli.run("run", spec, *given)
    with pymongo.MongoClient[dict[str, Any]](member.address, directConnection=True) as directly:
        directly.admin.command("killAllSessions", [])  # one may hold a lock, for which the next test would wait
    assert outcome.exit_code == 4, outcome.stderr
    summary = _summary(brimline_cli)
    assert (summary["ended_by"], summary["failed"]) == ("completed", 3), summary["message"]
    assert {row["outcome"] for row in summary["errors"]} == {"timeout"}


LOCKING = ENDLESS.replace("connections: 1", "connections: 4").replace(
    "operation_count: 3\noperation_timeout: 400ms", "duration: 600s\noperation_timeout: 20s"
) + "            - update: {collection: orders, filter: {city: none}, update: {$inc: {paid: 1}}}\n" * 20  # fmt: skip


@pytest.mark.mongod
@pytest.mark.other_client
@each_client("mongodb", long=TWINS)
def test_a_run_that_is_stopped_leaves_no_transaction_open(
    client: str, brimline_cli: CommandLine, member: Member, tmp_path: Path
) -> None:
    """Its locks would stay for a minute. Brimline is killed, so that only the runner can end what it began."""

    def opened() -> int:
        found: int = directly.admin.command("serverStatus")["transactions"]["currentOpen"]
        return found

    with pymongo.MongoClient[dict[str, Any]](member.address, directConnection=True) as directly:
        directly.admin.command("killAllSessions", [])  # of other tests
        given = ("--client", client, "--uri", f"mongodb://{member.address}/?directConnection=true")
        running = brimline_cli.start("run", _spec(tmp_path, LOCKING), *given, "--data", "load", "--drop")
        # At each moment some of four are open.
        assert eventually(lambda: opened() > 1), "none was opened"
        running.send(signal.SIGKILL)
        assert eventually(lambda: opened() == 0, timeout_s=2.0), opened()


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runner in place of Go's: PyMongo's with a fault, which a test writes after its 200th reply."""
    (tmp_path / "runners" / "go").mkdir(parents=True)
    monkeypatch.setenv("BRIMLINE_RUNNERS", str(tmp_path / "runners"))
    return tmp_path / "runners" / "go" / "runner"


def _program(program: Path, changes: str) -> None:
    """PyMongo's runner with `changes`, in its place and by its name."""
    program.write_text(
        f"#!{sys.executable}\n"
        f"import os, sys, time\nsys.path.insert(0, {str(_SOURCES)!r})\n"
        "import blocking, frames\nof_client = frames.ready\nframes.ready = lambda name: of_client('go')\n"
        f"{changes}blocking.main()\n"
    )
    os.chmod(program, stat.S_IRWXU)  # noqa: PTH101


def _break(program: Path, fault: str) -> None:
    _program(
        program,
        "whole, count = frames.Answers.reply, 0\n"
        "def reply(self, place, number, done, sent_ns, done_ns):\n"
        "    global count\n    count += 1\n    if count == 200:\n"
        f"        {fault}\n"
        "    whole(self, place, number, done, sent_ns, done_ns)\n"
        "frames.Answers.reply = reply\n",
    )


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("print('out of memory', file=sys.stderr); sys.stderr.flush(); time.sleep(0.2); os._exit(3)", "out of memory"),
        ("os.write(1, b'Exception in thread')", "what is no frame"),
        ("done_ns = sent_ns - 1", "stamps what can't be"),
        ("number += 1", "a reply to what nobody asked"),
        ("done.documents, done.body = 7, {**done.body, 'n': 7}", "claims more documents than the command was about"),
        ("self.send(77, b'')", "unknown kind 77"),
    ],
    ids=["dies", "garbage", "lies about time", "lies about a reply", "lies about counts", "another protocol"],
)
def test_a_runner_that_fails_ends_the_run_with_one_error(
    fault: str, told: str, broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """What was measured until then is kept, and no figure is given."""
    _break(broken, fault)
    outcome = _against(brimline_cli, tmp_path, "go", {})
    assert outcome.exit_code == 5, (outcome.exit_code, outcome.stdout, outcome.stderr)
    summary = _summary(brimline_cli)
    assert summary["ended_by"] == "target_lost"
    assert told in summary["message"], summary["message"]
    assert 150 <= summary["ok"] < 1000


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("os._exit(3)", "the runner has ended with exit status: 3"),
        ("os.kill(os.getpid(), 9)", "the runner has ended with signal: 9 (SIGKILL)"),
        ("os.close(1); time.sleep(600)", "the runner has closed its output, and goes on"),
        ("os.write(2, b'Error: ' + b'x' * 3000); os._exit(1)", "the runner has ended with exit status: 1: Error: xxx"),
    ],
    ids=["exit", "signal", "no output", "long words"],
)
def test_what_a_runner_started_ends_with_it(
    end: str, told: str, broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """And keeps nobody from seeing how the runner ended, although it holds the runner's pipes."""
    note, held = tmp_path / "child", ", stdout=subprocess.DEVNULL" if "close" in end else ""
    child = f"str(subprocess.Popen(['sleep', '600']{held}).pid)"
    _break(broken, f"import subprocess; open({str(note)!r}, 'w').write({child}); {end}")
    outcome = _against(brimline_cli, tmp_path, "go", {})
    number = int(note.read_text())
    is_left = psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    with suppress(ProcessLookupError):
        os.kill(number, 9)
    assert not is_left
    assert outcome.exit_code == 5, (outcome.exit_code, outcome.stdout, outcome.stderr)
    message = _summary(brimline_cli)["message"]
    assert message.startswith(told) and len(message) <= 402, message


@pytest.mark.slow("what hangs is given up by its time")
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("os.kill(os.getpid(), 19)", "the runner stands still"),
        ("time.sleep(60)", "the driver still waits for the answers"),
    ],
    ids=["process", "driver"],
)
def test_a_runner_that_hangs_is_given_up(
    fault: str, told: str, broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """A process that stands still is told from a driver that waits, whose runner still tells the time."""
    _break(broken, fault)
    spec = MIX.replace("connections: 4", "connections: 1").replace("operation_timeout: 20s", "operation_timeout: 500ms")
    outcome = _against(brimline_cli, tmp_path, "go", {}, spec.replace("connect_timeout: 5s", "connect_timeout: 1500ms"))
    assert outcome.exit_code == 5, (outcome.exit_code, outcome.stderr)
    summary = _summary(brimline_cli)
    assert summary["ended_by"] == "target_lost"
    assert told in summary["message"], summary["message"]


@pytest.mark.alone
def test_a_runner_that_was_stopped_is_no_outage_of_the_server(
    broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """It goes on after 0.9 s. Its operations took longer than they may, which is not the server's doing."""
    _break(broken, "os.system('(sleep 0.9; kill -CONT %d) &' % os.getpid()); os.kill(os.getpid(), 19)")
    spec = MIX.replace("operation_timeout: 20s", "operation_timeout: 200ms")
    outcome = _against(brimline_cli, tmp_path, "go", {}, spec)
    assert outcome.exit_code == 4, (outcome.exit_code, outcome.stderr)
    [runner] = _summary(brimline_cli)["runners"]
    assert 500_000_000 <= sum(each["still_ns"] for each in runner["standstills"]) <= 2_000_000_000
    [directory] = brimline_cli.record_directories()
    shown = observe(read_record(directory))
    [finding] = [each for each in shown.findings if each.name == "runner_standstills"]
    assert finding.verdict is Standing.FAIL and not shown.valid
    assert shown.silence is not None and shown.silence.cause == "runner", shown.silence


@pytest.mark.other_client
def test_a_runner_that_claims_what_it_did_not_do_spoils_the_run(
    broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """Its updates never reach the server, whose counters tell."""
    _program(
        broken,
        "from calls import Call\nwhole = blocking.call_of\n"
        "lie = Call(lambda _: None, lambda _: {'ok': 1, 'n': 1, 'nModified': 1})\n"
        "blocking.call_of = lambda *given: lie if given[2] == 'update' else whole(*given)\n",
    )
    outcome = _against(brimline_cli, tmp_path, "go", {})
    assert outcome.exit_code == 4, (outcome.exit_code, outcome.stderr)
    told = next(each for each in outcome.json()["checks"] if each["name"] == "opcounters")
    assert told["result"] == "fail" and "update" in told["evidence"], told


def test_a_driver_that_refuses_an_option_is_one_error(broken: Path, brimline_cli: CommandLine, tmp_path: Path) -> None:
    """In the driver's own words, before anything is sent."""
    _program(
        broken,
        "whole = blocking.MongoClient\nblocking.MongoClient = lambda uri, **rest: whole(uri, maxPoolSize=-1, **rest)\n",
    )
    with scripted_server({}) as server:
        outcome = brimline_cli.run(*("run", _spec(tmp_path), "--client", "go", "--uri", server.uri, "--data", "as-is"))
        assert server.opcounters()["query"] == 0
    outcome.check_error(5, "maxPoolSize", "these are the driver's words: correct an option that it refuses")
    assert "ulimit" not in outcome.stderr


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("'version': 2", "the runner speaks another version of the protocol than 1"),
        ("'client': 'pymongo'", 'the runner says that it is "pymongo", and not "go"'),
        ("'ahead_ns': -1", "the runner asks for commands at a time that can't be"),
        ("'ahead_ns': 1_000_000_001", "the runner asks for commands at a time that can't be"),
    ],
)
def test_a_runner_that_says_what_it_is_not_is_one_error(
    said: str, told: str, broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """As one that was built before the engine was, or is another's."""
    _program(
        broken,
        "import bson\nwhole = frames.ready\n"
        f"frames.ready = lambda name: bson.encode({{**bson.decode(whole(name)), {said}}})\n",
    )
    _against(brimline_cli, tmp_path, "go", {}).check_error(5, told, "make runners")


def test_a_runner_that_doubles_its_times_is_one_error(broken: Path, brimline_cli: CommandLine, tmp_path: Path) -> None:
    """By stamps that could each be: in a closed loop a command lies there while the one before it is under way."""
    _program(
        broken,
        "whole = frames.Answers.reply\n"
        "def reply(self, place, number, done, sent_ns, done_ns):\n"
        "    whole(self, place, number, done, 2 * sent_ns - done_ns, done_ns)\n"
        "frames.Answers.reply = reply\n",
    )
    outcome = _against(brimline_cli, tmp_path, "go", {"service": {"kind": "fixed", "ns": 5_000_000}})
    assert outcome.exit_code == 5, (outcome.exit_code, outcome.stdout, outcome.stderr)
    assert "before it was done with the last" in _summary(brimline_cli)["message"]


@pytest.mark.parametrize("now_ns", ["time.monotonic_ns() + 3_000_000_000", "0", "2**63"])
def test_a_clock_that_says_what_cannot_be_is_one_error(
    now_ns: str, broken: Path, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """After 20 true answers, 16 of them before the run."""
    _program(
        broken,
        "whole, count = frames.Answers.send, 0\n"
        "def send(self, kind, content):\n"
        "    global count\n    count += kind == frames.CLOCK_IS\n    if kind == frames.CLOCK_IS and count > 20:\n"
        f"        content = content[:4] + ({now_ns}).to_bytes(8, 'little')\n"
        "    whole(self, kind, content)\n"
        "frames.Answers.send = send\n",
    )
    outcome = _against(brimline_cli, tmp_path, "go", {}, MIX.replace("1000", "1000000"))
    assert outcome.exit_code == 5, (outcome.exit_code, outcome.stdout, outcome.stderr)
    assert "the runner tells a time that can't be" in _summary(brimline_cli)["message"]


@pytest.mark.parametrize(
    ("mode", "told"), [(stat.S_IRWXU, "no such library!"), (stat.S_IRUSR, "can't be started: Permission denied")]
)
def test_a_runner_that_cannot_begin(
    mode: int, told: str, broken: Path, brimline_cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own words, or the system's, are the error, and the hint has what it needs. Brimline's secrets it has not."""
    for name in ("BRIMLINE_PASSWORD", "BRIMLINE_WATCH_TOKEN"):
        monkeypatch.setenv(name, "geheim")
    broken.write_text(
        '#!/bin/sh\necho "no such library${BRIMLINE_PASSWORD+, a password}${BRIMLINE_WATCH_TOKEN+, a token}!" >&2\n'
        "exit 1\n"
    )
    os.chmod(broken, mode)  # noqa: PTH101
    outcome = _against(brimline_cli, tmp_path, "go", {})
    assert outcome.exit_code == 5
    assert told in outcome.stdout + outcome.stderr
    assert "hint: the client go needs: Go from 1.25 on" in outcome.stderr


@pytest.mark.parametrize(
    ("program", "client", "says", "told"),
    [
        ("java", "java-sync", 'openjdk version "11.0.2" 2019-01-15', "is 11.0.2, and it needs 17 or later"),
        ("java", "java-reactive", 'java version "1.8.0_292"', "is 1.8.0, and it needs 17 or later"),
        (
            *("java", "java-sync", 'NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx8g\nopenjdk version "16.0.1"'),
            "is 16.0.1, and it needs 17 or later",
        ),
        ("node", "node", "v18.20.4", "is 18.20.4, and it needs 20.19 or later"),
        ("node", "node", "", "says no version: nothing"),
    ],
)
def test_a_runtime_of_the_wrong_version_is_one_error(
    program: str, client: str, says: str, told: str, brimline_cli: CommandLine, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Before anything starts, by name; doctor says the same."""
    runtime = tmp_path / "bin" / program
    runtime.parent.mkdir()
    runtime.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    os.chmod(runtime, stat.S_IRWXU)  # noqa: PTH101
    monkeypatch.setenv("PATH", f"{runtime.parent}:{os.environ['PATH']}")
    outcome = brimline_cli.run("run", _spec(tmp_path), "--client", client)
    outcome.check_error(
        2, f"the client {client} is not ready: {runtime} {'--version ' if not says else ''}{told}", "from"
    )
    assert not brimline_cli.runs.exists()
    assert told in runners_ready().evidence


def test_a_runtime_of_just_the_version_that_is_needed_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = tmp_path / "node"
    runtime.write_text("#!/bin/sh\necho v20.19\n")
    os.chmod(runtime, stat.S_IRWXU)  # noqa: PTH101
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "20.19" not in runners_ready().evidence


def test_a_runner_that_is_not_built_names_the_way(
    brimline_cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMLINE_RUNNERS", str(tmp_path))
    outcome = brimline_cli.run("run", _spec(tmp_path), "--client", "go")
    outcome.check_error(2, "the client go is not ready", "make runners")
    assert not brimline_cli.runs.exists()


def test_a_client_that_there_is_not(brimline_cli: CommandLine, tmp_path: Path) -> None:
    brimline_cli.run("run", _spec(tmp_path), "--client", "odbc").check_error(2, "odbc", "--help")
    outcome = brimline_cli.run("run", _spec(tmp_path, MIX + "target: {client: odbc}\n"))
    outcome.check_error(2, "target.client", "java-sync")


def test_a_client_of_other_servers_is_refused_by_name(brimline_cli: CommandLine, tmp_path: Path) -> None:
    with scripted_server({}) as server:
        outcome = brimline_cli.run("run", _spec(tmp_path), "--client", "jdbc", "--uri", server.uri, "--data", "as-is")
    said = (
        "the client jdbc is for MariaDB, MySQL and PostgreSQL"
        if CATALOGUE["jdbc"].missing() is None
        else "the client jdbc is not ready"
    )
    outcome.check_error(2, said, "pymongo" if CATALOGUE["jdbc"].missing() is None else "make runners")

"""The contract of runners: the same cases for every driver that is ready here, and for runners that fail."""

import hashlib
import json
import os
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bson
import pymongo
import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.doctor.runners import runners_ready
from brimline.record import read_record
from brimline.runners import CATALOGUE
from brimline.servers import Deployment
from tests.support.command_line import TIMEOUT_S, CommandLine, Outcome
from tests.support.java_histograms import JAVA_FOR_SECONDS
from tests.support.replica_set import Member, replica_set
from tests.support.scripted_server import scripted_server
from tests.support.server import required_mongod

READY = [name for name, runner in CATALOGUE.items() if runner.missing() is None]
each_runner = pytest.mark.parametrize("client", READY)
TWINS = {"java-reactive": "java-sync", "pymongo-async": "pymongo"}
"""A runner, and the one whose pool it shares: both count a pool and its end by the same class."""
each_pool = pytest.mark.parametrize(
    "client", [pytest.param(name, marks=[pytest.mark.long] if TWINS.get(name) in READY else []) for name in READY]
)
"""Each runner, but those whose twin is the quick one only in `make test-all`."""
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


@pytest.fixture(autouse=True)
def _java_for_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that compiles little: half of the processor's time, where nothing runs for longer than some seconds."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", " ".join(JAVA_FOR_SECONDS))


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Member]]:
    with replica_set(required_mongod(), tmp_path_factory.mktemp("set")) as started:
        yield started


def _spec(directory: Path, text: str = MIX) -> Path:
    path = directory / "both.yaml"
    path.write_text(text)
    return path


def _summary(brimline_cli: CommandLine) -> dict[str, Any]:
    """What the last run came to."""
    directory = max(each for each in brimline_cli.record_directories() if "-load-" not in each.name)
    summary: dict[str, Any] = json.loads((directory / "record.json").read_text())["summary"]
    return summary


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
    """Each client loads and runs; what is `told` of the run and what is in the collections then is as by the wire."""
    seen = {}
    for client in ("wire", *READY):
        outcome = _run(brimline_cli, spec, client, uri, "--connections", "1", timeout_s=timeout_s)
        assert outcome.exit_code in (0, 4), outcome.stderr
        summary = _summary(brimline_cli)
        assert summary["failed"] == summary["unfinished"] == 0, (client, summary["errors"])
        figures = {name: summary[name] for name in told if name in summary}
        figures.get("commands", {}).pop("getmore", None)
        seen[client] = (figures, _content(uri, database))
    for client, each in seen.items():
        assert each == seen["wire"], client


@pytest.mark.mongod
@pytest.mark.slow("each client loads and runs")
def test_every_client_does_the_same(brimline_cli: CommandLine, mongod: Deployment, tmp_path: Path) -> None:
    """Operations by their hash, counts, and what is in the collection in the end: one after the other, so that the last
    update of a record is the same one.
    """
    _all_do_the_same(
        brimline_cli,
        f"mongodb://{mongod.address}",
        _spec(tmp_path),
        database="ycsb",
        told=("operations_hash", "commands", "operations"),
    )


ORDERS = """\
name: both
database: runners
collections:
  orders:
    records: 300
    fields: {city: {kind: choice, of: [Berlin, 北京]}, total: {kind: double, max: 500}, paid: {kind: int, max: 9}}
connections: 1
warmup: 0s
operation_count: 5000
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
    kind: str, brimline_cli: CommandLine, members: Sequence[Member], tmp_path: Path
) -> None:
    """YCSB A, and an operation of several steps with a transaction: 20 000 commands of each.

    The quick twins are `test_every_client_does_the_same` and `test_every_kind_of_step_does_the_same`.
    """
    address = members[0].address
    if kind == "ycsb-a":
        spec = _spec(tmp_path, MIX.replace("operation_count: 1000", "operation_count: 20000"))
        uri, told = f"mongodb://{address}/?directConnection=true", ("operations_hash", "commands", "operations")
        _all_do_the_same(brimline_cli, uri, spec, database="ycsb", told=told, timeout_s=LONG_S)
    else:
        uri, of_steps = f"mongodb://{address}/?replicaSet=test", ("commands", "operations", "steps", "document_counts")
        spec = _spec(tmp_path, ORDERS)
        _all_do_the_same(brimline_cli, uri, spec, database="runners", told=of_steps, timeout_s=LONG_S)


@pytest.mark.mongod
@pytest.mark.slow("each client loads and runs")
def test_every_kind_of_step_does_the_same(brimline_cli: CommandLine, members: Sequence[Member], tmp_path: Path) -> None:
    """Loaded by the wire: that each client loads the same is shown by `test_every_client_does_the_same`."""
    uri, spec = f"mongodb://{members[0].address}/?replicaSet=test", _spec(tmp_path, EVERY_STEP)
    seen = {}
    for client in ("wire", *READY):
        loaded = brimline_cli.run("load", spec, "--uri", uri, "--drop", "--seed", "7")
        assert loaded.exit_code == 0, loaded.stderr
        outcome = brimline_cli.run(
            *("run", spec, "--client", client, "--uri", uri, "--data", "as-is", "--json", "--seed", "7")
        )
        assert outcome.exit_code in (0, 4), outcome.stderr
        summary = _summary(brimline_cli)
        assert summary["failed"] == summary["unfinished"] == 0, summary["errors"]
        told = {name: summary[name] for name in ("commands", "operations", "steps", "document_counts")}
        told["commands"].pop("getmore", None)
        seen[client] = (told, _content(f"mongodb://{members[0].address}", "runners"))
    for client, (told, content) in seen.items():
        assert content == seen["wire"][1], client
        for name, count in told.items():
            assert count == seen["wire"][0][name], (client, name)


def _against(
    brimline_cli: CommandLine, tmp_path: Path, client: str, script: dict[str, Any], text: str = MIX, *words: str
) -> Outcome:
    with scripted_server(script) as server:
        given = ("--client", client, "--uri", server.uri, "--data", "as-is", "--json", "--details")
        return brimline_cli.run("run", _spec(tmp_path, text), *given, *words)


@each_pool
def test_a_pool_is_as_large_as_it_is_said_to_be(client: str, brimline_cli: CommandLine, tmp_path: Path) -> None:
    outcome = _against(brimline_cli, tmp_path, client, {}, MIX, "--connections", "8", "--max-pool-size", "2")
    assert outcome.exit_code in (0, 4), outcome.stderr
    [runner] = _summary(brimline_cli)["runners"]
    assert runner["client"] == client and runner["workers"] == 8
    assert 1 <= runner["connections_created"] <= 2
    assert runner["pool_taken"] >= 1000
    assert runner["cpu_ns"] > 0 and runner["memory_peak_bytes"] > 1_000_000
    waits = runner["pool_waits"]
    assert sum(waits) == runner["pool_taken"] + runner["pool_refused"]
    longest = max(place for place, count in enumerate(waits) if count)
    assert runner["pool_waited_max_ns"] >= 1000 * 2**longest // 2, "the bounds hold what they count"
    assert sum(count * (2**place // 2) for place, count in enumerate(waits)) * 1000 <= runner["pool_waited_ns"] + 1000
    [directory] = brimline_cli.record_directories()
    shown = observe(read_record(directory))
    assert shown.usage.client_connections == runner["connections_created"], "its sockets, and not its workers"
    for clock in ("clock_before", "clock_after"):
        assert abs(runner[clock]["ahead_ns"]) <= runner[clock]["error_ns"]


@each_runner
def test_failures_a_service_time_and_a_stall_are_seen(client: str, brimline_cli: CommandLine, tmp_path: Path) -> None:
    """As the script has it, whoever sends the commands: ten fail, then one second of nothing, then seven connections
    are closed. Times are lower bounds on any machine.
    """
    error = {"when": {"first_n": 10}, "kind": {"error": {"code": 2, "name": "BadValue"}}}
    closed = [{"when": {"at_request": number}, "kind": "close"} for number in range(200, 207)]
    script = {
        "service": {"kind": "fixed", "ns": 2_000_000},
        "stalls": [{"at_ns": 50_000_000, "length_ns": 1_000_000_000}],
        "faults": [error, *closed],
    }
    outcome = _against(brimline_cli, tmp_path, client, script, MIX.replace("1000", "400"))
    times = [each["service"] for each in json.loads(outcome.stdout)["operations"].values()]
    assert all(each["p50_ns"] >= 2_000_000 for each in times)
    assert max(each["max_ns"] for each in times) >= 600_000_000
    summary = _summary(brimline_cli)
    failures = {(row["outcome"], row["code"]): 0 for row in summary["errors"]}
    for row in summary["errors"]:
        failures[row["outcome"], row["code"]] += row["count"]
    refused = failures.pop(("server_error", 2))
    assert refused == 10 and sum(failures.values()) == summary["failed"] - 10 >= 7
    assert {outcome for outcome, _ in failures} == {"connection_lost"}


@each_pool
@pytest.mark.slow("a driver waits for another server")
def test_a_server_that_is_gone(client: str, brimline_cli: CommandLine, tmp_path: Path) -> None:
    """Drivers wait for another server, and in the end say that there is none: no reply was late."""
    with scripted_server({}) as server:

        def end_it() -> None:
            while server.opcounters()["query"] < 50:
                pass
            server.process.kill()

        ending = threading.Thread(target=end_it)
        ending.start()
        spec = _spec(tmp_path, MIX.replace("connect_timeout: 5s", "connect_timeout: 500ms").replace("1000", "1000000"))
        outcome = brimline_cli.run("run", spec, "--client", client, "--uri", server.uri, "--data", "as-is")
        ending.join()
    assert outcome.exit_code == 5, outcome.stderr
    summary = _summary(brimline_cli)
    assert summary["ended_by"] == "target_lost"
    assert {row["outcome"] for row in summary["errors"]} == {"connection_lost"}, summary["errors"]


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runner in place of Go's: PyMongo's with a fault, which a test writes after its 200th reply."""
    (tmp_path / "runners" / "go").mkdir(parents=True)
    monkeypatch.setenv("BRIMLINE_RUNNERS", str(tmp_path / "runners"))
    return tmp_path / "runners" / "go" / "runner"


def _break(program: Path, fault: str) -> None:
    program.write_text(
        f"#!{sys.executable}\n"
        f"import os, sys, time\nsys.path.insert(0, {str(_SOURCES)!r})\n"
        "import blocking, frames\n"
        "whole, count = frames.Answers.reply, 0\n"
        "def reply(self, place, number, done, sent_ns, done_ns):\n"
        "    global count\n    count += 1\n    if count == 200:\n"
        f"        {fault}\n"
        "    whole(self, place, number, done, sent_ns, done_ns)\n"
        "frames.Answers.reply = reply\nblocking.main()\n"
    )
    os.chmod(program, stat.S_IRWXU)  # noqa: PTH101


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("print('out of memory', file=sys.stderr); sys.stderr.flush(); time.sleep(0.2); os._exit(3)", "out of memory"),
        ("os.write(1, b'Exception in thread')", "what is no frame"),
        ("done_ns = sent_ns - 1", "stamps what can't be"),
        ("number += 1", "a reply to what nobody asked"),
        ("self.send(77, b'')", "unknown kind 77"),
    ],
    ids=["dies", "garbage", "lies about time", "lies about a reply", "another protocol"],
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


def test_a_runner_that_cannot_begin(broken: Path, brimline_cli: CommandLine, tmp_path: Path) -> None:
    """Its own words are the error, and the hint has what it needs."""
    broken.write_text("#!/bin/sh\necho 'no such library' >&2\nexit 1\n")
    os.chmod(broken, stat.S_IRWXU)  # noqa: PTH101
    outcome = _against(brimline_cli, tmp_path, "go", {})
    assert outcome.exit_code == 5
    assert "no such library" in outcome.stdout + outcome.stderr
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


def test_a_runner_that_is_not_built_names_the_way(
    brimline_cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMLINE_RUNNERS", str(tmp_path))
    outcome = brimline_cli.run("run", _spec(tmp_path), "--client", "go")
    outcome.check_error(2, "the client go is not ready", "make runners")
    assert not brimline_cli.runs.exists()

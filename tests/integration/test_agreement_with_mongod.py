"""What brimline says it did and what a real mongod says was done to it."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection

import brimline
from brimline import _native
from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.api.soak import SoakResult
from brimline.execution import DataPolicy, RunContext, Silence, StopToken, execute
from brimline.experiments.soak.figures import soak_figures
from brimline.plan import Plan, load_plan, resolve, wire_target
from brimline.record import read_experiment
from brimline.record.model import OperationTotals
from brimline.servers import Deployment, control_client
from brimline.servers.deployment import Client
from brimline.spec import load_spec
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.starved import awake

pytestmark = pytest.mark.mongod

WORKLOADS = ["ycsb-a", "ycsb-e", "ycsb-f", *repetitions("ycsb-b", "ycsb-c", "ycsb-d")]
"""B and C have reads and updates as A has, in other shares, and D has inserts as E has."""
RECORDS = 1000
OPERATIONS = 2000


@pytest.fixture
def client(mongod: Deployment) -> Iterator[Client]:
    with control_client(mongod.address) as client:
        yield client


def _overrides(**others: object) -> dict[str, object]:
    return {
        "data.records": RECORDS,
        "operation_count": OPERATIONS,
        "warmup": "0s",
        # A run that ends by its time has sent fewer operations on a busy machine, and has another hash.
        "duration": None,
        "connections": 8,
        **{name.replace("__", "."): value for name, value in others.items()},
    }


def _options(mongod: Deployment, directory: Path, *, data: DataPolicy = DataPolicy.LOAD) -> brimline.Options:
    return brimline.Options(uri=f"mongodb://{mongod.address}", data=data, runs_dir=directory)


def _opcounters(client: Client) -> dict[str, int]:
    return dict(client.admin.command("serverStatus")["opcounters"])


# Counts


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_server_counted_what_brimline_counted_and_the_mix_is_the_workload_s(
    workload: str, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    """The counters are read here and not by brimline, around the run alone."""
    brimline.run(workload, overrides=_overrides(operation_count=1), options=_options(mongod, tmp_path))
    loaded = load_spec(workload, overrides=_overrides())
    plan = resolve(loaded.spec, target=wire_target(loaded.spec, address=mongod.address))
    context = RunContext(deployment=mongod, spec_text=loaded.text, environment={}, progress=Silence(), stop=StopToken())
    before = _opcounters(client)
    record = execute(plan, directory=tmp_path / "run", title=workload, context=context)
    after = _opcounters(client)
    assert record.summary is not None
    totals = record.summary["operations"]
    assert sum(each["ok"] for each in totals.values()) == record.summary["sent"] == OPERATIONS
    counted = {kind: after[kind] - before[kind] for kind in ("query", "update", "insert", "getmore", "delete")}
    assert counted == _commands_of(totals)
    assert {kind: count for kind, count in counted.items() if count} == {
        kind: count for kind, count in record.summary["commands"].items() if count
    }
    shares = {operation: each["sent"] / OPERATIONS for operation, each in totals.items() if each["sent"]}
    wanted = loaded.spec.operations.shares
    assert shares == pytest.approx({name: share for name, share in wanted.items() if share}, abs=0.03)
    (finding,) = [each for each in observe(record).findings if each.name == "opcounters"]
    assert finding.verdict == "pass", finding.evidence


def _commands_of(totals: Mapping[str, OperationTotals]) -> dict[str, int]:
    """What a server is asked for these operations, when all of them succeed."""

    def ok(operation: str) -> int:
        return totals[operation]["ok"] if operation in totals else 0

    return {
        "query": ok("read") + ok("scan") + ok("read_modify_write"),
        "update": ok("update") + ok("read_modify_write"),
        "insert": ok("insert"),
        "getmore": 0,
        "delete": 0,
    }


def _read(collection: Collection[Any]) -> None:
    collection.find_one({})


def _write(collection: Collection[Any]) -> None:
    collection.update_one({}, {"$set": {"field0": b"of another"}})


def _write_elsewhere(collection: Collection[Any]) -> None:
    collection.database["elsewhere"].insert_one({})


@pytest.mark.other_client
@pytest.mark.parametrize(
    ("workload", "act", "kind"),
    [("c", _read, "query"), ("c", _write_elsewhere, "insert"), *repetitions(("a", _write, "update"))],
)
def test_another_client_at_work_makes_the_run_invalid(
    workload: str,
    act: Callable[[Collection[Any]], None],
    kind: str,
    mongod: Deployment,
    client: Client,
    tmp_path: Path,
) -> None:
    loaded = load_spec(f"ycsb-{workload}", overrides=_overrides())
    brimline.run(f"ycsb-{workload}", overrides=_overrides(operation_count=1), options=_options(mongod, tmp_path))
    plan = resolve(loaded.spec, target=wire_target(loaded.spec, address=mongod.address))

    class OtherClient(Silence):
        """Acts fifty times during the run: 2.5 % of it."""

        def begin(self, title: str, plan: Plan) -> None:
            for _ in range(50):
                act(client["ycsb"]["usertable"])

    context = RunContext(
        deployment=mongod, spec_text=loaded.text, environment={}, progress=OtherClient(), stop=StopToken()
    )
    record = execute(plan, directory=tmp_path / "run", title=workload, context=context)
    result = brimline.open_result(record.directory, runs_dir=tmp_path)
    assert result.exit_code == 4
    assert result.error is not None
    assert f"{kind}: the server counted" in result.error.message
    assert "50 more than brimline sent: another client was at work" in result.error.message
    client["ycsb"]["elsewhere"].drop()


@pytest.mark.other_client
def test_another_client_beside_a_soak_is_a_warning(mongod: Deployment, client: Client, here: CommandLine) -> None:
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.005):
            client["ycsb"]["elsewhere"].insert_one({})

    words = ("--rate", "100/s", "--duration", "2s", "--records", "100", "--data", "load", "--p99", "10s")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        at = ("--uri", f"mongodb://{mongod.address}", "--runs-dir", "runs")
        outcome = awake(here, "soak", "ycsb-c", *words, *at)
    finally:
        over.set()
        writer.join()
    client["ycsb"]["elsewhere"].drop()
    (directory,) = Path("runs").glob("*soak*")
    result = brimline.open_result(directory, runs_dir="runs")
    assert isinstance(result, SoakResult)
    (found,) = (each for each in result.observation.findings if each.name == "opcounters")
    assert found.verdict is Standing.WARN
    assert re.search(r"insert: the server counted \d+, \d+ more than brimline sent: another client", found.evidence)
    assert outcome.exit_code == 0, outcome.stderr
    failed = {each.name for each in observe(result.findings.observed.record).findings if each.verdict is Standing.FAIL}
    if failed == {"opcounters"}:  # else the generator stood still, which no lenient objective excuses here
        assert {"throughput", "p99"} <= set(soak_figures(read_experiment(directory), slo=None)), (
            "a design of soaks beside others has figures"
        )


# Data


def _raw_documents(collection: Collection[Any]) -> dict[str, bytes]:
    raw = collection.with_options(codec_options=collection.codec_options.with_options(document_class=RawBSONDocument))
    return {document["_id"]: bytes(document.raw) for document in raw.find({})}


def _intended_documents(plan: Plan) -> dict[str, bytes]:
    data = plan.data
    first, count = data.insert_start, data.record_count
    documents = _native.generate_documents(plan.canonical_json(), first, count)
    keys = _native.generate_keys(plan.canonical_json(), first, count)
    return dict(zip(keys, documents, strict=True))


SHAPES: dict[str, dict[str, object]] = {
    "as shipped": {},
    "ordered keys, from 500 on": {"data.insert_order": "ordered", "data.insert_start": 500, "data.zero_padding": 12},
    "few fields of many lengths": {"data.fields": 3, "data.field_length": {"kind": "uniform", "min": 1, "max": 300}},
    "small batches on many threads": {"data.batch_size": 7, "threads": 3, "connections": 5},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_load_leaves_exactly_the_intended_documents(
    shape: str, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    overrides = {"data.records": RECORDS, "data.collection": "loaded", "seed": 77, **SHAPES[shape]}
    before = _opcounters(client)
    result = brimline.load("ycsb-a", overrides=overrides, options=_options(mongod, tmp_path))
    inserted = _opcounters(client)["insert"] - before["insert"]
    assert result.exit_code == 0
    assert result.document_count == RECORDS
    assert inserted == RECORDS
    spec = load_spec("ycsb-a", overrides=overrides).spec
    intended = _intended_documents(load_plan(spec, target=wire_target(spec, address=mongod.address)))
    stored = _raw_documents(client["ycsb"]["loaded"])
    assert len(stored) == RECORDS
    assert stored == intended


@pytest.mark.parametrize("workload", ["ycsb-d", *repetitions("ycsb-e")])
def test_a_workload_that_inserts_can_be_run_again(
    workload: str, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    overrides = _overrides(data__collection=f"again-{workload}")
    collection = client["ycsb"][f"again-{workload}"]
    load = brimline.load(workload, overrides=overrides, options=_options(mongod, tmp_path))
    loaded = _raw_documents(collection)
    assert load.document_count == len(loaded) == RECORDS
    hashes = set()
    for _ in range(2):
        result = brimline.run(workload, overrides=overrides, options=_options(mongod, tmp_path, data=DataPolicy.CHECK))
        summary = result.record.summary
        assert summary is not None
        assert summary["failed"] == summary["miss"] == 0, summary["errors"]
        assert summary["sent"] == OPERATIONS
        assert summary["operations"]["insert"]["ok"] > 50
        assert _raw_documents(collection) == loaded
        hashes.add(summary["operations_hash"])
    assert len(hashes) == 1


def test_what_an_interrupted_run_inserted_is_gone_before_the_next(
    mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    """Nobody restores the data after a run that was cut short."""
    overrides = _overrides(data__collection="cut-short", operation_count=None, duration="60s")
    collection = client["ycsb"]["cut-short"]
    brimline.load("ycsb-d", overrides=overrides, options=_options(mongod, tmp_path))
    loaded = load_spec("ycsb-d", overrides=overrides)
    plan = resolve(loaded.spec, target=wire_target(loaded.spec, address=mongod.address))
    stop = StopToken()

    class Impatient(Silence):
        """Asks for the end as soon as something was done."""

        def tick(self, tick: Any) -> None:
            if tick.finished > 1000 and not stop.requested:
                stop.request()

    context = RunContext(deployment=mongod, spec_text=loaded.text, environment={}, progress=Impatient(), stop=stop)
    record = execute(plan, directory=tmp_path / "cut", title="d", context=context)
    assert record.ended_by == "interrupt"
    assert collection.estimated_document_count() > RECORDS
    next_run = brimline.run(
        "ycsb-d",
        overrides=_overrides(data__collection="cut-short"),
        options=_options(mongod, tmp_path, data=DataPolicy.CHECK),
    )
    assert next_run.record.summary is not None
    assert next_run.record.summary["failed"] == 0
    assert len(_raw_documents(collection)) == RECORDS


# The same operations

FEW = {"data.records": 500, "operation_count": 1000}
KINDS_OF_WORK = ["ycsb-a", "ycsb-e", *repetitions("ycsb-b", "ycsb-c", "ycsb-d", "ycsb-f")]
"""A has reads and updates, E scans and inserts; the others are of these."""


@pytest.mark.parametrize("workload", KINDS_OF_WORK)
def test_one_thread_and_two_threads_offer_the_same_operations(
    workload: str, mongod: Deployment, tmp_path: Path
) -> None:
    def run(*, threads: int, connections: int = 8, seed: int = 1) -> str:
        result = brimline.run(
            workload,
            overrides={**_overrides(threads=threads, connections=connections, seed=seed), **FEW},
            options=_options(mongod, tmp_path, data=DataPolicy.LOAD),
        )
        summary = result.record.summary
        assert summary is not None
        assert (summary["threads"], summary["sent"]) == (threads, FEW["operation_count"])
        assert summary["failed"] == 0
        return summary["operations_hash"]

    reference = run(threads=1)
    assert run(threads=2) == reference
    assert run(threads=2, connections=3) == reference
    assert run(threads=1, seed=2) != reference

"""The examples of operations of one's own: each resolves to its steps, and together they show every kind."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pymongo
import pytest

import brimline
from brimline.plan import NullTarget, Plan, load_plans, resolve
from brimline.plan.operations import OperationsWork
from brimline.servers import Deployment
from brimline.spec import load_spec
from brimline.spec.own import OwnOperations
from brimline.spec.own.protocols import all_kinds
from tests.support.explained_plan import explain
from tests.support.replica_set import Member
from tests.support.sql_servers import SqlServer

DIRECTORY = Path(__file__).parents[2] / "examples" / "own-operations"
LOADED: Mapping[str, Mapping[str, int]] = {
    "shop.yaml": {"customers": 2_000, "stock": 200, "orders": 10_000},
    "flights.yaml": {"flights": 5_000, "bookings": 2_000},
    "measurements.yaml": {"sensors": 200, "measurements": 20_000},
    "work-queue.yaml": {"tasks": 20_000},
    "addresses-zh.yaml": {"contacts": 5_000},
    "every-database.yaml": {"orders": 2_000},
}
"""What each loads."""


def plan_of(name: str) -> Plan:
    return resolve(load_spec(DIRECTORY / name).spec, target=NullTarget())


def work_of(name: str) -> OperationsWork:
    work = plan_of(name).work
    assert isinstance(work, OperationsWork)
    return work


def test_each_example_is_expected_and_has_a_line_in_the_readme() -> None:
    readme = (DIRECTORY.parent / "README.md").read_text(encoding="utf-8")
    assert {file.name for file in DIRECTORY.glob("*.yaml")} == set(LOADED)
    assert [name for name in LOADED if f"(own-operations/{name})" not in readme] == []


@pytest.mark.parametrize("name", LOADED)
def test_it_resolves(name: str) -> None:
    spec = load_spec(DIRECTORY / name).spec
    plans = load_plans(spec, target=NullTarget())
    assert {plan.namespace.collection: plan.data.record_count for plan in plans} == LOADED[name]
    assert len([line for line in explain(plan_of(name)) if line.startswith("operation: ")]) == len(
        spec.operations.shares
    )
    assert sum(each.weight for each in work_of(name).operations) == pytest.approx(1)


def test_a_shop() -> None:
    work = work_of("shop.yaml")
    place_order = work.operations[2].steps
    assert [step.name for step in place_order] == [
        "find customers",
        "find stock",
        "update stock",
        "insert orders",
        "commit",
    ]
    assert [step.transaction for step in place_order] == [None, None, "begin", "inside", "commit"]
    assert [len(load.operations) for load in work.loads] == [1]


def test_together_they_show_every_kind_of_step() -> None:
    shown = {kind for name in LOADED for kind in kinds_in(load_spec(DIRECTORY / name).spec.operations)}
    # What none of the stories needs: a command as it is, and a whole document in place of one.
    assert set(all_kinds()) - shown == {"command", "replace"}


def kinds_in(operations: Any) -> Iterator[str]:
    assert isinstance(operations, OwnOperations)
    for operation in operations.by_name.values():
        for step in operation.definition.get("steps", [operation.definition]):
            yield from (kind for kind in all_kinds() if kind in step)


@pytest.mark.mongod
@pytest.mark.parametrize("name", [name for name in LOADED if name != "shop.yaml"])
def test_it_runs(name: str, mongod: Deployment, tmp_path: Path) -> None:
    run(name, f"mongodb://{mongod.address}/", tmp_path)


@pytest.mark.mongod
def test_the_shop_runs_on_a_replica_set(member: Member, tmp_path: Path) -> None:
    totals = run("shop.yaml", f"mongodb://{member.address}/?directConnection=true", tmp_path)
    assert totals["place_order"]["ok"] > 0
    assert totals["revenue"]["ok"] > 0


def test_one_workload_runs_on_every_database(sql_server: SqlServer, tmp_path: Path) -> None:
    sql_server.make_database("every_database")
    options = brimline.Options(uri=sql_server.uri("every_database"), runs_dir=tmp_path / "runs")
    brimline.load(DIRECTORY / "every-database.yaml", options=options)
    short = {"warmup": "0s", "duration": "200ms"}
    result = brimline.run(DIRECTORY / "every-database.yaml", overrides=short, options=options)
    summary = result.record.summary
    assert summary is not None
    assert {name: each["failed"] for name, each in summary["operations"].items()} == dict.fromkeys(
        ("latest_orders", "order_with_items", "send", "place_order"), 0
    )


def run(name: str, uri: str, directory: Path) -> Mapping[str, Any]:
    """Loads an example and runs it for a moment; returns what became of its operations."""
    options = brimline.Options(uri=uri, runs_dir=directory / "runs")
    try:
        brimline.load(DIRECTORY / name, options=options)
        result = brimline.run(DIRECTORY / name, overrides={"warmup": "50ms", "duration": "250ms"}, options=options)
    finally:
        with pymongo.MongoClient[dict[str, Any]](uri) as client:
            client.drop_database(work_of(name).operations[0].steps[0].database)
    summary = result.record.summary
    assert summary is not None
    totals: Mapping[str, Any] = summary["operations"]
    assert {name: each["failed"] for name, each in totals.items() if each["failed"]} == {}
    assert sum(each["ok"] for each in totals.values()) > 0
    return totals

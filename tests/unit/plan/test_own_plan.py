"""The plan of a person's own workload: its collections one by one, its rows, its prose."""

import hashlib
from pathlib import Path

import bson
import pytest

from brimline.api.workplace import _with_uri
from brimline.errors import UsageError
from brimline.plan import NullTarget, Plan, collection_plan, load_plan, load_plans, resolve, with_tables
from brimline.plan.operations import OperationsWork
from brimline.spec import Spec, load_spec
from brimline.spec.document import dump_document
from tests.support.explained_plan import explain

SPEC = """
name: two
database: shop
collections:
  legacy: existing
  customers: {records: 300, fields: {city: {kind: choice, of: [Wuhan]}}, key_prefix: c}
  orders: {records: 5000, fields: {total: double}, batch_size: 50}
values:
  customer: {key_of: customers, keys: uniform}
  known: {sample: orders, fields: [total], count: 7}
  sku: {csv: skus.csv, types: {price: double, since: date}, at_end: stop}
  row: {jsonl: rows.jsonl, order: random}
operations:
  look: {share: 1, find: {collection: orders, filter: {total: $known.total, sku: $sku.sku, at: $row.at, note: null}}}
  pay:
    share: 3
    steps:
      - think_time: 10ms
      - update: {collection: customers, filter: {_id: $customer}, update: {$set: {paid: $now}}}
  report: {load: {kind: constant, rate: 2/s}, aggregate: {collection: orders, pipeline: []}}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    (tmp_path / "skus.csv").write_text('\ufeffsku,price,since\n"a, b",9.5,2024-01-01\n\nc,,\n', encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"at": {"x": 1}}\n\n{"at": {"$numberLong": "5"}, "b": 1}\n', encoding="utf-8")
    file = tmp_path / "two.yaml"
    file.write_text(SPEC, encoding="utf-8")
    return load_spec(file).spec


def own(plan: Plan) -> OperationsWork:
    assert isinstance(plan.work, OperationsWork)
    return plan.work


def test_there_is_a_load_for_each_collection_with_a_shape(spec: Spec) -> None:
    plans = load_plans(spec, target=NullTarget())
    assert [(each.namespace.database, each.namespace.collection) for each in plans] == [
        ("shop", "customers"),
        ("shop", "orders"),
    ]
    assert [each.data.record_count for each in plans] == [300, 5000]
    assert [each.operation_count for each in plans] == [1, 100]
    assert load_plan(spec, target=NullTarget()) == plans[0]


def test_the_plan_of_a_collection_is_about_it(spec: Spec) -> None:
    plan = resolve(spec, target=NullTarget())
    assert (plan.namespace.collection, plan.data.record_count) == ("customers", 300)
    of_orders = collection_plan(plan, 1)
    assert (of_orders.namespace.collection, of_orders.data.record_count) == ("orders", 5000)
    assert of_orders.work == plan.work


def test_what_changes_the_data_changes_the_first_collection(spec: Spec) -> None:
    """As the growth of a collection does, and the address of a server."""
    data = spec.data.model_copy(update={"records": 77, "collection": "customers_b"})
    changed = spec.model_copy(update={"data": data})
    work = own(resolve(changed, target=NullTarget()))
    assert (work.collections[0].collection, work.collections[0].data.record_count) == ("customers_b", 77)
    assert work.values[0].model_dump()["value"]["spec"]["record_count"] == 77
    assert work.operations[1].steps[0].collection == "customers_b"
    assert work.collections[1].data.record_count == 5000


def test_a_time_series_is_one_in_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "series.yaml"
    file.write_text(
        "collections:\n  a: {records: 5, fields: {at: {kind: clock, start: 2026-01-01, every: 1s}}, "
        "options: {timeseries: {timeField: at}}}\n  b: {records: 5}\n"
        "operations: {look: {find: {collection: a}}}\n",
        encoding="utf-8",
    )
    plan = resolve(load_spec(file).spec, target=NullTarget())
    assert [each.time_series for each in own(plan).collections] == [True, False]
    assert plan.canonical_json().count("time_series") == 1
    assert Plan.from_json(plan.canonical_json()) == plan


def test_the_database_of_the_address_is_that_of_all_collections(spec: Spec) -> None:
    work = own(resolve(_with_uri(spec, "mongodb://db.example.org:27017/other"), target=NullTarget()))
    assert {each.database for each in work.collections} == {"other"}
    assert {step.database for operation in work.operations for step in operation.steps} == {"other"}
    assert {table.sample.database for table in work.tables if table.sample is not None} == {"other"}


def test_files_are_read_and_samples_are_filled_later(spec: Spec) -> None:
    plan = resolve(spec, target=NullTarget())
    known, sku, row = own(plan).tables
    assert (known.columns, known.row_count, known.sha256, known.content) == (("total",), 0, "", b"")
    assert known.sample is not None
    assert (known.sample.database, known.sample.collection, known.sample.row_count_max) == ("shop", "orders", 7)
    assert (sku.columns, sku.row_count, sku.order, sku.at_end) == (("sku", "price", "since"), 2, "in_turn", "stop")
    rows = bson.decode_all(sku.content)
    assert [(each["sku"], each["price"]) for each in rows] == [("a, b", 9.5), ("c", None)]
    assert rows[0]["since"].year == 2024
    assert sku.sha256 == hashlib.sha256(sku.content).hexdigest()
    assert (row.columns, row.order) == (("at", "b"), "random")
    assert bson.decode_all(row.content)[1] == {"at": 5, "b": 1}

    content = bson.encode({"total": 1.0})
    filled = with_tables(plan, {"known": (content, 1)})
    assert own(filled).tables[0].row_count == 1
    assert own(filled).table_contents() == [content, sku.content, row.content]
    assert filled.hash8() != plan.hash8()
    assert content.hex() not in filled.canonical_json(), "rows travel beside the plan"


def test_prose(spec: Spec) -> None:
    lines = explain(resolve(spec, target=NullTarget()))
    assert any(line.startswith("data: 300 documents in shop.customers, 1 field (city), about ") for line in lines)
    assert "rows: known, up to 7 of shop.orders (total), at random" in lines
    assert "rows: sku, 2 (sku, price, since), in turn, at the end stop" in lines
    assert "operation: look, 25 %: find orders" in lines
    assert "operation: pay, 75 %: a pause of 10.0 ms, update customers" in lines
    assert "operation: report, a load of its own: aggregate orders" in lines
    assert any(line.startswith("load of report: constant rate of 2/s") for line in lines)


def test_it_is_written_down_and_reads_back(spec: Spec, tmp_path: Path) -> None:
    text = dump_document(spec.to_document())
    assert "note: null" in text
    again = tmp_path / "again.yaml"
    again.write_text(text, encoding="utf-8")
    read = load_spec(again).spec
    assert resolve(read, target=NullTarget()) == resolve(spec, target=NullTarget())
    changed = spec.model_copy(update={"data": spec.data.model_copy(update={"records": 77})})
    assert changed.to_document()["collections"]["customers"]["records"] == 77


def test_where_all_is_there_already_nothing_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "there.yaml"
    file.write_text(
        "collections: {orders: existing}\noperations: {look: {find: {collection: orders}}}\n", encoding="utf-8"
    )
    spec = load_spec(file).spec
    plan = resolve(spec, target=NullTarget())
    assert (plan.data.record_count, own(plan).collections) == (0, ())
    assert "data: what is there already; nothing is loaded" in explain(plan)
    assert load_plans(spec, target=NullTarget()) == ()
    with pytest.raises(UsageError, match="nothing to load"):
        load_plan(spec, target=NullTarget())
    assert load_spec(file).spec.to_document()["collections"] == {"orders": "existing"}

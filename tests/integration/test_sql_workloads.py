"""A workload of statements on real databases: its tables hold what was loaded, and its statements do what they say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bson
import pytest

from brimline import _native
from brimline.plan import Plan, SqlTarget, load_plans, resolve, sql_target
from brimline.plan.operations import OperationsWork
from brimline.plan.tables import SqlTable, sql_tables
from brimline.servers.sql_client import SqlClient
from brimline.spec import Spec, load_spec
from brimline.spec.document import dump_document
from tests.support.sql_servers import SqlServer

DATABASE = "spec_workloads"
ITEM = {
    "sku": {"kind": "string", "length": 6},
    "n": "int",
    "at": {"kind": "date", "from": "2024-01-01", "to": "2025-01-01"},
    "sold": "boolean",
    "of": {"kind": "document", "fields": {"x": "int"}},
}
FIELDS = {
    "customer": {"kind": "string", "length": 2, "alphabet": "ab"},
    "created": {"kind": "clock", "start": "2024-01-01", "every": "1s"},
    "total": {"kind": "double", "max": 500},
    "items": {"kind": "array", "length": 2, "of": {"kind": "document", "fields": ITEM}},
    "tags": {"kind": "array", "length": 3, "of": {"kind": "choice", "of": ["订单", "it's", 'a"b\\c']}},
    "raw": "uuid",
    "place": "point",
    "vip": "boolean",
}
SHOP: dict[str, Any] = {
    "protocol": "sql",
    "connections": 4,
    "warmup": "0s",
    "operation_count": 400,
    "collections": {
        "orders": {"records": 300, "fields": FIELDS, "indexes": [{"customer": 1, "created": -1}, {"items.sku": 1}]},
        "stock": {"records": 20, "key_prefix": "s", "fields": {"n": {"kind": "constant", "value": 1000}}},
    },
    "tables": {"orders": {"child": ["items", "tags"]}},
    "values": {"customer": FIELDS["customer"], "sku": {"key_of": "stock"}, "vip": "$flag", "flag": {"kind": "boolean"}},
    "operations": {
        "latest": {
            "share": 1,
            "sql": "SELECT * FROM orders WHERE customer = $customer ORDER BY created DESC LIMIT 20",
            "expect": {"rows": 20, "fields": {"customer": {"matches": "^[ab]{2}$"}}},
        },
        "place": {
            "share": 1,
            "steps": [
                {"sql": "SELECT total, vip FROM orders LIMIT 1", "save": {"total": "total"}},
                {
                    "transaction": [
                        {
                            "sql": "INSERT INTO orders (id, customer, created, total, vip) "
                            "VALUES ($new_id, $customer, $now, $total, $vip)",
                            "expect": {"affected": 1},
                        },
                        {"sql": "UPDATE stock SET n = n - 1 WHERE id = $sku", "expect": {"affected": 1}},
                    ]
                },
            ],
        },
        "many": {
            "share": 1,
            "sql": {
                "statement": "INSERT INTO orders (id, customer, created) VALUES",
                "row": [{"$value": {"concat": ["m", {"text": "$index"}, "-", {"kind": "string"}]}}, "'; --", "$now"],
                "count": 5,
            },
            "expect": {"affected": 5},
        },
        "either": {
            "share": 1,
            "sql": {"mysql": "SELECT VERSION() AS v, '$1' AS t", "postgres": "SELECT version() AS v, '$1' AS t"},
            "expect": {"fields": {"t": "$$1"}},
        },
    },
}


@pytest.fixture
def client(sql_server: SqlServer) -> Iterator[SqlClient]:
    sql_server.make_database(DATABASE)
    with sql_server.client(DATABASE) as client:
        yield client


def target_of(server: SqlServer) -> SqlTarget:
    address = server.target(DATABASE).address
    return sql_target(kind="mysql" if server.system == "mariadb" else "postgres", address=address, database=DATABASE)


def run(plan: Plan, server: SqlServer) -> dict[str, Any]:
    tables = plan.work.table_contents() if isinstance(plan.work, OperationsWork) else []
    running = _native.start(plan.canonical_json(), server.target(DATABASE).access.native, None, False, tables)
    while running.poll(1)["stage"] != "finished":
        pass
    return dict(running.join())


def loaded(spec: Spec, server: SqlServer, client: SqlClient) -> tuple[SqlTable, ...]:
    tables = sql_tables(spec, target_of(server).kind)
    for table, plan in zip(tables, load_plans(spec, target=target_of(server)), strict=True):
        client.change(table.create)
        summary = run(plan, server)
        assert not summary["failed"], summary
        for statement in table.after_load:
            client.change(statement)
    return tables


def count(client: SqlClient, table: str) -> int:
    return int(client.rows(f"SELECT COUNT(*) FROM {table}")[0][0])


def test_collections_become_tables_that_statements_work_on(
    sql_server: SqlServer, client: SqlClient, tmp_path: Path
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(dump_document(SHOP), encoding="utf-8")
    spec = load_spec(file).spec
    loaded(spec, sql_server, client)
    counts = {table: count(client, table) for table in ("orders", "orders_items", "orders_tags", "stock")}
    assert counts == {"orders": 300, "orders_items": 600, "orders_tags": 900, "stock": 20}
    documents = {
        key: document
        for plan in load_plans(spec, target=target_of(sql_server))[:1]
        for key, document in zip(_native.generate_keys(plan.canonical_json(), 0, 5), _documents(plan, 5), strict=True)
    }
    for key, document in documents.items():
        total, customer = client.rows(f"SELECT total, customer FROM orders WHERE id = '{key}'")[0]
        assert (float(total), customer) == (document["total"], document["customer"])
        items = client.rows(f"SELECT sku, n, sold FROM orders_items WHERE orders_id = '{key}' ORDER BY position")
        assert [(sku, n, bool(sold)) for sku, n, sold in items] == [
            (item["sku"], item["n"], item["sold"]) for item in document["items"]
        ]
        tags = client.rows(f"SELECT value FROM orders_tags WHERE orders_id = '{key}' ORDER BY position")
        assert [tag for (tag,) in tags] == document["tags"]

    summary = run(resolve(spec, target=target_of(sql_server)), sql_server)
    assert (summary["ok"], summary["failed"]) == (400, 0), summary["errors"]
    ended = {name: each["ok"] for name, each in summary["operations"].items()}
    assert count(client, "orders") == 300 + ended["place"] + 5 * ended["many"]
    assert client.rows("SELECT SUM(n) FROM stock")[0][0] == 20_000 - ended["place"]
    strange = client.rows("SELECT COUNT(*) FROM orders WHERE customer = '''; --'")
    assert strange[0][0] == 5 * ended["many"], "a value is no part of its statement"


def _documents(plan: Plan, number: int) -> list[dict[str, Any]]:
    return [bson.decode(each) for each in _native.generate_documents(plan.canonical_json(), 0, number)]


@pytest.mark.parametrize("workload", ["ycsb-a", "ycsb-d", "ycsb-e", "ycsb-f"])
def test_workloads_of_ycsb_run_as_they_are(sql_server: SqlServer, client: SqlClient, workload: str) -> None:
    small = {"data.records": 300, "operation_count": 300, "warmup": "0s", "connections": 4, "load": "closed"}
    spec = load_spec(workload, overrides=small).spec
    (table,) = loaded(spec, sql_server, client)
    key, first, *_ = client.rows(f"SELECT * FROM {table.quoted} LIMIT 1")[0]
    assert key.startswith("user")
    assert (len(first), first.isprintable()) == (100, True), "bytes of YCSB's are text"
    summary = run(resolve(spec, target=target_of(sql_server)), sql_server)
    assert (summary["ok"], summary["failed"]) == (300, 0), summary["errors"]
    ended = {name: each["ok"] for name, each in summary["operations"].items()}
    assert count(client, table.quoted) == 300 + ended.get("insert", 0)
    (longest,) = client.rows(f"SELECT MAX(CHAR_LENGTH(field0)) FROM {table.quoted}")[0]
    assert longest == 100, "what is written is as long as what was loaded"

"""The tables of an SQL database that collections become: statements to the letter, and what has no counterpart."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from brimline.errors import SpecError, UsageError
from brimline.plan.columns import Dialect
from brimline.plan.tables import SqlTable, sql_tables
from brimline.spec import load_spec

ORDERS: dict[str, Any] = {
    "records": 10,
    "fields": {
        "customer": {"key_of": "customers"},
        "created": {"kind": "clock", "start": "2024-01-01", "every": "1m"},
        "total": {"kind": "double", "max": 5},
        "status": {"kind": "choice", "of": {"open": 1, "sent": 3}},
        "items": {
            "kind": "array",
            "length": 2,
            "of": {"kind": "document", "fields": {"sku": {"kind": "string", "length": 5}, "n": "int"}},
        },
    },
    "indexes": [{"customer": 1, "created": -1}, {"keys": {"total": 1}, "unique": True}],
}


def _tables(tmp_path: Path, dialect: Dialect, **changed: Any) -> dict[str, SqlTable]:
    values = {
        "name": "shop",
        "database": "shop",
        "collections": {"customers": {"records": 5}, "orders": ORDERS},
        "operations": {"look": {"find": {"collection": "orders"}}},
        **changed,
    }
    file = tmp_path / "shop.yaml"
    file.write_text(yaml.safe_dump(values, sort_keys=False))
    return {table.collection: table for table in sql_tables(load_spec(str(file)).spec, dialect)}


def _with(field: Any, **more: Any) -> dict[str, Any]:
    """Collections of one with one field."""
    return {"customers": {"records": 5}, "orders": {"records": 1, "fields": {"f": field}, **more}}


def test_tables_of_mariadb(tmp_path: Path) -> None:
    table = _tables(tmp_path, "mysql")["orders"]
    assert table.create.splitlines() == [
        "CREATE TABLE `orders` (",
        "  `id` VARCHAR(255) NOT NULL,",
        "  `customer` VARCHAR(255),",
        "  `created` DATETIME(3),",
        "  `total` DOUBLE,",
        "  `status` VARCHAR(255),",
        "  `items` JSON,",
        "  PRIMARY KEY (`id`)",
        ") ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    ]
    assert table.after_load == (
        "CREATE INDEX `orders_customer_1_created_-1` ON `orders` (`customer`, `created` DESC)",
        "CREATE UNIQUE INDEX `orders_total_1` ON `orders` (`total`)",
    )
    assert table.insert == "INSERT INTO `orders` (`id`, `customer`, `created`, `total`, `status`, `items`) VALUES"
    assert table.bulk().form == "rows"


def test_tables_of_postgresql(tmp_path: Path) -> None:
    table = _tables(tmp_path, "postgres")["orders"]
    assert table.create.splitlines() == [
        'CREATE TABLE "orders" (',
        '  "id" VARCHAR(255) COLLATE "C" NOT NULL,',
        '  "customer" VARCHAR(255) COLLATE "C",',
        '  "created" TIMESTAMP(3) WITH TIME ZONE,',
        '  "total" DOUBLE PRECISION,',
        '  "status" VARCHAR(255) COLLATE "C",',
        '  "items" JSONB,',
        '  PRIMARY KEY ("id")',
        ")",
    ]
    bulk = table.bulk()
    assert (bulk.table, bulk.form) == ("orders", "copy")
    assert [(each.name, each.path, each.type) for each in bulk.columns] == [
        ("id", ("_id",), "text"),
        ("customer", ("customer",), "text"),
        ("created", ("created",), "datetime"),
        ("total", ("total",), "double"),
        ("status", ("status",), "text"),
        ("items", ("items",), "json"),
    ]


def test_a_child_table_has_a_row_for_each_element_and_the_indexes_of_its_fields(tmp_path: Path) -> None:
    orders = {**ORDERS, "indexes": [{"status": 1}, {"items.sku": 1}]}
    table = _tables(
        tmp_path,
        "mysql",
        collections={"customers": {"records": 5}, "orders": orders},
        tables={"orders": {"child": ["items"]}},
    )["orders"]
    assert table.after_load == (
        "CREATE TABLE `orders_items` (\n  `orders_id` VARCHAR(255) NOT NULL,\n  `position` INTEGER NOT NULL,\n"
        "  `sku` VARCHAR(255),\n  `n` INT,\n  PRIMARY KEY (`orders_id`, `position`)\n"
        ") ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "INSERT INTO `orders_items` (`orders_id`, `position`, `sku`, `n`) SELECT p.`id`, e.place - 1, e.c0, e.c1 "
        "FROM `orders` p, JSON_TABLE(p.`items`, '$[*]' COLUMNS (place FOR ORDINALITY, "
        "c0 VARCHAR(255) PATH '$.\"sku\"', c1 INT PATH '$.\"n\"')) e",
        "CREATE INDEX `orders_items_items.sku_1` ON `orders_items` (`sku`)",
        "ALTER TABLE `orders` DROP COLUMN `items`",
        "CREATE INDEX `orders_status_1` ON `orders` (`status`)",
    )
    assert "items" in [column.name for column in table.columns], "it is loaded first"


def test_a_child_table_of_postgresql_takes_plain_elements(tmp_path: Path) -> None:
    tags = {"kind": "array", "length": 2, "of": {"kind": "date", "from": "2024-01-01", "to": "2025-01-01"}}
    collections = _with(tags)
    table = _tables(tmp_path, "postgres", collections=collections, tables={"orders": {"child": ["f"]}})["orders"]
    assert table.after_load[1] == (
        'INSERT INTO "orders_f" ("orders_id", "position", "value") '
        "SELECT p.\"id\", e.place - 1, (e.item #>> '{}')::TIMESTAMP(3) WITH TIME ZONE "
        'FROM "orders" p, jsonb_array_elements(p."f") WITH ORDINALITY AS e(item, place)'
    )


@pytest.mark.parametrize(
    ("field", "mariadb", "postgresql"),
    [
        ("int", "INT", "INTEGER"),
        ("long", "BIGINT", "BIGINT"),
        ("sequence", "BIGINT", "BIGINT"),
        ("double", "DOUBLE", "DOUBLE PRECISION"),
        ("boolean", "BOOLEAN", "BOOLEAN"),
        ({"kind": "date", "from": "2024-01-01", "to": "2025-01-01"}, "DATETIME(3)", "TIMESTAMP(3) WITH TIME ZONE"),
        ({"kind": "string", "length": 255}, "VARCHAR(255)", 'VARCHAR(255) COLLATE "C"'),
        ({"kind": "string", "length": 256}, "TEXT", 'TEXT COLLATE "C"'),
        ({"kind": "string", "length": 20_000}, "LONGTEXT", 'TEXT COLLATE "C"'),
        ({"kind": "fake", "what": "sentence"}, "TEXT", 'TEXT COLLATE "C"'),
        ({"kind": "text", "parts": ["web-", {"kind": "int", "max": 9}]}, "VARCHAR(255)", 'VARCHAR(255) COLLATE "C"'),
        ({"kind": "text", "parts": [{"kind": "double"}]}, "TEXT", 'TEXT COLLATE "C"'),
        ("uuid", "BINARY(16)", "BYTEA"),
        ("binary", "LONGBLOB", "BYTEA"),
        ("object_id", "VARCHAR(255)", 'VARCHAR(255) COLLATE "C"'),
        ("point", "JSON", "JSONB"),
        ({"kind": "document", "fields": {"a": "int"}}, "JSON", "JSONB"),
        ({"kind": "choice", "of": ["订单", "b"]}, "VARCHAR(255)", 'VARCHAR(255) COLLATE "C"'),
        ({"kind": "choice", "of": [1, 2, None]}, "INT", "INTEGER"),
        ({"kind": "choice", "of": [1, 2**40]}, "BIGINT", "BIGINT"),
        ({"kind": "choice", "of": [1, 2.5]}, "DOUBLE", "DOUBLE PRECISION"),
        ({"kind": "choice", "of": [True, False]}, "BOOLEAN", "BOOLEAN"),
        ({"kind": "choice", "of": [1, "a"]}, "JSON", "JSONB"),
        ({"kind": "choice", "of": [True, 1]}, "JSON", "JSONB"),
        ({"kind": "constant", "value": None}, "JSON", "JSONB"),
        ({"kind": "constant", "value": "x"}, "VARCHAR(255)", 'VARCHAR(255) COLLATE "C"'),
    ],
)
def test_a_column_takes_every_value_of_its_generator(tmp_path: Path, field: Any, mariadb: str, postgresql: str) -> None:
    found = [
        _tables(tmp_path, dialect, collections=_with(field))["orders"].columns[1].sql
        for dialect in ("mysql", "postgres")
    ]
    assert found == [mariadb, postgresql]


def test_a_row_of_mariadb_with_many_texts_fits(tmp_path: Path) -> None:
    fields = {f"f{number}": {"kind": "string", "length": 9} for number in range(70)}
    collections = {"orders": {"records": 1, "fields": fields, "indexes": [{"f3": 1}]}}
    mariadb = _tables(tmp_path, "mysql", collections=collections)["orders"]
    assert [each.name for each in mariadb.columns if each.sql.startswith("VARCHAR")] == ["id", "f3"]
    postgresql = _tables(tmp_path, "postgres", collections=collections)["orders"]
    assert all(each.sql.startswith("VARCHAR") for each in postgresql.columns)


def test_records_of_ycsb_are_as_its_jdbc_binding_has_them() -> None:
    spec = load_spec("ycsb-a", overrides={"data.fields": 2}).spec
    (mariadb,), (postgresql,) = sql_tables(spec, "mysql"), sql_tables(spec, "postgres")
    assert mariadb.create.splitlines()[:5] == [
        "CREATE TABLE `usertable` (",
        "  `ycsb_key` VARCHAR(255) NOT NULL,",
        "  `field0` TEXT,",
        "  `field1` TEXT,",
        "  PRIMARY KEY (`ycsb_key`)",
    ]
    assert '"field1" TEXT COLLATE "C"' in postgresql.create
    assert [column.path for column in mariadb.columns] == [("_id",), ("field0",), ("field1",)]
    large = load_spec("ycsb-a", overrides={"data.fields": 1, "data.field_length": 70_000}).spec
    assert "`field0` LONGTEXT" in sql_tables(large, "mysql")[0].create


def test_names_are_quoted_whatever_is_in_them(tmp_path: Path) -> None:
    fields = {'a`"b': "int", "id": "int", "order": "int"}
    collections = {"or`der": {"records": 1, "fields": fields, "indexes": [{'a`"b': 1}]}}
    operations = {"look": {"find": {"collection": "or`der"}}}
    mariadb = _tables(tmp_path, "mysql", collections=collections, operations=operations)["or`der"]
    assert mariadb.insert == 'INSERT INTO `or``der` (`_id`, `a``"b`, `id`, `order`) VALUES'
    assert mariadb.indexes == ('CREATE INDEX `or``der_a``"b_1` ON `or``der` (`a``"b`)',)
    postgresql = _tables(tmp_path, "postgres", collections=collections, operations=operations)["or`der"]
    assert postgresql.insert == 'INSERT INTO "or`der" ("_id", "a`""b", "id", "order") VALUES'


def test_a_name_of_an_index_that_is_too_long_ends_with_its_hash(tmp_path: Path) -> None:
    collections = {"orders": {"records": 1, "fields": {"f" * 60: "int"}, "indexes": [{"f" * 60: 1}]}}
    (made,) = _tables(tmp_path, "postgres", collections=collections)["orders"].indexes
    name = made.split('"')[1]
    assert len(name) == 63
    assert name[-9] == "_"


def test_an_index_by_hash_and_a_sparse_unique_one_have_counterparts(tmp_path: Path) -> None:
    indexes = [{"f": "hashed"}, {"keys": {"f": 1}, "unique": True, "sparse": True}]
    made = _tables(tmp_path, "postgres", collections=_with("int", indexes=indexes))["orders"].indexes
    assert made == (
        'CREATE INDEX "orders_f_hashed" ON "orders" USING hash ("f")',
        'CREATE UNIQUE INDEX "orders_f_1" ON "orders" ("f")',
    )


@pytest.mark.parametrize(
    ("dialect", "collections", "message"),
    [
        (
            "mysql",
            _with("int", indexes=[{"f": "hashed"}]),
            r"collections\.orders\.indexes\[0\]: an index of the kind hashed",
        ),
        (
            "postgres",
            _with("point", indexes=[{"f": "2dsphere"}]),
            r"indexes\[0\]: an index of the kind 2dsphere has no count",
        ),
        ("postgres", _with("string", indexes=[{"f": "text"}]), "the kind text has no counterpart in PostgreSQL"),
        (
            "mysql",
            _with("int", indexes=[{"keys": {"f": 1}, "expireAfterSeconds": 5}]),
            r"indexes\[0\]\.expireAfterSeconds",
        ),
        (
            "mysql",
            _with("int", indexes=[{"keys": {"f": 1}, "sparse": True}]),
            r"indexes\[0\]\.sparse has no counterpart",
        ),
        (
            "postgres",
            _with("int", indexes=[{"keys": {"f": 1}, "partialFilterExpression": {"f": 1}}]),
            r"indexes\[0\]\.partialFilterExpression",
        ),
        (
            "mysql",
            _with({"kind": "document", "fields": {"city": "string"}}, indexes=[{"f.city": 1}]),
            r"f\.city is a part of a JSON column",
        ),
        ("mysql", _with("int", indexes=[{"g": 1}]), "g is no field of the collection"),
        ("mysql", _with({"kind": "string", "length": 300}, indexes=[{"f": 1}]), "an index of f, which is TEXT,"),
        ("postgres", _with("point", indexes=[{"f": 1}]), "an index of f, which is JSONB,"),
        ("mysql", _with("binary", indexes=[{"f": 1}]), "an index of f, which is LONGBLOB,"),
        ("mysql", _with("int", options={"capped": True, "size": 5}), r"collections\.orders\.options\.capped"),
        (
            "postgres",
            _with("int", options={"validator": {"f": 1}}),
            r"options\.validator has no counterpart in PostgreSQL",
        ),
        (
            "mysql",
            {"orders": {"records": 1, "fields": {"a": "int", "A": "int"}}},
            "the columns a and A of orders are the same to MariaDB",
        ),
        ("postgres", {"orders": {"records": 1, "fields": {"f" * 64: "int"}}}, "no names of 64 characters"),
        ("mysql", {"orders": {"records": 1, "fields": {"f" * 65: "int"}}}, "no names of 65 characters"),
    ],
)
def test_what_has_no_counterpart_is_named(
    tmp_path: Path, dialect: Dialect, collections: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        _tables(tmp_path, dialect, collections=collections)


@pytest.mark.parametrize(("dialect", "length"), [("postgres", 63), ("mysql", 64)])
def test_a_name_may_be_as_long_as_the_server_allows(tmp_path: Path, dialect: Dialect, length: int) -> None:
    collections = {"orders": {"records": 1, "fields": {"f" * length: "int"}}}
    assert "f" * length in _tables(tmp_path, dialect, collections=collections)["orders"].create


def test_the_fields_of_elements_leave_the_names_of_the_child_table_free(tmp_path: Path) -> None:
    items = {"kind": "array", "length": 1, "of": {"kind": "document", "fields": {"position": "int"}}}
    with pytest.raises(UsageError, match="have a field position, as the child table has"):
        _tables(tmp_path, "mysql", collections=_with(items), tables={"orders": {"child": ["f"]}})


@pytest.mark.parametrize(
    ("tables", "message", "hint"),
    [
        ({"order": {"child": []}}, "tables.order: is none of the collections", 'did you mean "orders"'),
        (
            {"orders": {"child": ["itms"]}},
            'tables.orders.child.*: orders has no field "itms"',
            'did you mean "items"',
        ),
        ({"orders": {"child": ["total"]}}, r"child\[0\]: total is no array", "leave it out"),
        ({"orders": {"child": ["items", "items"]}}, r"child\[1\]: items is there twice", "leave one"),
        ({"orders": {"childs": ["items"]}}, "tables.orders.childs: unknown key", "child"),
        ({"orders": {"child": "items"}}, "tables.orders.child", ""),
    ],
)
def test_slips_in_tables_are_told_with_their_place(tmp_path: Path, tables: Any, message: str, hint: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        _tables(tmp_path, "mysql", tables=tables)
    assert hint in (caught.value.hint or "")

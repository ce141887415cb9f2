"""What statements do to tables, told from their text: what is put back, and what is refused beforehand."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import bson
import pytest
from bson.decimal128 import Decimal128

from brimline.dataset import Definition
from brimline.errors import UsageError
from brimline.execution.effects import Effect
from brimline.execution.statement_effects import effects_on, require_statements_allowed
from brimline.execution.statements import bson_value
from brimline.execution.wanted import WantedData
from brimline.plan.tables import ChildTable, SqlTable
from tests.support.sql_work import statement_plan

CHILD = ChildTable(name="t_items", column="items", create="", fill="", leave="", indexes=())
TABLE = SqlTable(collection="t", name="t", dialect="mysql", columns=(), create="", children=(CHILD,))
NEW = {"kind": "list", "items": [{"kind": "new_key", "collection": 0}]}


def effects(command: str, text: str, *, is_ycsb: bool = False, body: dict[str, Any] | None = None) -> frozenset[Effect]:
    plan = statement_plan({"step": (command, text)}, body={} if body is None else {"step": body})
    wanted = WantedData(
        load=statement_plan({}, load=True), table=TABLE, definition=None if is_ycsb else Definition.of()
    )
    return effects_on(plan, wanted)


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("select", "SELECT * FROM t", set()),
        ("update", "UPDATE t SET a = 1", {Effect.CHANGE}),
        ("update", "UPDATE `T` SET a = 1", {Effect.CHANGE}),
        ("delete", "DELETE FROM t_items", {Effect.CHANGE}),
        ("update", "UPDATE t2 SET a = 1", set()),
        ("insert", "INSERT INTO t VALUES (1)", {Effect.CHANGE}),
        ("call", "CALL work('t')", {Effect.CHANGE}),
    ],
)
def test_what_a_statement_does_to_the_tables_that_it_names(command: str, text: str, expected: set[Effect]) -> None:
    assert effects(command, text) == expected


def test_an_insert_under_keys_that_follow_is_taken_away_again() -> None:
    assert effects("insert", "INSERT INTO t VALUES (?)", body=NEW) == {Effect.KEYS}


def test_the_updates_of_ycsb_leave_the_data_as_good_as_before() -> None:
    assert effects("update", "UPDATE t SET a = 1", is_ycsb=True) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE t SET a = 1",
        "UPDATE t AS one SET a = 1",
        "INSERT INTO `t` (a) VALUES (1)",
        "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2",
        "DELETE FROM t_items WHERE a",
        "DELETE FROM t",
        "DELETE FROM t x USING u WHERE x.a = u.a",
        "REPLACE INTO t VALUES (1)",
    ],
)
def test_our_own_tables_may_be_written_to(text: str) -> None:
    command = text.split()[0].lower()
    require_statements_allowed(statement_plan({"step": (command, text)}), ["t", "t_items"])


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("update", "UPDATE other SET a = 1"),
        ("update", "UPDATE t.u SET a = 1"),
        ("call", "CALL work()"),
        ("with", "WITH x AS (SELECT 1) DELETE FROM t"),
        ("drop", "DROP TABLE t"),
        ("update", "UPDATE t, other SET other.a = 1"),
        ("update", "UPDATE t JOIN other ON t.a = other.a SET other.a = 1"),
        ("update", "UPDATE t . other SET a = 1"),
        ("update", "UPDATE `t`.other SET a = 1"),
        ("update", "UPDATE T SET a = 1"),
        ("update", "UPDATE t /*!, other */ SET other.a = 1"),
        ("delete", "DELETE FROM t, other USING t JOIN other"),
        ("insert", "INSERT INTO t WITH x AS (DELETE FROM other RETURNING *) SELECT * FROM x"),
        ("insert", "INSERT INTO t SELECT * FROM (DELETE FROM other RETURNING *) x"),
    ],
)
def test_what_may_be_written_elsewhere_is_refused_and_named(command: str, text: str) -> None:
    with pytest.raises(UsageError, match=r"operations\.step: the step step writes to a table") as refused:
        require_statements_allowed(statement_plan({"step": (command, text)}), ["t"])
    assert "--allow-writes" in str(refused.value.hint)


def test_postgresql_writes_small_what_is_not_quoted() -> None:
    def allowed(text: str, ours: str) -> None:
        require_statements_allowed(statement_plan({"step": ("update", text)}, kind="postgres"), [ours])

    allowed("UPDATE T SET a = 1", "t")
    allowed('UPDATE "T" SET a = 1', "T")
    for text, ours in (("UPDATE T SET a = 1", "T"), ('UPDATE "T" SET a = 1', "t")):
        with pytest.raises(UsageError):
            allowed(text, ours)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (Decimal("1.50"), Decimal128("1.50")),
        (Decimal("123456789012345678901234567890.12345"), "123456789012345678901234567890.12345"),
        (2**64 - 1, Decimal128(str(2**64 - 1))),
        (True, True),
        (datetime(2026, 1, 2, 3, 4, 5, 123_000), datetime(2026, 1, 2, 3, 4, 5, 123_000)),
        (datetime(2026, 1, 2, 3, 4, 5, 123_456), "2026-01-02 03:04:05.123456"),
        (timedelta(hours=-838, minutes=-59, seconds=-59), "-838:59:59"),
        (timedelta(seconds=5, microseconds=7), "00:00:05.000007"),
        ([Decimal("1.5")], '["1.5"]'),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        ("0000-00-00", "0000-00-00"),
    ],
)
def test_a_value_of_a_row_is_the_same_when_it_is_sent_back(value: Any, kept: Any) -> None:
    assert bson.encode({"v": bson_value(value)}) == bson.encode({"v": kept})

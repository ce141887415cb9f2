"""What is said to a database that copies tables and puts them back, by one that only notes it."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from brimline.dataset.tables.copy import make_copy, put_copy_back
from brimline.dataset.tables.store import DIALECTS, Store
from brimline.plan.tables import ChildTable, SqlTable
from brimline.servers.sql_client import SqlClient

POSTGRES_NAME_BYTES = 63
"""PostgreSQL cuts longer names off there (NAMEDATALEN - 1), without a word of it."""


@dataclass
class Noted:
    """Statements in their order."""

    texts: list[str] = field(default_factory=list)

    def change(self, text: str, *_: Any) -> int:
        self.texts.append(text)
        return 0


def told(do: Any, name: str, *children: str) -> list[str]:
    """What `do` says to PostgreSQL about a table."""
    noted = Noted()
    store = Store(client=cast("SqlClient", noted), dialect=DIALECTS["postgres"], database="shop")
    of_children = tuple(ChildTable(name=each, column="", create="", fill="", leave="", indexes=()) for each in children)
    do(store, SqlTable(name, name, "postgres", columns=(), create="", children=of_children))
    return noted.texts


def test_a_table_and_its_children_are_emptied_and_filled_from_their_copies() -> None:
    assert told(put_copy_back, "orders", "orders_items") == [
        'TRUNCATE TABLE "orders"',
        'INSERT INTO "orders" SELECT * FROM "brimline_copy_orders"',
        'TRUNCATE TABLE "orders_items"',
        'INSERT INTO "orders_items" SELECT * FROM "brimline_copy_orders_items"',
    ]


@pytest.mark.parametrize("letter", ["a", "单"])
@pytest.mark.parametrize("beyond", [-1, 0, 1, 2, 3])
def test_copies_of_tables_whose_names_differ_at_their_end_are_told_apart(letter: str, beyond: int) -> None:
    """Also where a copy's name is just as long as a name may be, or a byte longer."""
    room = POSTGRES_NAME_BYTES + beyond - len("brimline_copy_") - 1
    start = letter * (room // len(letter.encode())) + "b" * (room % len(letter.encode()))
    names = [
        statement.split(" RENAME TO ")[1].strip('"')
        for last in "12"
        for statement in told(make_copy, f"{start}{last}")
        if " RENAME TO " in statement
    ]
    assert len({each.encode()[:POSTGRES_NAME_BYTES] for each in names}) == len(names) == 2

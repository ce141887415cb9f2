"""Owns the copy of a loaded table, from which it is put back after operations have changed it.

A copy has the rows and no more indexes than it needs; child tables have copies of their own.
"""

from collections.abc import Iterator

from brimline.dataset.tables.store import Store
from brimline.plan.tables import SqlTable

_PREFIX = "brimline_copy_"


def has_copy(store: Store, table: SqlTable) -> bool:
    """Whether there is a copy of all of it. Raises TargetError."""
    return all(store.exists(copy) for _, copy in _names(table))


def make_copy(store: Store, table: SqlTable) -> None:
    """Copies the table, and its children. Raises TargetError."""
    drop_copy(store, table)
    for name, copy in _names(table):
        for text in store.dialect.copy:
            store.change("copying the table", text.format(table=store.quoted(name), copy=store.quoted(copy)))


def put_copy_back(store: Store, table: SqlTable) -> None:
    """Makes the table what its copy is. Raises TargetError."""
    for name, copy in _names(table):
        store.change("putting the table back", f"TRUNCATE TABLE {store.quoted(name)}")
        store.change(
            "putting the table back",
            f"INSERT INTO {store.quoted(name)} SELECT * FROM {store.quoted(copy)}",  # noqa: S608 - names are quoted
        )


def drop_copy(store: Store, table: SqlTable) -> None:
    """Drops what there is of a copy. Raises TargetError."""
    for _, copy in _names(table):
        store.change("dropping a copy", f"DROP TABLE IF EXISTS {store.quoted(copy)}")


def _names(table: SqlTable) -> Iterator[tuple[str, str]]:
    """The tables and the names of their copies, which are short enough for both kinds of servers."""
    for name in (table.name, *(child.name for child in table.children)):
        yield name, f"{_PREFIX}{name}"[:63]

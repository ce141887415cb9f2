"""Owns the copy of a loaded table, from which it is put back after operations have changed it.

A copy has the rows and no more indexes than it needs; child tables have copies of their own.
"""

import hashlib
from collections.abc import Iterator

from brimline.dataset.tables.store import Store
from brimline.plan.tables import SqlTable

_PREFIX = "brimline_copy_"
_MAKING = "brimline_making_"
_NAME_BYTES_MAX = 63


def has_copy(store: Store, table: SqlTable) -> bool:
    """Whether there is a copy of all of it. Raises TargetError."""
    return all(store.exists(copy) for _, copy in _names(table))


def make_copy(store: Store, table: SqlTable) -> None:
    """Copies the table, and its children. Raises TargetError."""
    drop_copy(store, table)
    for name, copy in _names(table):
        making = store.quoted(_short(_MAKING, name))
        for text in store.dialect.copy:
            store.change("copying the table", text.format(table=store.quoted(name), copy=making))
        # Only a whole copy has the name of one: what was interrupted, or took too long, is none.
        store.change("copying the table", f"ALTER TABLE {making} RENAME TO {store.quoted(copy)}")


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
    for name, copy in _names(table):
        for each in (copy, _short(_MAKING, name)):
            store.change("dropping a copy", f"DROP TABLE IF EXISTS {store.quoted(each)}")


def _names(table: SqlTable) -> Iterator[tuple[str, str]]:
    """The tables and the names of their copies, which are short enough for both kinds of servers."""
    for name in (table.name, *(child.name for child in table.children)):
        yield name, _short(_PREFIX, name)


def _short(prefix: str, name: str) -> str:
    """A name that is short enough, and that no other table's is: a long one ends with its digest."""
    whole = f"{prefix}{name}"
    if len(whole.encode()) <= _NAME_BYTES_MAX:
        return whole
    return prefix + hashlib.sha256(name.encode()).hexdigest()[:32]

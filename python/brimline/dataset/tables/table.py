"""Owns the table around a load: made empty before, counted and indexed after; and rows taken away by their keys."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from brimline.dataset.manifest import Manifest
from brimline.dataset.tables.copy import drop_copy
from brimline.dataset.tables.keys import KEYS_AT_ONCE, LOOKED_FOR_AHEAD, KeysOf
from brimline.dataset.tables.store import Store, statements_of
from brimline.errors import InvalidRun
from brimline.plan.tables import SqlTable
from brimline.units import counted

_NO_TABLE: Final = "none"
"""The identity that no table has."""


def make_empty(store: Store, table: SqlTable, manifest: Manifest) -> None:
    """Drops what is there of the table and of its children, and makes the table, with a manifest in state "loading".

    Raises TargetError.
    """
    # First the word that the data is not whole: whoever looks after an interruption here finds it. It is about
    # the table that is there: where making another one fails, and somebody else makes it, that one isn't ours.
    there = store.identity(table.name) or _NO_TABLE
    store.write_manifest(replace(manifest, collection_uuid=there), statements_of(table))
    drop_copy(store, table)
    for name in (*(child.name for child in table.children), table.name):
        store.change("dropping the table", f"DROP TABLE IF EXISTS {store.quoted(name)}")
    store.change("making the table", table.create)
    store.write_manifest(replace(manifest, collection_uuid=None), statements_of(table))


def complete(store: Store, table: SqlTable, manifest: Manifest) -> Manifest:
    """Proves the count, makes child tables and indexes, and writes the manifest as complete.

    Raises:
        InvalidRun: the table does not hold exactly the intended rows; the manifest stays "loading".
        TargetError: the server doesn't answer or refuses.
    """
    intended, row_count = len(manifest.records), store.count(table.name)
    if row_count != intended:
        raise InvalidRun(
            f"the table {store.database}.{table.name} holds {counted(row_count, 'row')} and not the "
            f"intended {intended}",
            hint="load again; if another client writes there, name another database",
        )
    for text in table.after_load:
        store.change("making indexes", text)
    for name in (table.name, *(child.name for child in table.children)):
        # The server chooses plans by what it knows of the rows, and would learn it some time during the run.
        store.change("having the table's statistics taken", store.dialect.analyze.format(table=store.quoted(name)))
    finished = manifest.completed(count=row_count, collection_uuid=store.identity(table.name))
    store.write_manifest(finished, statements_of(table))
    return finished


def delete_keys(store: Store, table: SqlTable, keys: Sequence[str]) -> int:
    """Deletes the rows of these keys; how many there were. Raises TargetError."""
    marks = store.dialect.parameters(len(keys))
    key = store.quoted(table.key)
    return store.change(
        "removing the rows of an earlier run",
        f"DELETE FROM {table.quoted} WHERE {key} IN ({marks})",  # noqa: S608 - names are quoted
        *keys,
    )


def without_new_records(
    store: Store,
    table: SqlTable,
    manifest: Manifest,
    *,
    surplus: int,
    keys_of: KeysOf,
    is_given_up: Callable[[], bool],
) -> None:
    """Deletes rows of records behind the loaded ones, until `surplus` are gone or none is found. Raises TargetError."""
    first, missed = manifest.records.stop, 0
    while surplus > 0 and missed < LOOKED_FOR_AHEAD and not is_given_up():
        deleted = delete_keys(store, table, keys_of(range(first, first + KEYS_AT_ONCE)))
        surplus -= deleted
        missed = 0 if deleted else missed + KEYS_AT_ONCE
        first += KEYS_AT_ONCE

"""Owns the table around a load: tried and made empty before, counted and indexed after; rows deleted by their keys."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from brimline.dataset.manifest import Manifest
from brimline.dataset.tables.copy import drop_copy
from brimline.dataset.tables.keys import KEYS_AT_ONCE, LOOKED_FOR_AHEAD, KeysOf
from brimline.dataset.tables.store import Store, statements_of
from brimline.errors import InvalidRun, TargetError
from brimline.plan.tables import SqlTable
from brimline.units import counted

_NO_TABLE: Final = "none"
"""The identity that no table has."""


def require_makable(store: Store, table: SqlTable) -> None:
    """Raises TargetError where the server refuses what making the table anew and filling it takes.

    All of it is done under names of its own, without rows: to drop comes first in what is done later, and a user who
    may drop and not create, or whose server can't make a child table, would be left with nothing.
    """
    trial = f"brimline_trial_{secrets.token_hex(4)}"
    names = {name: f"{trial}_{place}" for place, name in enumerate(_dropped(table))}
    doing = f"trying whether {store.database}.{table.name} can be made anew, before anything is changed"
    try:
        inserting = f"INSERT INTO {table.quoted} SELECT * FROM {table.quoted}"  # noqa: S608 - names are quoted
        for text in (table.create, inserting, *table.after_load):
            store.change(doing, _renamed(text, names, store))
    finally:
        with suppress(TargetError):  # what was not made can't be dropped, and may not be
            _drop(store, list(names.values()))


def make_empty(store: Store, table: SqlTable, manifest: Manifest) -> None:
    """Drops what is there of the table and of its children, and makes the table, with a manifest in state "loading".

    Raises TargetError.
    """
    # First the word that the data is not whole: whoever looks after an interruption here finds it. It is about
    # the table that is there: where making another one fails, and somebody else makes it, that one isn't ours.
    before = store.read_manifest(table.name)
    there = [store.identity(name) for name in _dropped(table)]
    store.write_manifest(replace(manifest, collection_uuid=there[-1] or _NO_TABLE), statements_of(table))
    try:
        _drop(store, _dropped(table))
    except TargetError:
        # What the server keeps, because something else needs it, is what it was: not ours to drop the next time.
        if there == [store.identity(name) for name in _dropped(table)]:
            store.take_manifest_back(table.name, before)
        raise
    drop_copy(store, table)
    store.change("making the table", store.dialect.marked(table.create))
    store.write_manifest(replace(manifest, collection_uuid=None), statements_of(table))


def _dropped(table: SqlTable) -> list[str]:
    """All that is made anew, the children first."""
    return [*(child.name for child in table.children), table.name]


def _drop(store: Store, names: Sequence[str]) -> None:
    for name in names:
        store.change("dropping the table", f"DROP TABLE IF EXISTS {store.quoted(name)}")


def _renamed(text: str, names: Mapping[str, str], store: Store) -> str:
    """A statement about tables of other names. PostgreSQL's indexes have names of their own in all of a schema."""
    index = rf"(?<= INDEX ){re.escape(store.quoted('x')[0])}.*?(?= ON )"
    text = re.sub(index, store.quoted(f"brimline_trial_{secrets.token_hex(4)}"), text, count=1)
    for name, other in names.items():
        text = text.replace(store.quoted(name), store.quoted(other))
    return text


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

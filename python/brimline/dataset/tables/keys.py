"""Owns the question which rows are there, asked by the keys of their records: nothing else is trusted.

Every key is a function of its record's index. So an interrupted load is found by what is missing, and a table is
brimline's where each of its rows is under a key that only brimline makes.
"""

from collections.abc import Callable, Sequence
from typing import Final

from brimline.dataset.gaps import Gaps, gaps_in
from brimline.dataset.manifest import Manifest
from brimline.dataset.tables.store import Store
from brimline.plan.tables import SqlTable

KEYS_AT_ONCE: Final = 1000
"""Most keys that one statement names."""
LOOKED_FOR_AHEAD: Final = 10 * KEYS_AT_ONCE
"""So many keys without a row end the search for more: inserts that failed leave gaps."""
KeysOf = Callable[[range], Sequence[str]]
"""The keys of the records with these indices."""


def find_missing(
    store: Store, table: SqlTable, manifest: Manifest, keys_of: KeysOf, *, look_up: Callable[[], None]
) -> Gaps:
    """The records of an interrupted load that have no row. `look_up` is called now and then, and may raise.

    Raises UsageError: there are too many gaps; TargetError.
    """

    def which_are_there(chunk: range) -> Sequence[bool]:
        there: list[bool] = []
        for first in range(chunk.start, chunk.stop, KEYS_AT_ONCE):
            look_up()
            there += _are_there(store, table, keys_of(range(first, min(first + KEYS_AT_ONCE, chunk.stop))))
        return there

    return gaps_in(manifest.records, which_are_there, name=f"{store.database}.{table.name}")


def count_known(
    store: Store, table: SqlTable, manifest: Manifest, keys_of: KeysOf, *, look_up: Callable[[], None]
) -> int:
    """How many rows are under keys of records, those that were loaded and those that runs insert behind them.

    Raises TargetError.
    """
    known, missed, first = 0, 0, manifest.records.start
    while first < manifest.records.stop or missed < LOOKED_FOR_AHEAD:
        look_up()
        found = sum(_are_there(store, table, keys_of(range(first, first + KEYS_AT_ONCE))))
        known += found
        missed = 0 if found else missed + KEYS_AT_ONCE
        first += KEYS_AT_ONCE
    return known


def is_being_indexed(store: Store, table: SqlTable) -> bool:
    """Whether what follows a load has begun: child tables or indexes are there. Raises TargetError."""
    return any(store.exists(child.name) for child in table.children) or store.is_indexed(table.name)


def _are_there(store: Store, table: SqlTable, keys: Sequence[str]) -> list[bool]:
    """For each key, whether it has a row."""
    marks, key = store.dialect.parameters(len(keys)), store.quoted(table.key)
    text = f"SELECT {key} FROM {table.quoted} WHERE {key} IN ({marks})"  # noqa: S608 - names are quoted
    found = {str(row[0]) for row in store.rows("looking which rows are there", text, *keys)}
    return [key in found for key in keys]

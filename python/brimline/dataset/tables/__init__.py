"""Owns what surrounds loading a table: what is there, an empty table before it, the proof and indexes after it."""

from collections.abc import Iterator
from contextlib import contextmanager

from brimline.dataset.tables.copy import drop_copy, has_copy, make_copy, put_copy_back
from brimline.dataset.tables.inspection import (
    TableInspection,
    inspect_table,
    lost_with,
    require_nothing_given,
    require_ours,
)
from brimline.dataset.tables.keys import KeysOf, count_known, find_missing, is_being_indexed
from brimline.dataset.tables.store import DIALECTS, Store
from brimline.dataset.tables.table import complete, delete_keys, make_empty, require_makable, without_new_records
from brimline.plan.targets import SqlTarget
from brimline.servers.sql_client import open_client
from brimline.servers.target_uri import TargetUri


@contextmanager
def open_store(where: TargetUri, target: SqlTarget) -> Iterator[Store]:
    """A connection to the database of `target`. Raises TargetError."""
    with open_client(where, database=target.database) as client:
        yield Store(client=client, dialect=DIALECTS[target.kind], database=target.database)


__all__ = [
    "KeysOf",
    "Store",
    "TableInspection",
    "complete",
    "count_known",
    "delete_keys",
    "drop_copy",
    "find_missing",
    "has_copy",
    "inspect_table",
    "is_being_indexed",
    "lost_with",
    "make_copy",
    "make_empty",
    "open_store",
    "put_copy_back",
    "require_makable",
    "require_nothing_given",
    "require_ours",
    "without_new_records",
]

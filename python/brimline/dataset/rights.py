"""Owns the question whether the user may do all that is about to be done to data, before the first of it is done."""

from collections.abc import Iterable

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import TargetError
from brimline.servers.rights import BUCKETS, Rights, rights_of

READING = ("find", "listIndexes")
"""What a whole collection takes to be read, by MongoDB's names."""
LISTING = ("listCollections",)
"""What a database takes."""
_OF_READERS = frozenset({*READING, *LISTING})
_OF_ADMINS = frozenset({"bypassDocumentValidation", "collMod"})
"""Beyond readWrite."""


def require_rights(
    database: DataDatabase, collection: str, actions: Iterable[str], *, rights: Rights | None = None
) -> None:
    """Raises TargetError where the user may not do all of `actions`, by MongoDB's names, to the collection.

    A `collection` of "" is the database. `rights`: the user's, where they are known already.
    """
    wanted = set(actions)
    known = rights or rights_to_data(database)
    if missing := known.lacking(wanted, database=database.name, collection=collection):
        what = f"{database.name}.{collection}".rstrip(".")
        raise TargetError(
            f"the user may not do all that {what} needs: {', '.join(missing)} isn't granted",
            hint=f"nothing was changed; grant it, as {_roles(database.name, collection, wanted)} would",
        )


def rights_to_data(database: DataDatabase) -> Rights:
    """Those of the user. Raises TargetError."""
    with target_errors("asking for the user's rights"):
        return rights_of(database)


def _roles(database: str, collection: str, actions: set[str]) -> str:
    """Which of the built-in roles have all of it."""
    reads = actions <= _OF_READERS
    if collection.startswith(BUCKETS):
        return "the role backup on admin" if reads else "the roles backup and restore on admin"
    if reads:
        return f"the role read on {database}"
    if _OF_ADMINS.isdisjoint(actions):
        return f"the role readWrite on {database}"
    return f"the roles readWrite and dbAdmin on {database}"

"""Owns making a collection anew: empty, with all that the old one has besides documents, wherever that is cut short.

A collection beside it gets all of that first. A server then gives it the old one's name and drops the old one with
that, at once. Where none does (a time series, a sharded collection, a user who may not rename), it stays until the new
one is made: who comes after an end in between reads there what was lost, and drops it when its own is whole.

Source: MongoDB's manual on `renameCollection` with `dropTarget`.
"""

import secrets
from contextlib import suppress

from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, collection_exists, holds_documents, names_with, prefix_beside
from brimline.dataset.shape import Shape, make, read_shape
from brimline.dataset.sharding import HASHED_ID, ShardKey, shard, shard_key_of
from brimline.servers.refusal import NOT_ALLOWED_CODES

_KIND = "anew"


def names_beside(database: DataDatabase, name: str) -> list[str]:
    """The collections beside `name`, of any attempt; documents make one somebody else's. Raises PyMongoError."""
    return [each for each in names_with(database, prefix_beside(_KIND, name)) if not holds_documents(database, each)]


def was_cut_short(database: DataDatabase, name: str) -> bool:
    """Whether an end between dropping and making left it only beside. Raises PyMongoError."""
    return not collection_exists(database, name) and bool(names_beside(database, name))


def with_left(database: DataDatabase, name: str, there: Shape | None) -> Shape:
    """`there`, what the collection has, and what it lost where making it anew was cut short. Raises PyMongoError."""
    shape = Shape() if there is None else there
    for each in _left(database, name):
        shape = shape.with_lost(read_shape(database, each) or Shape())
    return shape


def shard_key_wanted(database: DataDatabase, name: str) -> ShardKey | None:
    """What a collection that is made anew behind a mongos is to be sharded by; None: by nothing.

    One that is there keeps what it has, which its owner has chosen, also where making it anew was cut short; a new one
    is spread by its hashed `_id`. Raises PyMongoError.
    """
    left = _left(database, name)
    if not (left or collection_exists(database, name)):
        return ShardKey(fields=HASHED_ID)
    return next(filter(None, (shard_key_of(database, each) for each in (name, *left))), None)


def make_anew(database: DataDatabase, name: str, shape: Shape, key: ShardKey | None = None) -> None:
    """Puts an empty collection that has all of `shape` in the place of the one that is there, or of none.

    `key`: behind a mongos, what it is sharded by. A user who may make no other collection has it dropped and made.
    Raises PyMongoError.
    """
    left = names_beside(database, name)
    has_something = bool(left) or collection_exists(database, name)
    # No two attempts share one: each renames and fills what it made itself.
    beside = f"{prefix_beside(_KIND, name)}{secrets.token_hex(4)}"
    is_beside = has_something and bool(shape or key) and _is_made(database, beside, shape, key)
    if not (is_beside and key is None and _is_renamed(database, beside, name)):
        database.drop_collection(name)
        _make(database, name, shape, key)
        left += [beside] if is_beside else []
    for each in left:
        database.drop_collection(each)


def _left(database: DataDatabase, name: str) -> list[str]:
    """Those beside that tell what `name` lost: where documents are in, its owner may have changed it since."""
    left = names_beside(database, name)
    return [] if left and holds_documents(database, name) else left


def _make(database: DataDatabase, name: str, shape: Shape, key: ShardKey | None) -> None:
    make(database, name, shape)
    if key is not None:
        shard(database, name, key)


def _is_made(database: DataDatabase, name: str, shape: Shape, key: ShardKey | None) -> bool:
    """False where the user may not make it."""
    try:
        _make(database, name, shape, key)
    except OperationFailure as error:
        with suppress(OperationFailure):
            database.drop_collection(name)
        if error.code not in NOT_ALLOWED_CODES:
            raise
        return False
    return True


def _is_renamed(database: DataDatabase, name: str, to: str) -> bool:
    """False where the server, or the user's roles, don't let it be renamed.

    An error behind a rename that took effect is raised: the new one is in its place, and must not be dropped again.
    """
    try:
        database[name].rename(to, dropTarget=True)
    except OperationFailure:
        if not collection_exists(database, name):
            raise
        return False
    return True

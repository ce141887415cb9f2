"""Owns making a collection anew: empty, with all that the old one has besides documents, wherever that is cut short.

A collection beside it gets all of that first. A server then gives it the old one's name and drops the old one with
that, at once. Where none does (a time series, a sharded collection, a user who may not rename), it stays until the new
one is made: who comes after an end in between reads there what was lost.

Source: MongoDB's manual on `renameCollection` with `dropTarget`.
"""

from contextlib import suppress
from hashlib import sha256

from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, collection_exists
from brimline.dataset.shape import Shape, make, read_shape
from brimline.dataset.sharding import HASHED_ID, ShardKey, shard, shard_key_of
from brimline.servers.refusal import NOT_ALLOWED_CODES

ANEW_PREFIX = "brimline_anew_"


def name_beside(name: str) -> str:
    """What the collection beside `name` is called: always the same, so that one that was left is found."""
    return f"{ANEW_PREFIX}{sha256(name.encode()).hexdigest()[:8]}"


def with_left(database: DataDatabase, name: str, there: Shape | None) -> Shape:
    """`there`, what the collection has, and what it lost where making it anew was cut short. Raises PyMongoError."""
    left = read_shape(database, name_beside(name))
    there = Shape() if there is None else there
    return there if left is None else there.with_lost(left)


def shard_key_wanted(database: DataDatabase, name: str) -> ShardKey | None:
    """What a collection that is made anew behind a mongos is to be sharded by; None: by nothing.

    One that is there keeps what it has, which its owner has chosen, also where making it anew was cut short; a new one
    is spread by its hashed `_id`. Raises PyMongoError.
    """
    there = [each for each in (name, name_beside(name)) if collection_exists(database, each)]
    if not there:
        return ShardKey(fields=HASHED_ID)
    return next(filter(None, (shard_key_of(database, each) for each in there)), None)


def make_anew(database: DataDatabase, name: str, shape: Shape, key: ShardKey | None = None) -> None:
    """Puts an empty collection that has all of `shape` in the place of the one that is there, or of none.

    `key`: behind a mongos, what it is sharded by. A user who may make no other collection has it dropped and made.
    Raises PyMongoError.
    """
    beside = name_beside(name)
    is_beside = bool(shape) and _is_made(database, beside, shape, key)
    if is_beside and key is None and _is_renamed(database, beside, name):
        return
    database.drop_collection(name)
    _make(database, name, shape, key)
    if is_beside:
        database.drop_collection(beside)


def _make(database: DataDatabase, name: str, shape: Shape, key: ShardKey | None) -> None:
    make(database, name, shape)
    if key is not None:
        shard(database, name, key)


def _is_made(database: DataDatabase, name: str, shape: Shape, key: ShardKey | None) -> bool:
    """False where the user may not make it."""
    try:
        database.drop_collection(name)
        _make(database, name, shape, key)
    except OperationFailure as error:
        if error.code not in NOT_ALLOWED_CODES:
            raise
        with suppress(OperationFailure):
            database.drop_collection(name)
        return False
    return True


def _is_renamed(database: DataDatabase, name: str, to: str) -> bool:
    """False where the server, or the user's roles, don't let it be renamed."""
    try:
        database[name].rename(to, dropTarget=True)
    except OperationFailure:
        return False
    return True

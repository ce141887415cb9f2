"""Owns where a collection lies in a sharded cluster, so that making it anew doesn't put all of it on one shard.

Source: MongoDB's manual on `shardCollection` and `config.collections`. Asked of a mongos alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brimline.dataset.access import DataDatabase

HASHED_ID: Mapping[str, Any] = {"_id": "hashed"}
"""Spreads keys of any order evenly, and leads a find by `_id` to one shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardKey:
    """What a collection is sharded by."""

    fields: Mapping[str, Any]
    is_unique: bool = False


def is_behind_router(database: DataDatabase) -> bool:
    """Whether a mongos answers. Raises PyMongoError."""
    return bool(database.command("hello").get("msg") == "isdbgrid")


def shard_key_of(database: DataDatabase, name: str) -> ShardKey | None:
    """What a collection is sharded by; None: by nothing. Raises PyMongoError."""
    found = database.client["config"]["collections"].find_one({"_id": f"{database.name}.{name}"})
    if found is None or found.get("dropped") or not isinstance(found.get("key"), Mapping):
        return None
    return ShardKey(fields=dict(found["key"]), is_unique=bool(found.get("unique")))


def shard(database: DataDatabase, name: str, key: ShardKey) -> None:
    """Shards an empty collection. Raises PyMongoError."""
    admin = database.client.admin
    admin.command("enableSharding", database.name)  # from 6.0 on it is by itself
    namespace = f"{database.name}.{name}"
    admin.command({"shardCollection": namespace, "key": dict(key.fields), "unique": key.is_unique})

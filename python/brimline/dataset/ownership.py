"""Owns the question whether all documents of a collection are brimline's own, before they are dropped.

A manifest says what brimline has put there, not what is there now: another client may have dropped the collection and
filled it, or have added to it. Each document has to be accounted for by an id that brimline has made, or nothing is
dropped.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pymongo
from bson import ObjectId

from brimline import _native
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.chunks import CHUNK_RECORDS, chunks
from brimline.dataset.manifest import Manifest
from brimline.plan import Plan

_UNINDEXED_CHUNK_RECORDS = 1_000_000
"""Records that are looked for at once where that takes reading all documents: 100 MB of keys."""
_REST = 6
"""Bytes of an object id behind those that all ids of a run begin with."""


def all_our_own(database: DataDatabase, manifest: Manifest) -> bool:
    """Whether the collection of `manifest`, which was found beside it, holds nothing but what brimline put there.

    See `foreign_count`. A collection with another UUID than the manifest's is another one. So is one that holds fewer
    documents than were loaded, unless a run or a load that did not end explains it.

    Raises:
        TargetError: the server doesn't answer or refuses.
    """
    with target_errors("looking whose the documents are", within_s=WORK_WITHIN_S):
        count = database[manifest.collection].count_documents({})
        if count == 0:
            return True
        if manifest.collection_uuid not in (None, collection_uuid(database, manifest.collection)):
            return False
        if manifest.state == "complete" and manifest.count is not None and count < manifest.count:
            return False
        return foreign_count(database, manifest) == 0


def foreign_count(database: DataDatabase, manifest: Manifest) -> int:
    """How many documents aren't known to be brimline's. Raises PyMongoError.

    Known are all that the last run left, when none came or went since: what others put there while it went on is taken
    for the run's. Else a document is known by its id: the key of a record, loaded or inserted behind those, or an
    object id of a run. That takes as long as asking an index for every key. A foreign document under such an id is
    taken for brimline's; one that a run inserted under another id is not.
    """
    collection = database[manifest.collection]
    if manifest.left_ids is not None and ids_digest(database, manifest.collection) == manifest.left_ids:
        return 0
    count = collection.count_documents({})
    for identity in manifest.identities:
        count -= collection.count_documents({"_id": ids_of(bytes.fromhex(identity))})
    return count - _under_keys(database, manifest, count)


def ids_digest(database: DataDatabase, name: str, *, is_given_up: Callable[[], bool] = lambda: False) -> str | None:
    """A digest of the ids of all documents; None: given up. Reads an index as a whole. Raises PyMongoError."""
    digest = hashlib.sha256()
    order = [("_id", pymongo.ASCENDING)]
    batches: Iterator[Any] = database[name].find_raw_batches({}, {"_id": 1}, sort=order, allow_disk_use=True)
    for batch in batches:  # bytes
        if is_given_up():
            return None
        digest.update(batch)
    return digest.hexdigest()


def ids_of(identity: bytes) -> dict[str, ObjectId]:
    """A filter for the object ids that begin with `identity`, 6 bytes."""
    return {"$gte": ObjectId(identity + b"\x00" * _REST), "$lte": ObjectId(identity + b"\xff" * _REST)}


def collection_uuid(database: DataDatabase, name: str) -> str | None:
    """The UUID by which the server knows the collection; None when it doesn't tell. Raises PyMongoError."""
    found = next(iter(database.list_collections(filter={"name": name})), None)
    info = found.get("info") if found is not None else None
    uuid = info.get("uuid") if isinstance(info, Mapping) else None
    return uuid.hex() if isinstance(uuid, bytes) else None


def _under_keys(database: DataDatabase, manifest: Manifest, wanted: int) -> int:
    """How many documents, `wanted` at most, have keys that a load, or a run after a finished one, gave them."""
    records, collection = manifest.records, database[manifest.collection]
    has_index = not _is_time_series(database, manifest.collection)
    found, plan_json = 0, None
    stop = records.stop if manifest.state == "loading" else None
    for chunk in chunks(records.start, stop, CHUNK_RECORDS if has_index else _UNINDEXED_CHUNK_RECORDS):
        if found >= wanted:
            break
        try:
            plan_json = plan_json or keys_plan(manifest)
            keys = _native.generate_keys(plan_json, chunk.start, len(chunk))
        except (TypeError, ValueError, OverflowError):  # a manifest of data that this brimline can't make
            break
        if has_index:
            there = collection.count_documents({"_id": {"$in": keys}})
        else:
            wanted_keys = set(keys)
            there = sum(document["_id"] in wanted_keys for document in collection.find({}, {"_id": 1}))
        if there == 0 and chunk.start >= records.stop:  # runs insert one after another, so that nothing follows
            break
        found += there
    return found


def _is_time_series(database: DataDatabase, name: str) -> bool:
    """Whether there is no index over `_id`. Raises PyMongoError."""
    return any(each.get("type") == "timeseries" for each in database.list_collections(filter={"name": name}))


def keys_plan(manifest: Manifest) -> str:
    """A plan, as JSON, by which keys of the manifest's data can be made, also beyond the loaded records.

    Everything else in it is of no effect on keys. Raises ValueError for data that can't be.
    """
    data = {name: value for name, value in manifest.data.items() if name != "seed"}
    plan = {
        "version": 1,
        "name": "keys",
        "seed": manifest.seed,
        "target": {"kind": "null"},
        "namespace": {"database": "keys", "collection": manifest.collection},
        "data": data,
        "work": {"kind": "load", "batch_size": 1, "ordered": False},
        "pacer": {"kind": "closed"},
        "connections": 1,
        "threads": 1,
        "warmup_ns": 0,
        "duration_ns": None,
        "operation_count": None,
        "interval_ns": 1_000_000_000,
        "drain_timeout_ns": 0,
        "operation_timeout_ns": 1_000_000_000,
        "connect_timeout_ns": 1_000_000_000,
    }
    return Plan.model_validate(plan).canonical_json()

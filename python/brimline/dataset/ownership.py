"""Owns the question whether all documents of a collection are brimline's own, before they are dropped.

A manifest says what brimline has put there, not what is there now: another client may have dropped the collection and
filled it, or have added to it. Where the number that the manifest proves is not the number that is there, each
document has to be accounted for by a key that brimline has made, or nothing is dropped.
"""

from collections.abc import Mapping

from brimline import _native
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.chunks import chunks
from brimline.dataset.manifest import Manifest
from brimline.plan import Plan


def all_our_own(database: DataDatabase, manifest: Manifest) -> bool:
    """Whether the collection of `manifest`, which was found beside it, holds nothing but what brimline put there.

    What was loaded is recognised by the collection's UUID, where the manifest has it, and by its number. What a run
    inserted behind it, and what an unfinished load inserted, is recognised key by key; that takes as long as asking
    an index for every key. A foreign document under such a key, or one in place of a loaded one that was deleted in
    the same collection, is taken for brimline's. So is all that was in a collection when a run that changed it ended.

    Raises:
        TargetError: the server doesn't answer or refuses.
    """
    with target_errors("looking whose the documents are", within_s=WORK_WITHIN_S):
        proven = manifest.count if manifest.state == "complete" and manifest.count is not None else 0
        collection = database[manifest.collection]
        count = collection.estimated_document_count()
        if count != proven:  # metadata may be wrong after a crash, and count orphans behind a mongos
            count = collection.count_documents({})
        if count == 0:
            return True
        if manifest.collection_uuid not in (None, collection_uuid(database, manifest.collection)):
            return False
        if manifest.state == "changed":
            return manifest.left_count is None or count <= manifest.left_count
        return count >= proven and _has_as_many(database, manifest, count - proven)


def collection_uuid(database: DataDatabase, name: str) -> str | None:
    """The UUID by which the server knows the collection; None when it doesn't tell. Raises PyMongoError."""
    found = next(iter(database.list_collections(filter={"name": name})), None)
    info = found.get("info") if found is not None else None
    uuid = info.get("uuid") if isinstance(info, Mapping) else None
    return uuid.hex() if isinstance(uuid, bytes) else None


def _has_as_many(database: DataDatabase, manifest: Manifest, wanted: int) -> bool:
    """Whether `wanted` documents have keys that an unfinished load, or a run after a finished one, gave them."""
    loading = manifest.state == "loading"
    first = manifest.records.start if loading else manifest.records.stop
    plan_json = None
    for chunk in chunks(first, manifest.records.stop if loading else None):
        if wanted <= 0:
            break
        try:
            plan_json = plan_json or keys_plan(manifest)
            keys = _native.generate_keys(plan_json, chunk.start, len(chunk))
        except (TypeError, ValueError, OverflowError):  # a manifest of data that this brimline can't make
            return False
        there = database[manifest.collection].count_documents({"_id": {"$in": keys}})
        if there == 0 and not loading:  # runs insert one after another, so that nothing follows
            return False
        wanted -= there
    return wanted == 0


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

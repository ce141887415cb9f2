"""Owns the copy of loaded data that a workload changes, so that the data can be put back as they were loaded.

Source: MongoDB's manual on `$out`: it replaces a collection at once or not at all, and keeps its indexes and options.
It takes no capped collection, none that is sharded, and a time series only from 7.1 on.
"""

import math
from contextlib import suppress
from dataclasses import replace

from pymongo.errors import CollectionInvalid, OperationFailure

from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.manifest import Manifest, write_manifest
from brimline.dataset.ownership import collection_uuid, foreign_count
from brimline.dataset.shape import read_shape
from brimline.dataset.sharding import is_behind_router, shard_key_of
from brimline.errors import TargetError, UsageError
from brimline.servers.answers import refusal_words
from brimline.units import counted, format_bytes

PREFIX = "brimline_pristine_"
_ROOM_FACTOR = 1.5
"""Putting back writes a second copy before the changed data go."""
_BYTES_MAX = 1 << 62
_NAMES_MAX = 9


def copy_names(collection: str) -> list[str]:
    """The names that the copy of a collection may have; the first that is free is taken."""
    return [f"{PREFIX}{collection}{suffix}" for suffix in ("", *(f"_{number}" for number in range(2, _NAMES_MAX + 1)))]


def find_copy(database: DataDatabase, manifest: Manifest) -> str | None:
    """The name of the copy that `manifest` speaks of, which is known by its UUID; None: it isn't there.

    Raises PyMongoError.
    """
    if manifest.copy_uuid is None:
        return None
    names = copy_names(manifest.collection)
    return next((name for name in names if collection_uuid(database, name) == manifest.copy_uuid), None)


def has_copy(database: DataDatabase, manifest: Manifest) -> bool:
    """Whether the copy that `manifest` speaks of is there. Raises TargetError."""
    with target_errors("looking for the copy of the data"):
        return find_copy(database, manifest) is not None


def reason_against_copy(database: DataDatabase, collection: str) -> str:
    """Why no copy can be made of it, or none can be put back; "": it can. Raises TargetError."""
    with target_errors("looking whether the data can be copied"):
        shape = read_shape(database, collection)
        options = {} if shape is None else shape.options
        for option, words in (("timeseries", "it is a time series"), ("capped", "it is capped")):
            if options.get(option):
                return words
        if is_behind_router(database) and shard_key_of(database, collection) is not None:
            return "it is sharded"
        return _lack_of_room(database, collection)


def _lack_of_room(database: DataDatabase, collection: str) -> str:
    try:
        stats = database.command("dbStats")
        size = database.command({"collStats": collection}).get("storageSize")
    except OperationFailure as error:
        return f"the server doesn't say how much room there is: {refusal_words(error)}"
    total, used, needed = (
        float(each) if isinstance(each, int | float) and 0 <= each <= _BYTES_MAX else math.nan
        for each in (stats.get("fsTotalSize"), stats.get("fsUsedSize"), size)
    )
    if not math.isfinite(total - used - needed):
        return "the server doesn't say how much room there is"
    if total - used < _ROOM_FACTOR * needed:
        return f"its disk has {format_bytes(total - used)} free, and the data take {format_bytes(needed)}"
    return ""


def make_copy(database: DataDatabase, manifest: Manifest) -> Manifest:
    """Copies complete data and notes that in the manifest, which is returned.

    What has the name of a copy and isn't known to be one is somebody else's: it stays, and the copy takes another name.
    Raises TargetError, also where no name is free.
    """
    with target_errors(f"copying {database.name}.{manifest.collection}", within_s=WORK_WITHIN_S):
        name = find_copy(database, manifest) or _take_name(database, manifest.collection)
        # Nothing is found there without the manifest's word for it, so that the word comes last.
        database[manifest.collection].aggregate([{"$out": name}])
        copied = replace(manifest, copy_uuid=collection_uuid(database, name))
    write_manifest(database, copied)
    return copied


def _take_name(database: DataDatabase, collection: str) -> str:
    """A name that was free, and is taken by an empty collection since. Raises PyMongoError, TargetError."""
    names = copy_names(collection)
    for name in names:
        with suppress(CollectionInvalid):
            database.create_collection(name)  # which only one client can
            return name
    raise TargetError(
        f"{database.name} has collections that brimline did not make under all names of a copy, from {names[0]} on",
        hint="drop those that nobody needs",
    )


def require_same_collection(database: DataDatabase, manifest: Manifest) -> None:
    """Raises UsageError where another collection is in the place of the one that was loaded. Raises TargetError."""
    with target_errors("looking whose the collection is"):
        if manifest.collection_uuid in (None, collection_uuid(database, manifest.collection)):
            return
    raise UsageError(
        f"{database.name}.{manifest.collection} is another collection than the one that brimline loaded",
        hint="name another collection in the workload, or give --data load and --drop",
    )


def require_only_ours(database: DataDatabase, manifest: Manifest) -> None:
    """Raises UsageError where changed data hold documents that aren't known to be brimline's. See `foreign_count`.

    Raises TargetError.
    """
    require_same_collection(database, manifest)
    with target_errors("looking whose the documents are", within_s=WORK_WITHIN_S):
        count = foreign_count(database, manifest)
    if count:
        raise UsageError(
            f"{database.name}.{manifest.collection} holds {counted(count, 'document')} that may be somebody "
            "else's: their ids are "
            "neither those of records nor known to be of runs",
            hint="name another collection in the workload, or give --data load and --drop to have them deleted",
        )


def put_copy_back(database: DataDatabase, manifest: Manifest) -> Manifest:
    """Replaces changed data by their copy; the manifest of complete data, which is written.

    Raises TargetError where the server doesn't answer or refuses, or counts another number of documents.
    """
    namespace = f"{database.name}.{manifest.collection}"
    with target_errors(f"putting {namespace} back", within_s=WORK_WITHIN_S):
        # Whoever looks after an interruption here finds a collection whose UUID nobody knows yet.
        write_manifest(database, replace(manifest, collection_uuid=None))
        if (name := find_copy(database, manifest)) is None:
            raise TargetError(f"the copy of {namespace} is gone")
        database[name].aggregate([{"$out": manifest.collection}])
        count = database[manifest.collection].count_documents({})
        uuid = collection_uuid(database, manifest.collection)
    if count != manifest.count:
        raise TargetError(
            f"documents in {namespace} after it was put back: {count}, and not {manifest.count}",
            hint="another client writes there or to the copy: load anew",
        )
    complete = replace(manifest.unchanged(), collection_uuid=uuid)
    write_manifest(database, complete)
    return complete


def drop_copy(database: DataDatabase, manifest: Manifest) -> None:
    """Takes the copy away that `manifest` speaks of; nothing where there is none. Raises PyMongoError."""
    if (name := find_copy(database, manifest)) is not None:
        database.drop_collection(name)

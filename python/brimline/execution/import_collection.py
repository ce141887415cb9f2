"""Owns the collection that an import goes into: looked at before anything is changed, emptied and made, counted."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from bson import ObjectId
from pymongo.errors import CollectionInvalid, OperationFailure

from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.anew import make_anew, shard_key_wanted, was_cut_short, with_left
from brimline.dataset.rights import require_rights
from brimline.dataset.shape import read_shape
from brimline.dataset.sharding import is_behind_router
from brimline.dataset.trial import WayIn, require_some_taken
from brimline.execution.database import database_named
from brimline.execution.executor import Executor
from brimline.execution.import_progress import ImportSink
from brimline.execution.stop import StopToken
from brimline.servers import Deployment
from brimline.spec.import_settings import ImportSettings

_NAMESPACE_EXISTS = 48
NUMBER_BITS = 24
"""Of the random number in the ids that an import makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportContext:
    """What surrounds an import. `wait_s`: how long a server that went away is waited for.

    `executor`: the nodes among which it is shared out, None: this process imports alone.
    """

    deployment: Deployment
    environment: Mapping[str, Any]
    progress: ImportSink
    stop: StopToken
    wait_s: float = 0.0
    executor: Executor | None = None


@dataclass(frozen=True, slots=True)
class Namespace:
    """Where the documents go."""

    database: str
    collection: str

    @property
    def text(self) -> str:
        """As MongoDB writes it."""
        return f"{self.database}.{self.collection}"


_ACTIONS = {
    "insert": ("find", "insert", "remove"),
    "upsert": ("find", "insert", "update", "remove"),
    "merge": ("find", "insert", "update", "remove"),
    "delete": ("find", "remove"),
}
"""What each mode takes, by MongoDB's names of actions. With a delete that finds nothing the journal is waited for."""


def look_at_collection(namespace: Namespace, settings: ImportSettings, *, drop: bool, context: ImportContext) -> int:
    """How many documents the collection holds, about so many where it is to be dropped; nothing is changed.

    Raises TargetError where the user may not do what is needed, UsageError where the collection is a view.
    """
    with database_named(namespace.database, context.deployment, purpose="import") as database:
        with target_errors("looking at the collection"):
            there = read_shape(database, namespace.collection)
            shape = with_left(database, namespace.collection, there)
        actions = [*_ACTIONS[settings.mode]]
        if settings.bypass_document_validation:
            actions.append("bypassDocumentValidation")
        if drop:
            actions += ["dropCollection", *(["createIndex"] if shape.indexes else [])]
        if drop or there is None:
            actions += ["createCollection"] if settings.mode != "delete" else []
        require_rights(database, namespace.collection, actions)
        with counting():
            collection = database[namespace.collection]
            return int(collection.estimated_document_count() if drop else collection.count_documents({}))


def prepare_collection(
    namespace: Namespace,
    settings: ImportSettings,
    *,
    drop: bool,
    documents: Sequence[bytes],
    context: ImportContext,
) -> None:
    """Empties the collection when asked to, makes it where it is missing.

    One that an end left nowhere but beside gets back what it had. `documents`: those that come first. Raises
    UsageError where the collection is to be emptied and, as it is kept, refuses or loses them; TargetError, before
    anything is changed where the write concern can't be honoured.
    """
    name = namespace.collection
    with (
        database_named(namespace.database, context.deployment, purpose="import") as database,
        target_errors("preparing the collection"),
    ):
        if drop or was_cut_short(database, name):
            key = shard_key_wanted(database, name) if is_behind_router(database) else None
            shape = with_left(database, name, read_shape(database, name))
            if settings.mode != "delete" and not require_some_taken(
                database, name, shape, documents, _way_in(settings)
            ):
                context.progress.note(
                    f"the user may not make a collection beside {namespace.text}: whether it takes the documents was "
                    "not tried before it was emptied"
                )
            make_anew(database, name, shape, key)
            if shape:
                context.progress.note(f"kept {shape.text} of {namespace.text}")
        if settings.mode != "delete":
            # Servers serialise the implicit creation by concurrent first inserts.
            _create(database, name)


def without_id(database: DataDatabase, name: str, object_ids: Mapping[str, int], *, inputs: int) -> int:
    """How many documents of an import are in that had no `_id` of their own: those ids it made itself.

    `object_ids`: from which it counted them, with a prefix of its own for each input (see the importer's plan).
    """
    began = int(object_ids["unix_s"]).to_bytes(4, "big")
    prefixes = [
        began + ((int(object_ids["number"]) + place) % (1 << NUMBER_BITS)).to_bytes(3, "big") for place in range(inputs)
    ]
    ranges = [{"$gte": ObjectId(each + bytes(5)), "$lte": ObjectId(each + b"\xff" * 5)} for each in prefixes]
    return sum(database[name].count_documents({"_id": each}) for each in ranges)


def _create(database: DataDatabase, name: str) -> None:
    """Makes a collection that may be there, or be made by another client between a look and the creation."""
    try:
        with suppress(CollectionInvalid):
            database.create_collection(name)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise


def _way_in(settings: ImportSettings) -> WayIn:
    return WayIn(
        updates="replace" if settings.mode == "upsert" else "set" if settings.mode == "merge" else "",
        keys=settings.upsert_fields or ("_id",),
        ordered=settings.stop_on_error or settings.maintain_insertion_order,
        bypass_validation=settings.bypass_document_validation,
        write_concern=settings.write_concern.document,
    )


def counting() -> AbstractContextManager[None]:
    """Around a count, which takes time in proportion to the documents. Raises TargetError."""
    return target_errors("counting the documents", within_s=WORK_WITHIN_S)

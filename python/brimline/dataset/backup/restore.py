"""Owns putting a backup back: collections with their options, documents, indexes, then counted and compared by hash."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from bson.timestamp import Timestamp
from pymongo.collection import Collection
from pymongo.errors import BulkWriteError, PyMongoError

from brimline.dataset.access import WORK_WITHIN_S, collection_exists, target_errors
from brimline.dataset.backup.held import Held, held_in
from brimline.dataset.backup.layout import ContentHash, documents_of, split
from brimline.dataset.backup.read import BESIDE, BESIDE_PREFIX, OF_USERS, BackupProgress, Stopped
from brimline.dataset.backup.summary import CollectionBackup
from brimline.dataset.rights import require_rights
from brimline.dataset.shape import make_indexes
from brimline.dataset.trial import TRIAL_DOCUMENTS, require_as_before
from brimline.errors import InvalidRun, RecordError, TargetError, UsageError
from brimline.servers.deployment import Client
from brimline.units import counted, format_bytes

_BATCH_DOCUMENTS = 1_000
_BATCH_BYTES = 16_000_000
_TIMESTAMP_BYTES = 8
_EXPIRY = "expireAfterSeconds"
"""Of a time series, or of a collection that is clustered by time."""
_IN_PART = "the collection is there in part: give --drop next time"
_NOT_TAKEN = "the files hold what no such collection takes: make the backup anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredCollection:
    """One collection that was put back: its documents with their hash, and how many indexes besides that on `_id`."""

    namespace: str
    type: str
    documents: int
    indexes: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A whole backup that was put back. `views`: how many of them; they hold no documents."""

    collections: tuple[RestoredCollection, ...] = field(default_factory=tuple)
    views: int = 0
    elapsed_s: float = 0.0

    @property
    def documents(self) -> int:
        """In all collections."""
        return sum(each.documents for each in self.collections)


def restore_document(restored: Restored) -> dict[str, Any]:
    """For `--json`."""
    return {
        "format_version": 1,
        "kind": "restore",
        "document_count": restored.documents,
        "views": restored.views,
        "elapsed_s": restored.elapsed_s,
        "collections": [asdict(each) for each in restored.collections],
    }


def restore_backup(
    client: Client,
    directory: Path,
    *,
    databases: Sequence[str] = (),
    drop: bool = False,
    progress: Callable[[BackupProgress], None] = lambda _progress: None,
    notice: Callable[[str], None] = lambda _text: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Restored:
    """Puts back what is in `directory`, in mongodump's layout. `progress` is told on the way.

    `databases`: those that are wanted, none named: all but the server's own, which `notice` is told of. Of these no
    `system` collection is ever put back: users, roles and what a server keeps of itself are made by commands alone.

    Nothing is changed before all is looked at: the user's rights, and whether the server makes such collections and
    takes documents like these. `drop`: all is put into collections of other names first, and these take the place of
    those that are there once all is in, counted and compared; else collections that are there are refused.

    Raises UsageError where nothing is in it, the backup didn't end, or a collection is there; RecordError where a file
    is damaged; TargetError; InvalidRun where what is there afterwards is not what the backup says; Stopped.
    """
    begun = time.monotonic()
    found = held_in(directory, databases, notice=notice)
    _require_absent(client, found, drop=drop)
    for each in found:
        _require_taken(client, each, drop=drop)
    for database in dict.fromkeys(each.database for each in found) if drop else ():
        _tell_of_left(client, database, notice=notice)
    collections = [each for each in found if not each.is_view]
    expected = sum(each.said.bytes for each in collections if each.said is not None)
    if drop and expected:
        _tell_of_room(client, collections[0].database, expected, notice=notice)
    work = _Work(client=client, bytes_expected=expected, progress=progress, stopped=stopped)
    if drop:
        made = _replaced(collections, work)
    else:
        made = [_put_back(each, each.name, work, refused_hint=_IN_PART) for each in collections]
    views = [each for each in found if each.is_view]
    for each in views:  # last: a server checks what they are on
        if drop:
            _drop(client, each.database, each.name)
        _create(client, each, each.name)
    return Restored(collections=tuple(made), views=len(views), elapsed_s=round(time.monotonic() - begun, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A restore that goes on: where to, and who is told. `so_far`: bytes that went in, by namespace."""

    client: Client
    bytes_expected: int
    progress: Callable[[BackupProgress], None]
    stopped: Callable[[], bool]
    so_far: dict[str, int] = field(default_factory=dict)

    def tell(self, held: Held, content: ContentHash) -> None:
        """More of `held` went in."""
        self.so_far[held.namespace] = content.bytes
        self.progress(BackupProgress(namespace=held.namespace, documents=content.count,
                                     bytes=sum(self.so_far.values()), bytes_expected=self.bytes_expected))  # fmt: skip


def _replaced(collections: Sequence[Held], work: _Work) -> list[RestoredCollection]:
    """Puts all into collections of other names, which then take the place of those that are there."""
    places = [(each, f"{BESIDE_PREFIX}{secrets.token_hex(4)}") for each in collections]
    client, made = work.client, []
    try:
        for each, place in places:
            with _beside(place, each.name):
                made.append(_put_back(each, place, work, refused_hint=_NOT_TAKEN))
        unstoppable = replace(work, stopped=lambda: False)  # the old ones go, and nothing stops that half-way
        for each, place in places:
            if each.is_renamed:
                _replace(client, each, place)
            else:
                _drop(client, each.database, place)
                _drop(client, each.database, each.name)
                _put_back(each, each.name, unstoppable, refused_hint=_IN_PART)
    finally:
        for each, place in places:
            with suppress(PyMongoError):
                client[each.database].drop_collection(place)
    return made


def _tell_of_left(client: Client, database: str, *, notice: Callable[[str], None]) -> None:
    """Names what a restore that was killed left. Another that goes on has such collections too, so none is dropped."""
    with target_errors(f"looking at the collections of {database}"):
        names = client[database].list_collection_names(filter={"name": {"$regex": f"^{BESIDE.pattern}$"}})
    if names:
        notice(
            f"{database} has {', '.join(sorted(names))}, of a restore that goes on or was killed; "
            "where none goes on, drop it to have its room again"
        )


def _tell_of_room(client: Client, database: str, needed: int, *, notice: Callable[[str], None]) -> None:
    """Says that both are there until all is in, and where the server's disk has less room than the documents' size."""
    with suppress(PyMongoError):  # who may restore may not always ask this
        stats = client[database].command({"dbStats": 1})
        free = stats["fsTotalSize"] - stats["fsUsedSize"] if "fsTotalSize" in stats else None
        short = "" if free is None or free >= needed else f", and its disk has {format_bytes(free)} left"
        notice(
            "until all is in, the server keeps what is there beside what is restored: "
            f"up to {format_bytes(needed)} more{short}"
        )


def _require_absent(client: Client, found: Sequence[Held], *, drop: bool) -> None:
    if drop:
        return
    there = []
    for database in dict.fromkeys(each.database for each in found):
        with target_errors(f"looking at the collections of {database}"):
            names = set(client[database].list_collection_names())
        there += [each.namespace for each in found if each.database == database and each.name in names]
    if there:
        raise UsageError(
            f"{', '.join(there[:4])}{' …' if there[4:] else ''} {'are' if there[1:] else 'is'} there already",
            hint="give --drop where they may go, or another server; nothing was changed",
        )


def _require_taken(client: Client, held: Held, *, drop: bool) -> None:
    """Raises TargetError where the user lacks a right, UsageError where the server refuses what is to come."""
    shape, database = held.shape, client[held.database]
    actions = ["createCollection", *(["dropCollection"] if drop else [])]
    if not held.is_view:
        if (source := held.source_in(held.name)) != held.name:
            require_rights(database, source, ["find", "insert"])
        actions += ["find", "insert", *(["createIndex"] if shape.indexes else [])]
        actions += ["bypassDocumentValidation"] if shape.checks_documents else []
        actions += ["collMod"] if _EXPIRY in shape.options else []
    require_rights(database, held.name, actions)
    if drop and not held.is_view:
        require_rights(database, f"{BESIDE_PREFIX}{held.name}", actions)
    # Those of a view are its source's, and those of a time series are in buckets, under another name.
    first = [] if held.type in ("view", "timeseries") else documents_of(held.file())
    require_as_before(database, held.name, shape, list(islice(first, TRIAL_DOCUMENTS)))


def _require_as_written(path: Path, content: ContentHash, said: CollectionBackup | None) -> None:
    if said is not None and said.hash and (said.documents, said.hash) != (content.count, content.text):
        raise InvalidRun(
            f"{path} is not what the backup wrote: it holds {counted(content.count, 'document')}, of {said.documents}, "
            "or others than these",
            hint="restore the file from a copy, or make the backup anew",
        )


@contextmanager
def _beside(place: str, name: str) -> Iterator[None]:
    """Errors name the collection that is to be, and say that those that are there are as they were."""
    try:
        yield
    except (InvalidRun, RecordError, TargetError) as error:
        hint = "" if error.hint is None else f"; {error.hint}"
        raise type(error)(error.message.replace(place, name), hint=f"nothing was changed{hint}") from error


def _replace(client: Client, held: Held, place: str) -> None:
    """Gives the collection `place` the name of the one that is there, which goes with that."""
    database, name = client[held.database], held.name
    with target_errors(f"putting what was restored in the place of {held.namespace}", within_s=WORK_WITHIN_S):
        there = list(database.list_collections(filter={"name": name}))
        if any(each.get("type", "collection") != "collection" for each in there):  # a server renames over no view
            database.drop_collection(name)
        database[place].rename(name, dropTarget=True)


def _drop(client: Client, database: str, name: str) -> None:
    with target_errors(f"dropping {database}.{name}"):
        if name in OF_USERS:  # which no server drops
            client[database][name].delete_many({})
        else:
            client[database].drop_collection(name)


def _create(client: Client, held: Held, place: str) -> None:
    options = {key: value for key, value in held.shape.options.items() if key != _EXPIRY}
    with target_errors(f"making {held.database}.{place}"):
        if not (place in OF_USERS and collection_exists(client[held.database], place)):
            client[held.database].command({"create": place, **options})


def _put_back(held: Held, place: str, work: _Work, *, refused_hint: str) -> RestoredCollection:
    """Makes a collection under the name `place`: documents, what is there counted and compared, then indexes."""
    client, namespace, shape, source = work.client, held.namespace, held.shape, held.source_in(place)
    _create(client, held, place)
    path = held.file()
    options: CodecOptions[Any] = CodecOptions(document_class=RawBSONDocument)
    collection = client[held.database].get_collection(source, codec_options=options)
    content = ContentHash()
    for batch in _batches(documents_of(path)):
        if work.stopped():
            raise Stopped
        for document in batch:
            content.add(document)
        with target_errors(f"inserting into {namespace}", within_s=WORK_WITHIN_S):
            try:
                collection.insert_many([RawBSONDocument(each) for each in batch], ordered=False,
                                       bypass_document_validation=shape.checks_documents or None)  # fmt: skip
            except BulkWriteError as error:
                first: Mapping[str, Any] = next(iter(error.details.get("writeErrors", [])), {})
                raise TargetError(f"inserting into {namespace}: the server refuses: {first.get('errmsg', error)}",
                                  hint=refused_hint) from error  # fmt: skip
            for document in filter(_may_be_empty_timestamp, batch):
                _put_timestamps_back(collection, document, bypass=shape.checks_documents)
        work.tell(held, content)
    _require_as_written(path, content, held.said)
    _require_same(client, held.database, source, namespace, content)
    # Last: a server would begin to delete what has expired since, and what is there would no longer be the same.
    with target_errors(f"making the indexes of {namespace}", within_s=WORK_WITHIN_S):
        make_indexes(client[held.database], place, shape.indexes)
        if (expiry := shape.options.get(_EXPIRY)) is not None:
            client[held.database].command({"collMod": place, _EXPIRY: expiry})
    return RestoredCollection(namespace=namespace, type=held.type,
                              documents=content.count, indexes=len(shape.indexes), hash=content.text)  # fmt: skip


def _may_be_empty_timestamp(document: bytes) -> bool:
    return b"\x11" in document and bytes(_TIMESTAMP_BYTES) in document


def _put_timestamps_back(collection: Collection[Any], document: bytes, *, bypass: bool) -> None:
    """A server gives a `Timestamp(0, 0)` of an inserted document the time of now, and leaves that of an update."""
    values = RawBSONDocument(document)
    empty = {name: value for name, value in values.items() if value == Timestamp(0, 0) and name != "_id"}
    if empty:
        collection.update_one({"_id": values["_id"]}, {"$set": empty}, bypass_document_validation=bypass or None)


def _batches(documents: Iterator[bytes]) -> Iterator[list[bytes]]:
    """As many documents as a command may carry."""
    batch: list[bytes] = []
    size = 0
    for document in documents:
        if batch and (len(batch) >= _BATCH_DOCUMENTS or size + len(document) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document)
    if batch:
        yield batch


def content_of(client: Client, database: str, collection: str) -> ContentHash:
    """What is in a collection now, by count and hash. Raises TargetError."""
    content = ContentHash()
    raw = client[database].get_collection(collection, codec_options=CodecOptions())
    with target_errors(f"reading {database}.{collection}", within_s=WORK_WITHIN_S):
        for batch in raw.find_raw_batches({}):
            for document in split(cast("bytes", batch)):
                content.add(document)
    return content


def _require_same(client: Client, database: str, source: str, namespace: str, wanted: ContentHash) -> None:
    there = content_of(client, database, source)
    if (there.count, there.text) != (wanted.count, wanted.text):
        raise InvalidRun(
            f"{namespace} holds {counted(there.count, 'document')}, and the backup {wanted.count}, "
            "or others than these",
            hint="let nobody write to it meanwhile, and restore it again with --drop",
        )

"""Owns putting a backup back: collections with their options, documents, indexes, then counted and compared by hash."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from bson.timestamp import Timestamp
from pymongo.collection import Collection
from pymongo.errors import BulkWriteError, PyMongoError

from brimline.dataset.access import WORK_WITHIN_S, collection_exists, target_errors
from brimline.dataset.backup.layout import (
    BSON,
    METADATA,
    ContentHash,
    documents_of,
    namespaces,
    placed,
    read_metadata,
    source_of,
    split,
)
from brimline.dataset.backup.read import (
    BESIDE,
    BESIDE_PREFIX,
    NOT_USERS,
    OF_USERS,
    BackupProgress,
    Stopped,
)
from brimline.dataset.backup.summary import CollectionBackup, read_summary
from brimline.dataset.rights import require_rights
from brimline.dataset.shape import Shape, make_indexes
from brimline.dataset.trial import TRIAL_DOCUMENTS, require_as_before
from brimline.errors import InvalidRun, RecordError, TargetError, UsageError
from brimline.servers.deployment import Client
from brimline.servers.rights import OF_THE_SERVER
from brimline.units import counted, format_bytes

_BATCH_DOCUMENTS = 1_000
_BATCH_BYTES = 16_000_000
_TIMESTAMP_BYTES = 8
_OF_THE_SERVER_ALONE = ("ns", "background")
"""What older servers list of an index, and newer ones refuse to be told."""
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
    summary = read_summary(directory)
    if summary is not None and not summary.complete:
        raise UsageError(f"the backup in {directory} did not come to its end", hint="make it anew: brimline backup")
    said = {} if summary is None else {each.namespace: each for each in summary.collections}
    there = namespaces(directory)
    if missing := said.keys() - {f"{database}.{name}" for database, name in there}:
        raise UsageError(f"{directory} lacks {', '.join(sorted(missing))}, which the backup held",
                         hint="restore the directory from a copy, or make the backup anew")  # fmt: skip
    wanted = _wanted(directory, there, databases, notice=notice)
    found = [(database, name, _metadata(directory, database, name)) for database, name in wanted]
    _require_absent(client, [(database, name) for database, name, _ in found], drop=drop)
    for database, name, metadata in found:
        _require_taken(client, directory, database, name, metadata, drop=drop)
    for database in dict.fromkeys(database for database, _, _ in found) if drop else ():
        _tell_of_left(client, database, notice=notice)
    views = [each for each in found if each[2].get("type") == "view"]
    collections = [each for each in found if each not in views]
    places = {(each[0], each[1]): f"{BESIDE_PREFIX}{secrets.token_hex(4)}" if drop else each[1] for each in collections}
    so_far: dict[str, int] = {}
    expected = sum(said[name].bytes for each in collections if (name := f"{each[0]}.{each[1]}") in said)
    if drop and expected:
        _tell_of_room(client, collections[0][0], expected, notice=notice)

    def put_back(
        database: str, name: str, metadata: Mapping[str, Any], place: str, *, hint: str, stopped: Callable[[], bool]
    ) -> RestoredCollection:
        def tell(content: ContentHash) -> None:
            so_far[f"{database}.{name}"] = content.bytes
            progress(BackupProgress(namespace=f"{database}.{name}", documents=content.count,
                                    bytes=sum(so_far.values()), bytes_expected=expected))  # fmt: skip

        _create(client, database, place, metadata)
        return _put_back(client, directory, database, name, metadata, said.get(f"{database}.{name}"), place=place,
                         refused_hint=hint, tell=tell, stopped=stopped)  # fmt: skip

    made = []
    try:
        for database, name, metadata in collections:
            place = places[database, name]
            with _beside(place, name) if drop else nullcontext():
                hint = _NOT_TAKEN if drop else _IN_PART
                made.append(put_back(database, name, metadata, place, hint=hint, stopped=stopped))
        # Nothing stops what follows half-way: the old ones go.
        for database, name, metadata in collections if drop else ():
            if _is_renamed(name, metadata):
                _replace(client, database, name, places[database, name])
            else:
                _drop(client, database, places[database, name])
                _drop(client, database, name)
                put_back(database, name, metadata, name, hint=_IN_PART, stopped=lambda: False)
    finally:
        if drop:
            for (database, _), place in places.items():
                with suppress(PyMongoError):
                    client[database].drop_collection(place)
    for database, name, metadata in views:  # last: a server checks what they are on
        if drop:
            _drop(client, database, name)
        _create(client, database, name, metadata)
    return Restored(collections=tuple(made), views=len(views), elapsed_s=round(time.monotonic() - begun, 3))


def _wanted(
    directory: Path, there: Sequence[tuple[str, str]], databases: Sequence[str], *, notice: Callable[[str], None]
) -> list[tuple[str, str]]:
    names = list(dict.fromkeys(database for database, _ in there))
    if missing := [each for each in databases if each not in names]:
        raise UsageError(f"{directory} holds no database {', '.join(missing)}", hint=f"it holds {', '.join(names)}")
    chosen = list(databases) or [each for each in names if each not in NOT_USERS]
    others = [each for each in names if each in NOT_USERS and not databases]
    if others:
        notice(f"left out, as of the server itself: {', '.join(others)}; name it where it is wanted: --db {others[0]}")
    wanted = [(database, name) for database, name in there if database in chosen]
    kept_back = [f"{database}.{name}" for database, name in wanted if _is_of_the_server(database, name)]
    if kept_back:
        notice(f"left out, as made by commands alone: {', '.join(kept_back)}")
    wanted = [each for each in wanted if not _is_of_the_server(*each)]
    if not wanted:
        raise UsageError(f"{directory} holds no collection of a user's to put back", hint="name a database: --db NAME")
    return wanted


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


def _is_of_the_server(database: str, name: str) -> bool:
    return database in NOT_USERS and name.startswith(OF_THE_SERVER)


def _metadata(directory: Path, database: str, name: str) -> Mapping[str, Any]:
    path = placed(directory, database, name, METADATA)
    assert path is not None  # noqa: S101 - it was found there
    values = read_metadata(path)
    if values.get("type") != "view" and _documents_placed(directory, database, name, values) is None:
        raise UsageError(f"{directory} lacks the documents of {database}.{name}",
                         hint="restore the directory from a copy, or make the backup anew")  # fmt: skip
    return values


def _require_absent(client: Client, wanted: Sequence[tuple[str, str]], *, drop: bool) -> None:
    if drop:
        return
    there = []
    for database in dict.fromkeys(database for database, _ in wanted):
        with target_errors(f"looking at the collections of {database}"):
            names = set(client[database].list_collection_names())
        there += [f"{database}.{name}" for of, name in wanted if of == database and name in names]
    if there:
        raise UsageError(
            f"{', '.join(there[:4])}{' …' if there[4:] else ''} {'are' if there[1:] else 'is'} there already",
            hint="give --drop where they may go, or another server; nothing was changed",
        )


def _require_taken(
    client: Client, directory: Path, database: str, name: str, metadata: Mapping[str, Any], *, drop: bool
) -> None:
    """Raises TargetError where the user lacks a right, UsageError where the server refuses what is to come."""
    shape, kind = _shape(metadata), metadata.get("type")
    actions = ["createCollection", *(["dropCollection"] if drop else [])]
    if kind != "view":
        if (source := source_of(name, metadata.get("type"))) != name:
            require_rights(client[database], source, ["find", "insert"])
        actions += ["find", "insert", *(["createIndex"] if shape.indexes else [])]
        actions += ["bypassDocumentValidation"] if shape.checks_documents else []
        actions += ["collMod"] if _EXPIRY in shape.options else []
    require_rights(client[database], name, actions)
    if drop and kind != "view":
        require_rights(client[database], f"{BESIDE_PREFIX}{name}", actions)
    # Those of a view are its source's, and those of a time series are in buckets, under another name.
    first = [] if kind in ("view", "timeseries") else documents_of(_documents_file(directory, database, name, metadata))
    require_as_before(client[database], name, shape, list(islice(first, TRIAL_DOCUMENTS)))


def _shape(metadata: Mapping[str, Any]) -> Shape:
    """What it is besides its documents, as a server takes it."""
    options = dict(metadata.get("options") or {})
    # The UUID is the old collection's; the index on _id comes by itself, unless the collection is clustered by it.
    options.pop("uuid", None)
    options.pop("autoIndexId", None)
    indexes = [each for each in metadata.get("indexes", []) if each.get("name") != "_id_" and not each.get("clustered")]
    wanted = [{key: value for key, value in each.items() if key not in _OF_THE_SERVER_ALONE} for each in indexes]
    return Shape(options=options, indexes=wanted)


def _documents_file(directory: Path, database: str, name: str, metadata: Mapping[str, Any]) -> Path:
    path = _documents_placed(directory, database, name, metadata)
    assert path is not None  # noqa: S101 - looked for before
    return path


def _documents_placed(directory: Path, database: str, name: str, metadata: Mapping[str, Any]) -> Path | None:
    source = source_of(name, metadata.get("type"))
    return placed(directory, database, source, BSON) or placed(directory, database, name, BSON)


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


def _is_renamed(name: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a server gives such a collection another name; one that it gives none is put back twice."""
    is_encrypted = "encryptedFields" in (metadata.get("options") or {})
    return metadata.get("type") != "timeseries" and not is_encrypted and not name.startswith(OF_THE_SERVER)


def _replace(client: Client, database: str, name: str, place: str) -> None:
    """Gives the collection `place` the name of the one that is there, which goes with that."""
    with target_errors(f"putting what was restored in the place of {database}.{name}", within_s=WORK_WITHIN_S):
        there = list(client[database].list_collections(filter={"name": name}))
        if any(each.get("type", "collection") != "collection" for each in there):  # a server renames over no view
            client[database].drop_collection(name)
        client[database][place].rename(name, dropTarget=True)


def _drop(client: Client, database: str, name: str) -> None:
    with target_errors(f"dropping {database}.{name}"):
        if name in OF_USERS:  # which no server drops
            client[database][name].delete_many({})
        else:
            client[database].drop_collection(name)


def _create(client: Client, database: str, name: str, metadata: Mapping[str, Any]) -> None:
    options = {key: value for key, value in _shape(metadata).options.items() if key != _EXPIRY}
    with target_errors(f"making {database}.{name}"):
        if not (name in OF_USERS and collection_exists(client[database], name)):
            client[database].command({"create": name, **options})


def _put_back(
    client: Client,
    directory: Path,
    database: str,
    name: str,
    metadata: Mapping[str, Any],
    said: CollectionBackup | None,
    *,
    place: str,
    refused_hint: str,
    tell: Callable[[ContentHash], None],
    stopped: Callable[[], bool],
) -> RestoredCollection:
    namespace = f"{database}.{name}"
    shape, source = _shape(metadata), source_of(place, metadata.get("type"))
    path = _documents_file(directory, database, name, metadata)
    options: CodecOptions[Any] = CodecOptions(document_class=RawBSONDocument)
    collection = client[database].get_collection(source, codec_options=options)
    content = ContentHash()
    for batch in _batches(documents_of(path)):
        if stopped():
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
        tell(content)
    _require_as_written(path, content, said)
    _require_same(client, database, source, namespace, content)
    # Last: a server would begin to delete what has expired since, and what is there would no longer be the same.
    with target_errors(f"making the indexes of {namespace}", within_s=WORK_WITHIN_S):
        make_indexes(client[database], place, shape.indexes)
        if (expiry := shape.options.get(_EXPIRY)) is not None:
            client[database].command({"collMod": place, _EXPIRY: expiry})
    return RestoredCollection(namespace=namespace, type=str(metadata.get("type", "collection")),
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

"""Owns reading every collection of a server as of one instant, and writing it as mongodump does.

A snapshot session reads all collections as of one cluster time (MongoDB 5.0 and newer, replica sets and sharded
clusters). Other servers have no such session: collections are then read one after the other, and what is written
meanwhile is in those that come later. The backup says which it is.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pymongo
from bson.codec_options import CodecOptions
from bson.son import SON
from pymongo.client_session import ClientSession
from pymongo.errors import OperationFailure

from brimline.dataset.access import ANSWER_WITHIN_S, WORK_WITHIN_S, target_errors
from brimline.dataset.backup.layout import (
    BSON,
    METADATA,
    ContentHash,
    directory_name,
    file_name,
    metadata_text,
    open_for_writing,
    source_of,
    split,
)
from brimline.dataset.backup.summary import SUMMARY_FILE, Backup, CollectionBackup, write_summary
from brimline.dataset.manifest import MANIFEST_COLLECTION
from brimline.dataset.rights import LISTING, READING, require_rights, rights_to_data
from brimline.errors import RecordError, TargetError, UsageError
from brimline.record.files import sync_directory
from brimline.record.layout import unwritable
from brimline.servers.deployment import Client
from brimline.servers.rights import BUCKETS, OF_THE_SERVER, Rights

NOT_USERS = ("admin", "config", "local")
"""Databases of the server itself, which are left out unless they are named."""
OF_USERS = ("system.js",)
"""Functions that somebody stored, in a collection that no server drops."""
_TOLD_OTHERWISE = ("system.views", "system.profile", BUCKETS)
"""What is in the metadata of others, or a log."""
BESIDE_PREFIX = "brimline_restore_"
BESIDE = re.compile(f"{BESIDE_PREFIX}[0-9a-f]{{8}}")
"""What a restore calls a collection until all is in; one is left where a restore was killed."""
_SNAPSHOT_TOO_OLD = 239
_SNAPSHOT_FROM = 13
"""The wire version of MongoDB 5.0."""
COMPRESSED_TO_AT_BEST = 0.1
"""What is asked for before a backup that is compressed: what it will be isn't known."""
_unwritable = partial(unwritable, elsewhere="choose another directory")
_SIZES_ARE_OFF_BY = 1.1
"""What a server says of its data is not counted to the byte."""


class Stopped(Exception):
    """It was asked to end, and what was written is no whole backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupProgress:
    """What is read or put back now, its documents so far, and how far all is: bytes of about so many, 0: not known."""

    namespace: str
    documents: int
    bytes: int
    bytes_expected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A collection as `listCollections` says, with its indexes."""

    database: str
    name: str
    type: str
    options: dict[str, Any]
    uuid: bytes | None
    indexes: Sequence[dict[str, Any]]

    @property
    def namespace(self) -> str:
        """`database.collection`."""
        return f"{self.database}.{self.name}"

    @property
    def has_snapshots(self) -> bool:
        """Whether a server that keeps an instant's state keeps that of this collection: not of a capped one."""
        return not self.options.get("capped")

    @property
    def source(self) -> str | None:
        """The collection that holds its documents; None: a view holds none."""
        return None if self.type == "view" else source_of(self.name, self.type)


def write_backup(
    client: Client,
    directory: Path,
    *,
    server: str,
    databases: Sequence[str] = (),
    gzip: bool = False,
    hashed: bool = True,
    require_room: Callable[[int], None] = lambda _bytes: None,
    progress: Callable[[BackupProgress], None] = lambda _progress: None,
    notice: Callable[[str], None] = lambda _text: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Backup:
    """Writes all collections of `databases`, none named: of all but the server's own, into an empty directory.

    Manifests and pristine copies of brimline's own are left out, which `notice` is told of: they know collections by
    UUIDs, and what is restored has others. So is what a restore that was killed has left. `server` is what it is
    called. `hashed`: documents are hashed as they come. `require_room` raises UsageError where so many bytes are more
    than there are. `stopped` is asked on the way.

    Raises UsageError where the directory is not empty, there is nothing to read, or too little room; TargetError and
    RecordError; Stopped.
    """
    require_empty(directory)
    begun = time.monotonic()
    with target_errors("looking at the server"):
        hello = client.admin.command("hello")
        version = str(client.server_info().get("version", ""))
    found = _without_own(client, _collections(client, databases, notice=notice), notice=notice)
    expected = _data_bytes(client, found)
    require_room(round(expected * (COMPRESSED_TO_AT_BEST if gzip else _SIZES_ARE_OFF_BY)))
    why_not = _why_not_consistent(hello)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(directory, error) from error
    backup = Backup(server=server, server_version=version, as_of=None, not_consistent=why_not, gzip=gzip,
                    collections=(), files_bytes=0, elapsed_s=0.0, complete=False)  # fmt: skip
    _summarize(directory, backup)
    made: list[CollectionBackup] = []
    with _session(client, snapshot=not why_not) as session:
        for each in found:
            _write_metadata(directory, each, gzip=gzip)
            if each.source is None:
                continue

            def tell(content: ContentHash, each: _Found = each) -> None:
                if stopped():
                    raise Stopped
                progress(BackupProgress(
                    namespace=each.namespace,
                    documents=content.count,
                    bytes=sum(one.bytes for one in made) + content.bytes,
                    bytes_expected=expected,
                ))  # fmt: skip

            of = session if each.has_snapshots else None
            made.append(_write_documents(client, directory, each, of, gzip=gzip, hashed=hashed, tell=tell))
        stamp = None if session is None else getattr(session, "_snapshot_time", None)
    # What says that it is whole must not outlive a crash that takes a part of it.
    for place in dict.fromkeys(_path(directory, each, METADATA, gzip=gzip).parent for each in found):
        _sync(place)
    _sync(directory)
    whole = replace(
        backup,
        as_of=None if stamp is None else (stamp.time, stamp.inc),
        collections=tuple(made),
        files_bytes=sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()),
        elapsed_s=round(time.monotonic() - begun, 3),
        apart=() if why_not else tuple(each.namespace for each in found if not each.has_snapshots),
        complete=True,
    )
    _summarize(directory, whole)
    return whole


def require_empty(directory: Path) -> None:
    """Raises UsageError where something is in a directory already."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is no directory", hint="name one that is empty or not there yet")
    if not directory.exists() or not any(directory.iterdir()):
        return
    left = directory / SUMMARY_FILE
    what = "a backup is in it already" if left.exists() else "something is in it already"
    raise UsageError(
        f"{directory} is not empty: {what}",
        hint="choose another directory, or remove what is in it; a backup is never written over another",
    )


def require_readable(client: Client, database: str) -> None:
    """Raises TargetError where the user may not read every collection that a database has now, of which none is read.

    That there is no such database is no trouble.
    """
    _ = list(_of_database(client, database, [], rights_to_data(client[database])))


def _collections(client: Client, databases: Sequence[str], *, notice: Callable[[str], None]) -> list[_Found]:
    rights = rights_to_data(client.admin)
    for name in databases:  # here as well: the server leaves a database out that the user may not see, as if none were
        require_rights(client[name], "", LISTING, rights=rights)
    hidden = not databases and bool(rights.lacking_of_cluster(["listDatabases"]))
    with target_errors("looking at the collections"):
        there = sorted(str(each["name"]) for each in client.list_databases())
    if missing := [name for name in databases if name not in there]:
        raise UsageError(f"there is no database {', '.join(missing)}", hint=f"there are {', '.join(there)}")
    wanted = list(databases) or [name for name in there if name not in NOT_USERS]
    left_out: list[str] = []
    found = [each for name in wanted for each in _of_database(client, name, left_out, rights)]
    if left_out:
        notice(f"left out, as made by commands alone: {', '.join(left_out)}")
    if not found and hidden:
        raise TargetError("there is nothing to back up that the user may see",
                          hint="grant it the role backup on admin, which reads everything")  # fmt: skip
    if hidden:
        notice("the user may not list all databases (listDatabases): those that it doesn't see are left out")
    if not found:
        raise UsageError("there is nothing to back up: the server holds no collection of a user's",
                         hint="name a database: --db NAME")  # fmt: skip
    return found


def _without_own(client: Client, found: Sequence[_Found], *, notice: Callable[[str], None]) -> list[_Found]:
    """All but brimline's manifests, the copies that they speak of, which are known by UUID, and what restores left."""
    kept, own = list[_Found](), list[_Found]()
    uuids = {
        (each.database, document.get("copy_uuid"))
        for each in found
        if each.name == MANIFEST_COLLECTION
        for document in _manifests(client, each)
    }
    for each in found:
        is_own = each.name == MANIFEST_COLLECTION or BESIDE.fullmatch(each.name) is not None
        is_own = is_own or (each.uuid is not None and (each.database, each.uuid.hex()) in uuids)
        (own if is_own else kept).append(each)
    if own:
        notice(f"left out, as brimline made them for itself: {', '.join(each.namespace for each in own)}")
    if not kept:
        raise UsageError("there is nothing to back up: only brimline's own collections are there",
                         hint="name another database: --db NAME")  # fmt: skip
    return kept


def _manifests(client: Client, found: _Found) -> list[dict[str, Any]]:
    with target_errors(f"reading {found.namespace}"):
        return list(client[found.database][found.name].find({}, {"copy_uuid": 1}))


def _of_database(client: Client, name: str, left_out: list[str], rights: Rights) -> Iterator[_Found]:
    """Its collections but for what a server keeps of itself, which comes into `left_out`.

    Raises TargetError where the user may not read one of them.
    """
    database = client[name]
    require_rights(database, "", LISTING, rights=rights)
    with target_errors(f"looking at the collections of {name}"):
        listed = list(database.list_collections())
    for each in sorted(listed, key=lambda one: str(one["name"])):
        collection, kind = str(each["name"]), str(each.get("type", "collection"))
        if collection.startswith(OF_THE_SERVER) and collection not in OF_USERS:
            left_out += [] if collection.startswith(_TOLD_OTHERWISE) else [f"{name}.{collection}"]
            continue
        indexes: list[dict[str, Any]] = []
        if kind != "view":
            source = source_of(collection, kind)
            # The indexes of a time series are asked for by its own name.
            require_rights(database, source, READING if source == collection else ("find",), rights=rights)
            require_rights(database, collection, ("listIndexes",), rights=rights)
            with target_errors(f"looking at the indexes of {name}.{collection}"):
                indexes = [dict(one) for one in database[collection].list_indexes()]
        yield _Found(database=name, name=collection, type=kind, options=dict(each.get("options", {})),
                     uuid=_uuid(each), indexes=indexes)  # fmt: skip


def _data_bytes(client: Client, found: Sequence[_Found]) -> int:
    """About how many bytes the documents have; 0 where the server doesn't say."""
    total = 0
    for each in found:
        if each.source is not None:
            with suppress(pymongo.errors.PyMongoError), pymongo.timeout(ANSWER_WITHIN_S):
                total += int(client[each.database].command("collStats", each.source).get("size", 0))
    return total


def _why_not_consistent(hello: dict[str, Any]) -> str:
    """Why this server can't show all collections as of one instant; "" where it can."""
    if "setName" not in hello and hello.get("msg") != "isdbgrid":
        return (
            "the server is a standalone one, and only replica sets and sharded clusters can be read as of one instant"
        )
    if int(hello.get("maxWireVersion", 0)) < _SNAPSHOT_FROM:
        return "the server is older than 5.0, which has no snapshot sessions"
    return ""


@contextmanager
def _session(client: Client, *, snapshot: bool) -> Iterator[ClientSession | None]:
    if not snapshot:
        yield None
        return
    with client.start_session(snapshot=True) as session:
        yield session


def _sync(directory: Path) -> None:
    try:
        sync_directory(directory)
    except OSError as error:
        raise _unwritable(directory, error) from error


def _summarize(directory: Path, backup: Backup) -> None:
    try:
        write_summary(directory, backup)
    except RecordError as error:
        if isinstance(error.__cause__, OSError):
            raise _unwritable(directory / SUMMARY_FILE, error.__cause__) from error
        raise


def _write_metadata(directory: Path, found: _Found, *, gzip: bool) -> None:
    path = _path(directory, found, METADATA, gzip=gzip)
    text = metadata_text(found.name, options=found.options, indexes=[SON(each) for each in found.indexes],
                         kind=found.type, uuid=found.uuid)  # fmt: skip
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with open_for_writing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise _unwritable(path, error) from error


def _write_documents(
    client: Client,
    directory: Path,
    found: _Found,
    session: ClientSession | None,
    *,
    gzip: bool,
    hashed: bool,
    tell: Callable[[ContentHash], None],
) -> CollectionBackup:
    """The documents of a collection as they come, batch by batch, in the order in which they lie."""
    assert found.source is not None  # noqa: S101 - views were left out
    path = _path(directory, found, BSON, gzip=gzip)
    content = ContentHash()
    what = f"reading {found.namespace}"
    collection = client[found.database].get_collection(found.source, codec_options=CodecOptions())
    try:
        with open_for_writing(path) as file, target_errors(what, within_s=WORK_WITHIN_S):
            for raw in collection.find_raw_batches({}, session=session, sort=[("$natural", 1)]):
                batch = cast("bytes", raw)  # PyMongo's types say what a plain find brings
                for document in split(batch):
                    if hashed:
                        content.add(document)
                    else:
                        content.count += 1
                        content.bytes += len(document)
                try:
                    file.write(batch)
                except OSError as error:
                    raise _unwritable(path, error) from error
                tell(content)
    except OSError as error:
        raise _unwritable(path, error) from error
    except TargetError as error:
        if isinstance(error.__cause__, OperationFailure) and error.__cause__.code == _SNAPSHOT_TOO_OLD:
            raise TargetError(
                f"{what}: the server no longer has the snapshot that the backup began with",
                hint="have it keep snapshots for longer than a backup takes: setParameter "
                "minSnapshotHistoryWindowInSeconds",
            ) from error
        raise
    _require_there(client, found)
    return CollectionBackup(database=found.database, collection=found.name, type=found.type, documents=content.count,
                            bytes=content.bytes, hash=content.text if hashed else "")  # fmt: skip


def _require_there(client: Client, found: _Found) -> None:
    """Raises TargetError where the collection went meanwhile: then a server shows nothing instead of what it held."""
    with target_errors(f"reading {found.namespace}"):
        listed = list(client[found.database].list_collections(filter={"name": found.source}))
    uuids = [_uuid(each) for each in listed]
    if not uuids or (found.uuid is not None and found.uuid not in uuids):
        raise TargetError(
            f"{found.namespace} was dropped or renamed while it was read",
            hint="make the backup again, while nobody drops collections or renames them",
        )


def _uuid(listed: Mapping[str, Any]) -> bytes | None:
    uuid = listed.get("info", {}).get("uuid")
    return bytes(uuid.bytes if hasattr(uuid, "bytes") else uuid) if uuid else None


def _path(directory: Path, found: _Found, ending: str, *, gzip: bool) -> Path:
    return directory / directory_name(found.database) / file_name(found.name, ending, gzipped=gzip)

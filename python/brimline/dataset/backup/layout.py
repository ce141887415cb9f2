"""Owns mongodump's layout of a directory: where a collection is, what its metadata say, how either is compressed.

Source: https://www.mongodb.com/docs/database-tools/mongodump/ and the tool's own source (`mongodump/metadata_dump.go`,
`util/namespaces.go`): `<database>/<collection>.bson` holds documents one behind the other, `<collection>.metadata.json`
the options, indexes and UUID as extended JSON; both with `.gz` where compressed. What can't be in a file's name is
written as in URLs. A name that is too long then is cut, and is whole in the metadata.
"""

import gzip
import hashlib
import os
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote, unquote

from bson import json_util

from brimline.errors import RecordError, UsageError
from brimline.record.layout import unreadable
from brimline.servers.rights import BUCKETS

BSON, METADATA, GZ = ".bson", ".metadata.json", ".gz"
_AS_IT_IS = " !#$&'()+,-.;=@[]^_`{}~"
"""What mongodump leaves in a name, besides letters and digits."""
_NAME_MAX, _NAME_KEPT, _CUT_MARK = 238, 208, "%24"
"""Characters of a name, with `.metadata.json.gz` as many as a file's may have; of one that is cut, before a digest."""
_LENGTH_BYTES = 4
DOCUMENT_BYTES_MAX = 16 * 1024 * 1024 + 16 * 1024
"""What a server stores at most, and the room that it leaves for itself."""
_CHUNK_BYTES = 1 << 20
COMPRESSION_LEVEL = 1
"""The fastest: a backup is to be over soon."""


def source_of(name: str, kind: str | None) -> str:
    """The collection that holds the documents of one of that type, no view; mongodump names the file by it."""
    return f"{BUCKETS}{name}" if kind == "timeseries" else name


def file_name(collection: str, ending: str, *, gzipped: bool) -> str:
    """What a file of a collection is called."""
    name = quote(collection, safe=_AS_IT_IS)
    if len(name) > _NAME_MAX:
        digest = hashlib.sha1(collection.encode(), usedforsecurity=False).digest()
        name = f"{name[:_NAME_KEPT]}{_CUT_MARK}{urlsafe_b64encode(digest).decode().rstrip('=')}"
    return f"{name}{ending}{GZ if gzipped else ''}"


def directory_name(database: str) -> str:
    """What the directory of a database is called."""
    return quote(database, safe=_AS_IT_IS)


def namespaces(directory: Path) -> list[tuple[str, str]]:
    """Database and collection of each metadata file, sorted. Raises UsageError where there is none, RecordError."""
    found = []
    for path in sorted(directory.glob(f"*/*{METADATA}*")):
        name = path.name.removesuffix(GZ)
        if name.endswith(METADATA):
            name = name.removesuffix(METADATA)
            is_cut = len(name) == _NAME_MAX and name[_NAME_KEPT:].startswith(_CUT_MARK)
            collection = str(read_metadata(path).get("collectionName")) if is_cut else unquote(name)
            found.append((unquote(path.parent.name), collection))
    if not found:
        raise UsageError(
            f"{directory} holds no backup: there is no *{METADATA} in its directories",
            hint="give the directory that brimline backup or mongodump --out wrote",
        )
    return found


def placed(directory: Path, database: str, collection: str, ending: str) -> Path | None:
    """The file of a collection, compressed or not; None where there is none."""
    for gzipped in (False, True):
        path = directory / directory_name(database) / file_name(collection, ending, gzipped=gzipped)
        if path.exists():
            return path
    return None


@contextmanager
def open_for_writing(path: Path) -> Iterator[IO[bytes]]:
    """A new file, compressed where its name says so; it is on the disk where the `with` block ends. Raises OSError."""
    with path.open("xb") as file:
        if path.suffix == GZ:
            with gzip.GzipFile(path.name, "wb", compresslevel=COMPRESSION_LEVEL, fileobj=file) as compressed:
                yield cast("IO[bytes]", compressed)
        else:
            yield file
        file.flush()
        os.fsync(file.fileno())


def open_for_reading(path: Path) -> IO[bytes]:
    """A file, compressed or not. Raises OSError."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == GZ else path.open("rb")


def metadata_text(
    collection: str, *, options: Mapping[str, Any], indexes: Sequence[Mapping[str, Any]], kind: str, uuid: bytes | None
) -> str:
    """What a metadata file holds, in canonical extended JSON."""
    values: dict[str, Any] = {"indexes": list(indexes)}
    if uuid is not None:
        values["uuid"] = uuid.hex()
    values |= {"collectionName": collection, "type": kind}
    if options:
        values["options"] = dict(options)
    return json_util.dumps(values, json_options=json_util.CANONICAL_JSON_OPTIONS)


def read_metadata(path: Path) -> dict[str, Any]:
    """What a metadata file holds. Raises RecordError."""
    try:
        with open_for_reading(path) as file:
            values = json_util.loads(file.read().decode(), json_options=json_util.CANONICAL_JSON_OPTIONS)
    except (OSError, EOFError, zlib.error) as error:
        raise _trouble(path, error) from error
    except (ValueError, TypeError) as error:
        raise RecordError(f"{path} is damaged: it is no extended JSON", hint=_MADE_ANEW) from error
    if not isinstance(values, dict) or not _has_shape(values):
        raise RecordError(f"{path} is damaged: it holds no options and indexes", hint=_MADE_ANEW)
    return values


def _has_shape(values: Mapping[str, Any]) -> bool:
    options, indexes = values.get("options"), values.get("indexes", [])
    is_list = isinstance(indexes, list) and all(isinstance(each, dict) for each in indexes)
    return is_list and isinstance(options, dict | None)


def documents_of(path: Path) -> Iterator[bytes]:
    """The documents of a file, one at a time. Raises RecordError where it is cut short or no BSON."""
    try:
        with open_for_reading(path) as file:
            while head := file.read(_LENGTH_BYTES):
                length = int.from_bytes(head, "little", signed=True)
                if not 5 <= length <= DOCUMENT_BYTES_MAX:
                    raise RecordError(f"{path} is damaged: a document says that it has {length} bytes", hint=_MADE_ANEW)
                document = head + file.read(length - len(head))
                if len(document) != length or document[-1]:
                    raise _cut_short(path)
                yield document
    except (OSError, EOFError, zlib.error) as error:
        raise _trouble(path, error) from error


def split(batch: bytes) -> Iterator[bytes]:
    """The documents of a batch as a server sends it. Raises ValueError where it lies about a length."""
    place = 0
    while place < len(batch):
        length = int.from_bytes(batch[place : place + _LENGTH_BYTES], "little", signed=True)
        if length < 5 or place + length > len(batch):
            raise ValueError("a document is longer than its batch")
        yield batch[place : place + length]
        place += length


class ContentHash:
    """A hash of documents, whatever their order: the sum of the hashes of each, with how many they are."""

    _MODULUS = 1 << 256

    def __init__(self) -> None:
        self.count = 0
        self.bytes = 0
        self._sum = 0

    def add(self, document: bytes) -> None:
        """One more."""
        digest = hashlib.blake2b(document, digest_size=32).digest()
        self._sum = (self._sum + int.from_bytes(digest, "little")) % self._MODULUS
        self.count += 1
        self.bytes += len(document)

    @property
    def text(self) -> str:
        """In hex."""
        return f"{self._sum:064x}"


_MADE_ANEW = "it was changed or cut short: restore it from a copy, or make the backup anew"


def _cut_short(path: Path) -> RecordError:
    return RecordError(f"{path} is cut short", hint=_MADE_ANEW)


def _trouble(path: Path, error: Exception) -> RecordError:
    if isinstance(error, EOFError):
        return _cut_short(path)
    if isinstance(error, zlib.error | gzip.BadGzipFile):
        return RecordError(f"{path} is damaged: it can't be unpacked", hint=_MADE_ANEW)
    return unreadable(path, cast("OSError", error))

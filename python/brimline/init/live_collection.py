"""Owns what is read of a live collection: how many documents, a bounded sample of them, its options and indexes."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.raw_bson import RawBSONDocument
from pymongo.errors import OperationFailure, PyMongoError

from brimline.dataset.access import DataDatabase, collection_exists, target_errors
from brimline.dataset.anew import shard_key_wanted
from brimline.dataset.shape import Shape, read_shape
from brimline.dataset.sharding import is_behind_router
from brimline.errors import TargetError, UsageError
from brimline.init.value_shape import ValueShape, at_path
from brimline.servers.answers import refusal_words
from brimline.servers.refusal import NOT_ALLOWED_CODES

SAMPLE_DEFAULT = 1_000
SAMPLE_MAX = 100_000
SAMPLE_BYTES_MAX = 64 * 2**20
_WITHIN_S = 300.0
_LOOKED_UP_MAX = 100
_USUAL_SHARE = 0.9
_READING: CodecOptions[dict[str, Any]] = CodecOptions(
    datetime_conversion=DatetimeConversion.DATETIME_AUTO, unicode_decode_error_handler="replace", uuid_representation=4
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCollection:
    """A collection as it is. `sampled` documents make up `shape`; `document_bytes` is their mean size."""

    name: str
    count: int
    shape: ValueShape
    sampled: int
    document_bytes: int
    stored: Shape = field(default_factory=Shape)
    shard_key: Mapping[str, Any] | None = None

    @property
    def id_shape(self) -> ValueShape:
        """What is seen of `_id`."""
        return self.shape.fields.get("_id") or ValueShape()

    def route(self, path: str) -> tuple[str, str]:
        """The field to sample for values at a path, and the path to the first of them: ("items", "items.0.sku")."""
        shape, parts, column = self.shape, list[str](), ""
        for name in path.split("."):
            is_place = False
            while shape.main_type == "array" and shape.items is not None and not is_place:
                is_place = name.isdigit()
                column = column or ".".join(parts)
                parts.append(name if is_place else "0")
                shape = shape.items
            if is_place:
                continue
            if name not in shape.fields:
                return path, path
            parts.append(name)
            shape = shape.fields[name]
        while shape.main_type == "array" and shape.items is not None:
            column = column or ".".join(parts)
            parts.append("0")
            shape = shape.items
        return column or path, ".".join(parts)

    def is_rare(self, path: str) -> bool:
        """Whether a field is missing in so many documents that rows with it are rows of their own."""
        found = self.shape.fields.get(path.partition(".")[0])
        return found is not None and found.seen < _USUAL_SHARE * self.sampled

    def at(self, path: str) -> ValueShape | None:
        """What is seen of a field."""
        return at_path(self.shape, path)


def read_live(database: DataDatabase, name: str, *, sample: int) -> LiveCollection:
    """Reads at most `sample` documents and 64 MiB of them.

    Raises:
        UsageError: there is no such collection, it is a view, or it is empty.
        TargetError: the server refuses or goes away.
    """
    with (
        _refused_reading(f"{database.name}.{name}"),
        target_errors(f"reading {database.name}.{name}", within_s=_WITHIN_S),
    ):
        stored = read_shape(database, name)
        if stored is None:
            raise _missing(database, name)
        count = database[name].estimated_document_count()
        is_timeseries = "timeseries" in stored.options
        if is_timeseries:
            count = database[name].count_documents({}, maxTimeMS=round(_WITHIN_S * 500))
        shape, sampled, size = ValueShape(), 0, 0
        for raw in _sample(database, name, count=count, sample=sample):
            shape.add(bson.decode(raw, codec_options=_READING))
            sampled, size = sampled + 1, size + len(raw)
            if size >= SAMPLE_BYTES_MAX:
                break
        if not sampled:
            raise UsageError(
                f"{database.name}.{name} is empty, so that nothing shows what its documents look like",
                hint=f"leave {name} out, or put some documents into it",
            )
        return LiveCollection(
            name=name,
            count=max(count, sampled),
            shape=shape,
            sampled=sampled,
            document_bytes=size // sampled,
            stored=stored,
            shard_key=_shard_key(database, name),
        )


@contextmanager
def _refused_reading(namespace: str) -> Iterator[None]:
    """Turns the server's "not authorized" into an error that says which right is missing."""
    try:
        yield
    except TargetError as error:
        if isinstance(cause := error.__cause__, OperationFailure) and cause.code in NOT_ALLOWED_CODES:
            raise TargetError(
                f"the user may not read {namespace}: {refusal_words(cause)}",
                hint="nothing was written; grant the role read on that database, or use another user",
            ) from cause
        raise


def _sample(database: DataDatabase, name: str, *, count: int, sample: int) -> Iterator[bytes]:
    """The bytes of documents: all where there are few, else at random."""
    options: Any = CodecOptions(document_class=RawBSONDocument)
    collection = database[name].with_options(codec_options=options)
    if count <= sample:
        cursor: Any = collection.find({}, limit=sample, batch_size=min(sample, 1000))
    else:
        cursor = collection.aggregate([{"$sample": {"size": sample}}], allowDiskUse=True, batchSize=1000)
    with cursor:
        for document in cursor:
            yield document.raw


def _missing(database: DataDatabase, name: str) -> UsageError:
    names = [str(each) for each in database.list_collection_names() if not str(each).startswith("system.")]
    near = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(sorted(names)[:10])
    hint = f"did you mean {database.name}.{near[0]}" if near else f"it has: {listed}" if names else "it has none"
    return UsageError(f"there is no collection {name} in the database {database.name}", hint=hint)


def _shard_key(database: DataDatabase, name: str) -> Mapping[str, Any] | None:
    """What the collection is sharded by; None where it isn't, or the user may not see it."""
    try:
        if not is_behind_router(database) or not collection_exists(database, name):
            return None
        found = shard_key_wanted(database, name)
    except PyMongoError:
        return None
    return None if found is None else found.fields


def share_found(database: DataDatabase, name: str, keys: Sequence[Any]) -> float:
    """Which share of some `_id`s the collection has. Raises TargetError."""
    asked = list(keys)[:_LOOKED_UP_MAX]
    if not asked:
        return 0.0
    with target_errors(f"looking up keys in {database.name}.{name}"):
        found = database[name].count_documents({"_id": {"$in": asked}}, maxTimeMS=10_000)
    return found / len(set(map(str, asked)))

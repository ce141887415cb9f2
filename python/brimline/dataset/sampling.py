"""Owns rows of a collection as values of a workload: which ones are taken, and what of them.

Where the keys are known, rows are taken evenly over the records, so that the same data gives the same rows. Else a
collection is read in the order of `_id` and every n-th row is taken, and where that would take too long the server
draws rows by chance. Source: MongoDB's manual on `$sample`, which is cheap below a twentieth of the collection.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.raw_bson import RawBSONDocument

from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.errors import UsageError

ROWS_MAX = 1_000_000
BYTES_MAX = 256 * 1024 * 1024
"""Of the rows of one value in memory."""
_ENTIRE_MAX = 200_000
"""Documents that are read in order, of which some are taken; a server reads as many in a second or two."""
_CHEAP_FROM = 20
_BLOCK_RECORDS = 100
"""Records in a row that are asked for at once: neighbours may be alike, so that blocks are small."""
_BLOCKS_MIN = 100
_AS_STORED = CodecOptions(document_class=RawBSONDocument, datetime_conversion=DatetimeConversion.DATETIME_MS)


class Keys(Protocol):
    """The keys of the records that a collection surely holds."""

    @property
    def records(self) -> range:
        """Which they are."""

    def of(self, records: range) -> Sequence[str]:
        """Those of some of the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows that were taken: `content` is their BSON documents one behind another, each with the fields asked for.

    `lacking_count` further rows lack one of the fields. `way` says how rows were chosen. `is_cut`: memory ended it.
    """

    content: bytes
    row_count: int
    lacking_count: int
    way: str
    is_cut: bool


def sample_rows(
    database: DataDatabase,
    name: str,
    fields: Sequence[str],
    *,
    count: int,
    keys: Keys | None = None,
    look_up: Callable[[], None] = lambda: None,
) -> Rows:
    """At most `count` rows of a collection, with what stands at each path of `fields`, by that path.

    Without fields they are whole documents.
    `look_up` is called now and then, and may raise to end it.

    Raises:
        UsageError: the collection is empty, or no row that was read has all fields.
        TargetError: the server doesn't answer or refuses.
    """
    namespace = f"{database.name}.{name}"
    with target_errors(f"reading rows of {namespace}", within_s=WORK_WITHIN_S):
        there = database[name].estimated_document_count()
    if there == 0:
        raise UsageError(
            f"{namespace} is empty, so that there are no rows to sample", hint="load it first, or correct its name"
        )
    wanted = min(count, ROWS_MAX, there)
    way, read = _way(database, name, fields, wanted=wanted, there=there, keys=keys)
    content, row_count, lacking_count, is_cut = bytearray(), 0, 0, False
    with target_errors(f"reading rows of {namespace}", within_s=WORK_WITHIN_S):
        for number, document in enumerate(read):
            if number % _BLOCK_RECORDS == 0:
                look_up()
            row = _row(document, fields)
            if row is None:
                lacking_count += 1
                continue
            if len(content) + len(row) > BYTES_MAX:
                is_cut = True
                break
            content += row
            row_count += 1
            if row_count == wanted:
                break
    if row_count == 0:
        raise UsageError(
            f"no row of {namespace} that was read has {_listed(fields)}", hint="correct the fields of the sample"
        )
    return Rows(content=bytes(content), row_count=row_count, lacking_count=lacking_count, way=way, is_cut=is_cut)


def _way(
    database: DataDatabase, name: str, fields: Sequence[str], *, wanted: int, there: int, keys: Keys | None
) -> tuple[str, Iterator[RawBSONDocument]]:
    """How rows are chosen, and the documents in their order."""
    collection = database[name].with_options(codec_options=_AS_STORED)
    projection = _projection(fields)
    if keys is not None:
        return "evenly over the records", _by_keys(collection, keys, projection, min(wanted, len(keys.records)))
    if there <= max(_ENTIRE_MAX, _CHEAP_FROM * wanted):
        # A time series has no index over _id, and is stored in the order of its time.
        sort = None if _is_time_series(database, name) else [("_id", 1)]
        way = "evenly as they are stored" if sort is None else "evenly in the order of _id"
        return way, _evenly(collection.find({}, projection, sort=sort), wanted, there)
    stages = [{"$sample": {"size": wanted}}, *([{"$project": projection}] if projection else [])]
    return "by chance, other ones each time", iter(collection.aggregate(stages, allowDiskUse=True))


def _by_keys(collection: Any, keys: Keys, projection: Mapping[str, Any], wanted: int) -> Iterator[RawBSONDocument]:
    block_count = min(wanted, max(_BLOCKS_MIN, -(-wanted // _BLOCK_RECORDS)))
    for block in range(block_count):
        first = keys.records.start + block * len(keys.records) // block_count
        size = wanted * (block + 1) // block_count - wanted * block // block_count
        yield from collection.find({"_id": {"$in": list(keys.of(range(first, first + size)))}}, projection)


def _is_time_series(database: DataDatabase, name: str) -> bool:
    with target_errors("looking at the collection"):
        return any(each.get("type") == "timeseries" for each in database.list_collections(filter={"name": name}))


def _evenly(found: Iterable[RawBSONDocument], wanted: int, there: int) -> Iterator[RawBSONDocument]:
    for number, document in enumerate(found):
        if (number + 1) * wanted // there > number * wanted // there:
            yield document


def _projection(fields: Iterable[str]) -> dict[str, int]:
    """All that is needed: of paths that lie in one another the outer one, as no server takes both."""
    outer = {field for field in fields if not any(field.startswith(f"{other}.") for other in fields)}
    # A position in an array can't be projected.
    names = {".".join(_until_position(field)): 1 for field in sorted(outer)}
    return (
        names if not names or "_id" in names or any(name.startswith("_id.") for name in names) else {**names, "_id": 0}
    )


def _until_position(path: str) -> Iterator[str]:
    for part in path.split("."):
        if part.isdigit():
            return
        yield part


def _row(document: RawBSONDocument, fields: Sequence[str]) -> bytes | None:
    """The row as BSON; None where it lacks a field."""
    if not fields:
        return bytes(document.raw)
    row: dict[str, Any] = {}
    for field in fields:
        value: Any = document
        for part in field.split("."):
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                return None
        row[field] = value
    return bson.encode(row)


def _listed(fields: Sequence[str]) -> str:
    return fields[0] if len(fields) == 1 else f"all of {', '.join(fields)}"

"""Owns the question which records of an interrupted load are missing: the server is asked, nothing else is trusted.

Batches go out unordered over several connections, so an interruption leaves holes near the frontier, and a server
that was killed may have lost what it had acknowledged last. A note of how far a load had come would be wrong just
then. Every key is a function of its index, so the server can be asked for each whether it is there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import bson

from brimline import _native
from brimline.dataset.access import DataDatabase, target_errors
from brimline.dataset.chunks import chunks
from brimline.dataset.manifest import Manifest
from brimline.errors import UsageError

GAPS_MAX = 100_000
"""Gaps that one plan names. An interruption leaves a few per connection; more say that somebody deleted documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """The records that are missing, as ascending ranges of indices, and how many are there."""

    missing: tuple[range, ...]
    present_count: int


def find_gaps(database: DataDatabase, manifest: Manifest, *, plan_json: str, look_up: Callable[[], None]) -> Gaps:
    """Asks the server for every record of `manifest`; `plan_json` is a plan of the same data.

    Of each ten thousand records the first and the last one that are there are compared with what they should be.
    `look_up` is called before each, and may raise to end the search.

    Raises:
        UsageError: a document under one of the keys is not the one that was loaded, or there are too many gaps.
        TargetError: the server doesn't answer or refuses.
    """

    def which_are_there(chunk: range) -> Sequence[bool]:
        look_up()
        there = _which_are_there(database, manifest.collection, plan_json, chunk)
        present = [index for index, is_there in zip(chunk, there, strict=True) if is_there]
        for index in {*present[:1], *present[-1:]}:
            _require_ours(database, manifest.collection, plan_json, index)
        return there

    return gaps_in(manifest.records, which_are_there, name=f"{database.name}.{manifest.collection}")


def gaps_in(records: range, which_are_there: Callable[[range], Sequence[bool]], *, name: str) -> Gaps:
    """The gaps among `records`, by asking for ten thousand at once. Raises UsageError: there are too many."""
    gaps: list[range] = []
    present_count = 0
    for chunk in chunks(records.start, records.stop):
        there = which_are_there(chunk)
        present_count += sum(there)
        for gap in _runs_of_missing(chunk, there):
            if gaps and gaps[-1].stop == gap.start:
                gaps[-1] = range(gaps[-1].start, gap.stop)
            else:
                gaps.append(gap)
        if len(gaps) > GAPS_MAX:
            raise UsageError(
                f"records are missing in more than {GAPS_MAX} places of {name}",
                hint="load anew without --resume, with --drop where the documents may go",
            )
    return Gaps(missing=tuple(gaps), present_count=present_count)


def _which_are_there(database: DataDatabase, name: str, plan_json: str, chunk: range) -> Sequence[bool]:
    """For each record of `chunk`. Nearly every chunk is whole or empty, and then a count says it all."""
    keys = _native.generate_keys(plan_json, chunk.start, len(chunk))
    wanted = {"_id": {"$in": keys}}
    with target_errors("looking for the documents that are there"):
        count = database[name].count_documents(wanted)
        if count in (0, len(keys)):
            return [count > 0] * len(keys)
        cursor = database[name].find(wanted, {"_id": 1})
        found = {document["_id"] for document in islice(cursor, len(keys) + 1)}
    return [key in found for key in keys]


def _require_ours(database: DataDatabase, name: str, plan_json: str, index: int) -> None:
    (text,) = _native.generate_documents(plan_json, index, 1)
    wanted = bson.decode(text)
    with target_errors("comparing a document"):
        found = database[name].find_one({"_id": wanted["_id"]})
    if found != wanted:
        raise UsageError(
            f"the document {wanted['_id']} in {database.name}.{name} is not the one that was loaded",
            hint="load anew without --resume, with --drop where the documents may go",
        )


def _runs_of_missing(chunk: range, there: Sequence[bool]) -> Iterator[range]:
    first: int | None = None
    for index, is_there in zip(chunk, there, strict=True):
        if is_there and first is not None:
            yield range(first, index)
            first = None
        elif not is_there and first is None:
            first = index
    if first is not None:
        yield range(first, chunk.stop)

"""Owns what is around the queries of a scan: a collection that holds something, its indexes, the bounds of ranges."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pymongo
from pymongo.errors import PyMongoError

from brimline.dataset.access import (
    ANSWER_WITHIN_S,
    WORK_WITHIN_S,
    DataDatabase,
    collection_exists,
    indexes_of,
    target_errors,
)
from brimline.errors import TargetError, UsageError
from brimline.execution import RunContext
from brimline.experiments.scan.order import RangeBounds, ScanProbe, starts
from brimline.spec.expected_plan import key_pattern_text
from brimline.spec.scans import IndexSpec, ScansSpec, count_of
from brimline.units import format_count
from brimline.wording import Verbatim, message


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionSize:
    """How many documents there are, and their mean size; None where the server doesn't say."""

    count: int
    document_bytes: float | None


def collection_size(database: DataDatabase, collection: str) -> CollectionSize:
    """Looks at the collection. Raises UsageError when it isn't there or holds nothing, and TargetError."""
    namespace = f"{database.name}.{collection}"
    with target_errors("looking at the collection"):
        known = collection_exists(database, collection)
        count = database[collection].estimated_document_count() if known else 0
    if not known:
        raise UsageError(
            f"there is no collection {namespace}",
            hint="name another in the spec's data, or have it loaded: --data load",
        )
    if not count:
        raise UsageError(f"the collection {namespace} is empty", hint="load it first: brimline load, or --data load")
    try:
        with pymongo.timeout(ANSWER_WITHIN_S):
            average = database.command("collStats", collection).get("avgObjSize")
    except PyMongoError:
        average = None
    return CollectionSize(count=count, document_bytes=float(average) if isinstance(average, int | float) else None)


_OF_EACH_DOCUMENT = frozenset(
    {"$match", "$project", "$addFields", "$set", "$unset", "$unwind", "$replaceRoot", "$replaceWith", "$redact"}
)
"""Stages that look at one document at a time: what several servers make of their parts is what one makes of all."""


def require_mergeable(scans: ScansSpec) -> None:
    """Every scenario has a meaning over shards that know nothing of each other. Raises UsageError."""
    for scenario in scans.scenarios:
        stages = [next(iter(stage), "") for stage in scenario.pipeline or ()]
        others = [stage for stage in stages if stage not in _OF_EACH_DOCUMENT]
        if scenario.limit is not None or others:
            what = f"the stage {others[0]}" if others else "a limit"
            raise UsageError(
                f"{scenario.name}: {what} has no meaning over client-routed shards, each of which knows its part alone",
                hint="leave the scenario out, or scan a topology with one server or a mongos",
            )


def check_scenarios(database: DataDatabase, collection: str, scans: ScansSpec, *, entry_count: int) -> None:
    """Refuses, before any index is built, what can't be asked even with the spec's indexes.

    Raises UsageError where a hint names no index, where none begins with the field of a range or the collection has
    fewer entries than it, and TargetError.
    """
    there = indexes_of(database, collection)
    for index in scans.indexes:
        if not _is_there(index, there, collection):
            there = {**there, index.effective_name: index.keys}
    _check_hints(scans, there, collection)
    _check_ranges(scans, there, entry_count)


@contextmanager
def indexes_in_place(
    database: DataDatabase, collection: str, scans: ScansSpec, context: RunContext, *, left: Sequence[str] = ()
) -> Iterator[list[str]]:
    """The spec's indexes for the length of the `with` block; yields the names of those built for it, which then go.

    `left`: those that this scan built before it was killed, which go as well.

    Raises UsageError where an index of that name is another one, and TargetError.
    """
    built: list[str] = []
    try:
        there = indexes_of(database, collection)
        for index in scans.indexes:
            if _is_there(index, there, collection):
                built += [name for name in left if name == index.effective_name and name in there]
                continue
            context.stop.raise_if_requested()
            context.progress.step(message("building the index {index}", index=Verbatim(index.text)))
            built.append(index.effective_name)
            with target_errors(f"building the index {index.text}", within_s=WORK_WITHIN_S):
                database[collection].create_index(list(index.keys.items()), name=index.effective_name)
        yield built
    finally:
        for name in built:
            try:
                with pymongo.timeout(ANSWER_WITHIN_S):
                    database[collection].drop_index(name)
            except PyMongoError:
                namespace = f"{database.name}.{collection}"
                context.progress.note(
                    f"the index {name}, built for the scan, may still be on {namespace}: drop it there"
                )


def range_bounds(
    asked: Sequence[ScanProbe], database: DataDatabase, collection: str, scans: ScansSpec, *, entry_count: int
) -> Mapping[ScanProbe, RangeBounds]:
    """The values between which each width lies, found by walking the index; its documents are not touched.

    The scenarios have been checked. Raises UsageError where the field has too few different values, and TargetError.
    """
    found: dict[ScanProbe, RangeBounds] = {}
    there = indexes_of(database, collection)
    for number, scenario in enumerate(scans.scenarios):
        if scenario.range is None:
            continue
        field = scenario.range.field
        hint = _index_of_range(field, there)
        if hint is None:
            raise TargetError(
                f"{scenario.name}: the index on {field} is gone", hint="let nobody drop indexes during a scan"
            )
        own = [probe for probe in asked if probe.scenario == number]
        sizes = [probe.width or 0 for probe in own]
        for probe, size, start in zip(own, sizes, starts(sizes, entry_count=entry_count), strict=True):
            with target_errors("looking for the bounds of a range", within_s=WORK_WITHIN_S):
                bounds = _bounds(database, collection, field, hint, start=start, size=size)
            if bounds is None:
                raise UsageError(
                    f"{probe.label}: {field} has too few different values for a range of that width",
                    hint="give another width, or another field",
                )
            found[probe] = bounds
    return found


def _index_of_range(field: str, there: Mapping[str, Mapping[str, Any]]) -> str | None:
    return next((name for name, keys in there.items() if next(iter(keys)) == field), None)


def _bounds(
    database: DataDatabase, collection: str, field: str, hint: str, *, start: int, size: int
) -> RangeBounds | None:
    low = _value(database, collection, field, hint, {}, start)
    if low is None:
        return None
    high = _value(database, collection, field, hint, {field: {"$gte": low[0]}}, size)
    if high is None:
        return RangeBounds(low=low[0])
    return None if high[0] == low[0] else RangeBounds(low=low[0], high=high[0])


def _value(
    database: DataDatabase, collection: str, field: str, hint: str, condition: Mapping[str, Any], skip: int
) -> tuple[Any] | None:
    """The value of the entry that is so many behind the first; None behind the last."""
    projection: dict[str, int] = {field: 1} if field == "_id" else {field: 1, "_id": 0}
    cursor = database[collection].find(dict(condition), projection).sort(field, 1).hint(hint).skip(skip).limit(1)
    document: Any = next(iter(cursor), None)
    for part in field.split(".") if document is not None else ():
        document = document.get(part) if isinstance(document, Mapping) else None
    return None if document is None else (document,)


def _is_there(index: IndexSpec, there: Mapping[str, Mapping[str, Any]], collection: str) -> bool:
    wanted = index.text
    if any(key_pattern_text(keys) == wanted for keys in there.values()):
        return True
    if index.effective_name in there:
        other = key_pattern_text(there[index.effective_name])
        raise UsageError(
            f"{collection} has an index {index.effective_name} on {other}, not on {wanted}",
            hint="give the index of the spec another name: {keys: …, name: …}",
        )
    return False


def _check_hints(scans: ScansSpec, there: Mapping[str, Mapping[str, Any]], collection: str) -> None:
    patterns = {key_pattern_text(keys) for keys in there.values()}
    for scenario in scans.scenarios:
        hint = scenario.hint
        if hint is None or hint == "$natural":
            continue
        known = hint in there if isinstance(hint, str) else key_pattern_text(hint) in patterns
        if not known:
            shown = hint if isinstance(hint, str) else key_pattern_text(hint)
            raise UsageError(
                f"{scenario.name}: hint names no index of {collection}: {shown}",
                hint=f"its indexes: {', '.join(sorted(there))}; add others to indexes",
            )


def _check_ranges(scans: ScansSpec, there: Mapping[str, Mapping[str, Any]], entry_count: int) -> None:
    for scenario in scans.scenarios:
        if scenario.range is None:
            continue
        field = scenario.range.field
        counts = [count_of(width, entry_count=entry_count) for width in scenario.range.widths or ()]
        widest = max(counts, default=0)
        if _index_of_range(field, there) is None:
            raise UsageError(
                f"{scenario.name}: no index begins with {field}, so a range of it can't be scanned",
                hint=f"add it to the spec: indexes: [{{{field}: 1}}]",
            )
        if widest > entry_count:
            raise UsageError(
                f"{scenario.name}: a range of {format_count(widest)} entries is more than "
                f"the {format_count(entry_count)} that the collection holds",
                hint="give smaller widths, or more records",
            )

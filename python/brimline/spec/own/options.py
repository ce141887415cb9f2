"""Owns what a step may say: for each kind of option how it is read into the command."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from brimline import units
from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope, described, read_expression
from brimline.spec.own.nodes import Node, constant, constant_value, document
from brimline.spec.own.problems import Problem, near_name
from brimline.spec.readers import shown

Read = Callable[[Any, Path, Scope], Node]
_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a step: its name here, in the server's command, how it is read and what it says."""

    name: str
    field: str
    read: Read
    words: str


_UPDATE_OPERATORS: Final = (
    "$set", "$unset", "$inc", "$mul", "$rename", "$min", "$max", "$currentDate", "$setOnInsert", "$push", "$pull",
    "$pullAll", "$addToSet", "$pop", "$bit",
)  # fmt: skip
_QUERY_OPERATORS: Final = (
    "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$and", "$or", "$nor", "$not", "$exists", "$type",
    "$expr", "$jsonSchema", "$mod", "$regex", "$options", "$text", "$search", "$language", "$caseSensitive",
    "$diacriticSensitive", "$where", "$all", "$elemMatch", "$size", "$bitsAllClear", "$bitsAllSet", "$bitsAnyClear",
    "$bitsAnySet", "$geoIntersects", "$geoWithin", "$near", "$nearSphere", "$geometry", "$maxDistance", "$minDistance",
    "$center", "$centerSphere", "$box", "$polygon", "$comment", "$rand", "$sampleRate", "$alwaysTrue", "$alwaysFalse",
)  # fmt: skip
_STAGES: Final = (
    "$addFields", "$bucket", "$bucketAuto", "$changeStream", "$collStats", "$count", "$currentOp", "$densify",
    "$documents", "$facet", "$fill", "$geoNear", "$graphLookup", "$group", "$indexStats", "$limit", "$lookup", "$match",
    "$merge", "$out", "$planCacheStats", "$project", "$redact", "$replaceRoot", "$replaceWith", "$sample", "$search",
    "$searchMeta", "$set", "$setWindowFields", "$skip", "$sort", "$sortByCount", "$unionWith", "$unset", "$unwind",
    "$vectorSearch", "$listSessions", "$listLocalSessions", "$querySettings", "$queryStats", "$rankFusion",
    "$shardedDataDistribution", "$changeStreamSplitLargeEvent",
)  # fmt: skip
_ACCUMULATORS: Final = (
    "$sum", "$avg", "$min", "$max", "$first", "$last", "$push", "$addToSet", "$count", "$mergeObjects", "$stdDevPop",
    "$stdDevSamp", "$accumulator", "$top", "$topN", "$bottom", "$bottomN", "$firstN", "$lastN", "$minN", "$maxN",
    "$median", "$percentile", "$setUnion", "$concatArrays",
)  # fmt: skip
WRITING_STAGES: Final = frozenset({"$out", "$merge"})
# Below these, words with a $ are no operators of a filter.
_OWN_LANGUAGE: Final = frozenset({"$expr", "$jsonSchema", "$where"})


def any_value(value: Any, path: Path, scope: Scope) -> Node:
    """Whatever it is."""
    return read_expression(value, path, scope)


def a_document(value: Any, path: Path, scope: Scope) -> Node:
    """A document, or a value that may be one."""
    node = read_expression(value, path, scope)
    if node.type not in (None, "document"):
        raise Problem(path, f"takes a document, and this is {described(node)}", f"write {path[-1]}: {{field: value}}")
    return node


def a_filter(value: Any, path: Path, scope: Scope) -> Node:
    """Conditions, whose operators are the server's."""
    _check_operators(value, path)
    return a_document(value, path, scope)


def _check_operators(value: Any, path: Path) -> None:
    if isinstance(value, list):
        for number, item in enumerate(value):
            _check_operators(item, (*path, number))
    elif isinstance(value, dict) and next(iter(value), None) != "$value":
        for name, inner in value.items():
            if name.startswith("$"):
                _refuse_misspelt(name, (*path, name), _QUERY_OPERATORS, "operator of a filter")
            if name not in _OWN_LANGUAGE:
                _check_operators(inner, (*path, name))


def _refuse_misspelt(name: str, path: Path, known: tuple[str, ...], what: str) -> None:
    """A slip in what all servers have. What is like none of it may be of a newer server, which then says so itself."""
    if name in known or name in _EXTENDED_JSON:
        return
    # Of a short word with two letters exchanged little is alike.
    exchanged = (each for each in known if sorted(each) == sorted(name))
    near = near_name(name, known, likeness=0.8) or next(exchanged, None)
    if near is not None:
        raise Problem(path, f"{shown(name)} is no {what}", f'did you mean "{near}"')


_EXTENDED_JSON: Final = (
    "$date", "$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$binary", "$uuid",
    "$regularExpression", "$timestamp", "$code", "$minKey", "$maxKey", "$value", "$slice", "$meta", "$ref", "$id",
    "$db",
)  # fmt: skip


def a_pipeline(value: Any, path: Path, scope: Scope) -> Node:
    """Stages of an aggregation."""
    if isinstance(value, list):
        for number, stage in enumerate(value):
            at = (*path, number)
            if not isinstance(stage, dict) or len(stage) != 1 or not next(iter(stage)).startswith("$"):
                raise Problem(at, "is no stage", "a stage has one key such as {$match: {city: Beijing}}")
            _refuse_misspelt(next(iter(stage)), (*at, next(iter(stage))), _STAGES, "stage")
            if "$match" in stage:
                _check_operators(stage["$match"], (*at, "$match"))
            _check_accumulators(stage.get("$group"), (*at, "$group"))
    node = read_expression(value, path, scope)
    if node.type not in (None, "list"):
        raise Problem(path, f"takes a list of stages, and this is {described(node)}", "write [{$match: {…}}]")
    return node


def _check_accumulators(group: Any, path: Path) -> None:
    for name, value in group.items() if isinstance(group, dict) else ():
        if name != "_id" and isinstance(value, dict):
            for word in value:
                _refuse_misspelt(word, (*path, name, word), _ACCUMULATORS, "accumulator")


def a_list(value: Any, path: Path, scope: Scope) -> Node:
    """A list, or a value that may be one."""
    node = read_expression(value, path, scope)
    if node.type not in (None, "list"):
        raise Problem(path, f"takes a list, and this is {described(node)}", f"write {path[-1]}: [{{…}}]")
    return node


def an_update(value: Any, path: Path, scope: Scope) -> Node:
    """Operators such as `$set`, or a pipeline."""
    if isinstance(value, list):
        return a_pipeline(value, path, scope)
    if isinstance(value, dict):
        if not value:
            raise Problem(path, "changes nothing", "write {$set: {field: value}}")
        for name in value:
            if not name.startswith("$"):
                hint = "write {$set: {…}}; replace puts a whole document in place"
                raise Problem((*path, name), f"{shown(name)} is no operator", hint)
            if name != "$value":
                _refuse_misspelt(name, (*path, name), _UPDATE_OPERATORS, "operator of an update")
    node = read_expression(value, path, scope)
    if node.type not in (None, "document", "list"):
        raise Problem(path, f"takes operators, and this is {described(node)}", "write {$set: {field: value}}")
    return node


def a_replacement(value: Any, path: Path, scope: Scope) -> Node:
    """A whole document, which has no operators."""
    name = next(iter(value), "") if isinstance(value, dict) else ""
    if name.startswith("$") and name != "$value":
        hint = "write update for operators, or give the whole document"
        raise Problem((*path, name), f"{shown(name)} is an operator, and a replacement has none", hint)
    return a_document(value, path, scope)


def count_from(minimum: int) -> Read:
    """A whole number from `minimum` on, or a value that may be one."""

    def read(value: Any, path: Path, scope: Scope) -> Node:
        node = read_expression(value, path, scope)
        if node.type is not None and not node.is_number:
            raise Problem(path, f"takes a number, and this is {described(node)}", f"write {path[-1]}: 20")
        if node.is_constant:
            number = constant_value(node)
            if not isinstance(number, int) or not minimum <= number <= _INT32_MAX:
                raise Problem(path, f"must be a whole number from {minimum} on", f"write {path[-1]}: 20")
        return node

    return read


def a_flag(value: Any, path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """True or false."""
    return constant(flag(value, path))


def flag(value: Any, path: Path) -> bool:
    """True or false, known beforehand."""
    if not isinstance(value, bool):
        raise Problem(path, f"must be true or false, not {shown(value)}", f"write {path[-1]}: true")
    return value


def a_text(value: Any, path: Path, scope: Scope) -> Node:
    """Text, or a value that may be."""
    node = read_expression(value, path, scope)
    if node.type not in (None, "text"):
        raise Problem(path, f"takes text, and this is {described(node)}", f'write {path[-1]}: "…"')
    return node


def a_hint(value: Any, path: Path, scope: Scope) -> Node:
    """An index: its name, or its keys."""
    node = read_expression(value, path, scope)
    if node.type not in (None, "text", "document"):
        raise Problem(path, f"takes an index, and this is {described(node)}", "write hint: {city: 1} or its name")
    return node


def a_time_limit(value: Any, path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A duration, in whole milliseconds."""
    milliseconds = duration_ns(value, path) // units.NS_PER_MS
    if not 1 <= milliseconds <= _INT32_MAX:
        raise Problem(path, f"must be 1ms to 24d, but is {shown(value)}", "write max_time: 2s")
    return constant(milliseconds)


def duration_ns(value: Any, path: Path) -> int:
    """A duration such as "20ms", in nanoseconds."""
    if not isinstance(value, str):
        raise Problem(path, f"must be a duration, not {shown(value)}", f"write {path[-1]}: 20ms")
    try:
        return units.parse_duration(value)
    except ValueError as error:
        raise Problem(path, str(error).partition(";")[0], f"write {path[-1]}: 20ms") from None


def a_read_concern(value: Any, path: Path, scope: Scope) -> Node:
    """A level, or the server's own document."""
    return (
        document([("level", a_text(value, path, scope))]) if isinstance(value, str) else a_document(value, path, scope)
    )


def a_write_concern(value: Any, path: Path, scope: Scope) -> Node:
    """A number of members, "majority" or a tag, or the server's own document."""
    if isinstance(value, dict):
        return a_document(value, path, scope)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Problem(
            path, f"must say who acknowledges, not {shown(value)}", "write write_concern: majority, or {w: 1}"
        )
    return document([("w", read_expression(value, path, scope))])

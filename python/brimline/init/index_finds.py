"""Owns the find that an index is for: by equality, by words, or near a point; else why there is none.

Source: MongoDB's manual on text and 2dsphere indexes: fields before the text or the place need an equality each.
"""

from collections.abc import Mapping
from typing import Any

from brimline.init.live_collection import LiveCollection
from brimline.init.step_writer import StepWriter
from brimline.init.value_shape import ValueShape

_LIMIT = 20
_SEARCHED_LENGTH_MAX = 40
"""Of a longer text its beginning is searched for."""
_NOT_COMPARED = frozenset({"document", "null"})
_PLACES = frozenset({"point", "array", "geometry", "document"})


def find_by_index(live: LiveCollection, index: Mapping[str, Any], writer: StepWriter) -> dict[str, Any] | str:
    """The arguments of a find that the index serves, or why none is proposed."""
    keys = list(index["key"].items())
    plain = next((place for place, (_, kind) in enumerate(keys) if not _is_plain(kind)), len(keys))
    path, kind = keys[min(plain, len(keys) - 1)]
    if plain == len(keys):
        return _by_equality(live, keys, writer)
    if index.get("partialFilterExpression") or index.get("hidden"):
        return "it is partial or hidden"
    if kind not in ("text", "2dsphere"):
        return f"an index of the kind {kind} needs a query of its own"
    made: dict[str, Any] = {}
    for before, _ in keys[:plain]:
        if (value := _equal(live, before, writer)) is None:
            return f"nothing shows which values {before} has"
        made[before] = value
    if kind == "text":
        words = _words(live, index, writer)
        if words is None:
            return "no text was seen in its fields"
        made["$text"] = {"$search": words}
    else:
        point = _point(live, path, writer)
        if point is None:
            return f"no place was seen in {path}"
        made[path] = {"$near": {"$geometry": point}}
    return {"collection": live.name, "filter": made, "limit": _LIMIT}


def _is_plain(kind: Any) -> bool:
    return kind in (1, -1, "hashed")


def _by_equality(live: LiveCollection, keys: list[tuple[str, Any]], writer: StepWriter) -> dict[str, Any] | str:
    """By the first field, in the order of the one that follows."""
    path, kind = keys[0]
    if (value := _equal(live, path, writer)) is None:
        return f"nothing shows which values {path} has"
    made: dict[str, Any] = {"collection": live.name, "filter": {path: value}}
    if len(keys) > 1 and kind != "hashed" and keys[1][1] in (1, -1):
        made["sort"] = {keys[1][0]: int(keys[1][1])}
    return made | {"limit": _LIMIT}


def _equal(live: LiveCollection, path: str, writer: StepWriter) -> Any:
    shape = live.at(path)
    return None if shape is None or shape.main_type in _NOT_COMPARED else writer.existing(live.name, path)


def _words(live: LiveCollection, index: Mapping[str, Any], writer: StepWriter) -> Any:
    """The text of a document that exists, so that the search finds one."""
    named = [str(path) for path in index.get("weights", {})]
    paths = list(live.shape.fields) if "$**" in named else named
    for path in paths:
        shape = None if path == "_id" else live.at(path)
        while shape is not None and shape.main_type == "array":
            shape = shape.items
        if shape is None or shape.main_type != "text":
            continue
        value = writer.existing(live.name, path)
        is_one_word = live.name in writer.values.loaded  # a made-up text has no blanks
        if is_one_word or max(shape.sizes, default=0) <= _SEARCHED_LENGTH_MAX:
            return value
        return {"$value": {"substring": {"of": value, "start": 0, "length": _SEARCHED_LENGTH_MAX}}}
    return None


def _point(live: LiveCollection, path: str, writer: StepWriter) -> Any:
    shape: ValueShape | None = live.at(path)
    if shape is None or shape.main_type not in _PLACES or "timeseries" in live.stored.options:
        return None
    return writer.new_point(live.name, path)

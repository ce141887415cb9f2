"""Owns the stages of an aggregation with holes."""

from collections.abc import Mapping
from typing import Any

from brimline.init.conditions import read_filter
from brimline.init.expression_holes import read_expression
from brimline.init.holes import Holes, Kept, NotTranslated, kept

_STAGES_OF_NAMES = frozenset({"$unwind", "$count", "$sort", "$sample", "$unset", "$out", "$sortByCount"})
_OTHER_COLLECTIONS = frozenset({"$lookup", "$graphLookup", "$unionWith", "$merge"})
_REFUSED = frozenset(
    {"$search", "$searchMeta", "$vectorSearch", "$changeStream", "$collStats", "$indexStats", "$bucket", "$documents"}
)
"""Stages of other services, and those whose values have an order that nothing made up has."""


def read_pipeline(pipeline: Any, holes: Holes) -> list[Any]:
    """Stages with holes. Raises NotTranslated."""
    found = []
    for stage in pipeline:
        name, body = next(iter(stage.items()))
        if name == "$match":
            found.append({name: read_filter(body, holes)})
        elif name == "$facet" and isinstance(body, Mapping):
            found.append({name: {each: read_pipeline(inner, holes) for each, inner in body.items()}})
        elif name in ("$limit", "$skip"):
            found.append({name: holes.make("number", int(body), name.removeprefix("$"))})
        elif name in _STAGES_OF_NAMES:
            found.append({name: kept(body)})
        elif name == "$geoNear" and isinstance(body, Mapping):
            found.append({name: _geo_near(body, holes)})
        elif name in _REFUSED:
            raise NotTranslated(f"aggregate with {name}")
        elif name in _OTHER_COLLECTIONS:
            found.append({name: _joined(body, holes) if isinstance(body, Mapping) else kept(body)})
        else:
            found.append({name: read_expression(body, holes)})
    return found


def _geo_near(body: Mapping[str, Any], holes: Holes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in body.items():
        if name == "near":
            found[name] = holes.make("point", value, "", "" if isinstance(value, Mapping) else "pair")
        elif name in ("maxDistance", "minDistance"):
            found[name] = holes.make("size", value)
        elif name == "query":
            found[name] = read_filter(value, holes)
        else:
            found[name] = kept(value)
    return found


def _joined(body: Mapping[str, Any], holes: Holes) -> dict[str, Any]:
    """A stage that brings in another collection, whose own pipeline has holes too."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        if name in ("pipeline", "whenMatched") and isinstance(value, list):
            found[name] = read_pipeline(value, holes)
        elif name == "restrictSearchWithMatch":
            found[name] = read_filter(value, holes)
        elif isinstance(value, str):
            found[name] = Kept(value)
        else:
            found[name] = read_expression(value, holes)
    return found

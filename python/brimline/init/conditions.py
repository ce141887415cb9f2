"""Owns filters with holes: which of their words are shape, and what the values in them are for."""

from collections.abc import Mapping
from typing import Any

from brimline.init.expression_holes import read_expression
from brimline.init.holes import Holes, NotTranslated
from brimline.init.value_shape import type_name


def read_filter(conditions: Any, holes: Holes, prefix: str = "") -> Any:
    """A filter with holes. Raises NotTranslated."""
    if not isinstance(conditions, Mapping):
        raise NotTranslated("a filter of an unknown form")
    found: dict[str, Any] = {}
    for name, value in conditions.items():
        if name in ("$and", "$or", "$nor") and isinstance(value, list):
            found[name] = [read_filter(each, holes, prefix) for each in value]
        elif name == "$expr":
            found[name] = read_expression(value, holes)
        elif name == "$text" and isinstance(value, Mapping):
            found[name] = {"$search": holes.make("search", value.get("$search", ""))}
        elif name == "$comment":
            continue
        elif name.startswith("$") or not name:
            raise NotTranslated(f"filter with {name or 'a field without a name'}")
        else:
            found[name] = condition(value, holes, f"{prefix}.{name}" if prefix else name)
    return found


def condition(value: Any, holes: Holes, path: str) -> Any:
    """What a field is to meet: equality, or operators. Raises NotTranslated."""
    if type_name(value) == "regex":
        return _pattern(value.pattern, "i" if value.flags & 2 else "", holes, path)
    if isinstance(value, Mapping) and next(iter(value), "").startswith("$"):
        return _operators(value, holes, path)
    return holes.make("equal", value, path)


def _operators(value: Mapping[str, Any], holes: Holes, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, operand in value.items():
        match name:
            case "$eq" | "$ne":
                found[name] = holes.make("equal", operand, path)
            case "$gt" | "$gte" | "$lt" | "$lte":
                found[name] = holes.make("bound", operand, path, name)
            case "$in" | "$nin" | "$all" if isinstance(operand, list):
                found[name] = holes.make("list", operand, path)
            case "$exists" | "$type" | "$size":
                found[name] = operand
            case "$not":
                found[name] = condition(operand, holes, path)
            case "$elemMatch" if isinstance(operand, Mapping):
                is_plain = next(iter(operand), "").startswith("$") and next(iter(operand)) not in (
                    "$and",
                    "$or",
                    "$nor",
                )
                inner = _operators if is_plain else read_filter
                found[name] = inner(operand, holes, path)
            case "$regex":
                pattern = operand if isinstance(operand, str) else getattr(operand, "pattern", "")
                found |= _pattern(pattern, str(value.get("$options", "")), holes, path)
            case "$options":
                continue
            case "$near" | "$nearSphere" | "$geoIntersects" | "$geoWithin":
                found[name] = _geo(operand, holes, path)
            case "$maxDistance" | "$minDistance":
                found[name] = holes.make("size", operand, path)
            case "$mod" if isinstance(operand, list):
                found[name] = [int(each) for each in operand]
            case _:
                raise NotTranslated(f"filter with {name}")
    return found


def _pattern(pattern: str, options: str, holes: Holes, path: str) -> dict[str, Any]:
    """A search by regular expression: of a beginning where it has one, else of some part."""
    if not pattern:
        raise NotTranslated("a regular expression of an unknown form")
    found: dict[str, Any] = {"$regex": holes.make("prefix", pattern, path, "^" if pattern.startswith("^") else "")}
    return found | ({"$options": "i"} if "i" in options else {})


def _geo(operand: Any, holes: Holes, path: str) -> Any:
    if not isinstance(operand, Mapping):
        return holes.make("point", operand, path)
    found: dict[str, Any] = {}
    for name, value in operand.items():
        if name == "$geometry" and type_name(value) == "point":
            found[name] = holes.make("point", value, path)
        elif name in ("$maxDistance", "$minDistance"):
            found[name] = holes.make("size", value, path)
        elif name == "$centerSphere" and isinstance(value, list) and len(value) == 2:
            found[name] = [holes.make("point", value[0], path, "pair"), holes.make("size", value[1], path)]
        else:
            raise NotTranslated(f"a search of places with {name}")
    return found

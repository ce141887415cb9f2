"""Owns updates with holes: operators, pipelines and whole documents."""

from collections.abc import Mapping
from typing import Any

from brimline.init.conditions import condition, read_filter
from brimline.init.holes import Hole, Holes, NotTranslated
from brimline.init.pipelines import read_pipeline


def read_change(change: Any, arguments: dict[str, Any], holes: Holes, *, replacement: str = "replacement") -> str:
    """Puts an update, or a whole document, into `arguments`; the kind of step that it is. Raises NotTranslated."""
    if isinstance(change, list):
        arguments["update"] = read_pipeline(change, holes)
        return "update"
    if not isinstance(change, Mapping):
        raise NotTranslated("an update of an unknown form")
    if not change or not next(iter(change)).startswith("$"):
        arguments[replacement] = Hole(-1, "document")
        return "replace"
    arguments["update"] = {name: _change(name, value, holes) for name, value in change.items()}
    return "update"


def _change(operator: str, fields: Any, holes: Holes) -> Any:
    if not isinstance(fields, Mapping):
        raise NotTranslated(f"update with {operator} of an unknown form")
    match operator:
        case "$set" | "$setOnInsert" | "$min" | "$max":
            return {name: holes.make("new", value, name) for name, value in fields.items()}
        case "$inc" | "$mul":
            return {name: _amount(value, holes, name) for name, value in fields.items()}
        case "$unset" | "$currentDate" | "$rename" | "$pop":
            return {name: value if operator != "$unset" else True for name, value in fields.items()}
        case "$push" | "$addToSet":
            return {name: _pushed(value, holes, name) for name, value in fields.items()}
        case "$pull":
            return {name: _pulled(value, holes, name) for name, value in fields.items()}
        case "$pullAll":
            return {name: holes.make("list", value, name) for name, value in fields.items()}
        case _:
            raise NotTranslated(f"update with {operator}")


def _amount(value: Any, holes: Holes, name: str) -> Any:
    return int(value) if value in (1, -1, 0) else holes.make("amount", value, name)


def _pushed(value: Any, holes: Holes, name: str) -> Any:
    if not isinstance(value, Mapping) or "$each" not in value:
        return holes.make("new", value, name, "item")
    found: dict[str, Any] = {"$each": holes.make("items", list(value["$each"]), name)}
    for word in ("$slice", "$position", "$sort"):
        if word in value:
            found[word] = value[word]
    return found


def _pulled(value: Any, holes: Holes, name: str) -> Any:
    if isinstance(value, Mapping) and not next(iter(value), "").startswith("$"):
        return read_filter(value, holes, name)
    return condition(value, holes, name)

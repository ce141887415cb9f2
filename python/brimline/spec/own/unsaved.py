"""Owns the look at what steps save of documents: a field that no document can have is found before anything is sent.

It is said only where it is sure: the collection is loaded by its shape, and nothing in the workload names such a field.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.readers import shown

_KINDS: Final = ("find", "find_and_modify")
_ROWS: Final = frozenset({"csv", "jsonl", "sample"})
"""Their rows have names that stand nowhere in the workload."""


def check_saves(
    definitions: Mapping[str, tuple[dict[str, Any], Path]], shapes: Mapping[str, DataSpec], values: Mapping[str, Any]
) -> None:
    """Raises Problem for a path of a document that has no such field and gets none."""
    named = {word for part in (*(each for each, _ in definitions.values()), values) for word in _words(part)}
    if named & _ROWS:
        return
    for definition, path in definitions.values():
        for step, at in _steps(definition, path):
            _check(step, at, shapes, named)


def _check(step: dict[str, Any], path: Path, shapes: Mapping[str, DataSpec], named: set[str]) -> None:
    collection = next((step[kind].get("collection") for kind in _KINDS if isinstance(step.get(kind), dict)), None)
    shape = shapes.get(str(collection))
    if shape is None or not isinstance(step.get("save"), dict):
        return
    known = {"_id", *(shape.template or shape.field_names)}
    for name, given in step["save"].items():
        if isinstance(given, dict) and ("default" in given or given.get("from") == "reply"):
            continue
        text = str(given["path"] if isinstance(given, dict) else given)
        field = text.partition(".")[0]
        if field not in known and field not in named:
            raise Problem(
                (*path, "save", name),
                f"{shown(text)} is nowhere in the documents of {collection}, and no step writes it",
                nearest(field, known),
            )


def _steps(definition: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    if "steps" not in definition:
        yield definition, path
        return
    for number, step in enumerate(definition["steps"]):
        at = (*path, "steps", number)
        yield step, at
        inner = step.get("transaction")
        listed = inner.get("steps", ()) if isinstance(inner, dict) else inner or ()
        place = (*at, "transaction", "steps") if isinstance(inner, dict) else (*at, "transaction")
        for place_in, each in enumerate(listed):
            yield each, (*place, place_in)


def _words(part: Any) -> Iterator[str]:
    """Every name in it, but for what is saved."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from re.findall(r"\w+", str(key))
            if key != "save":
                yield from _words(value)
    elif isinstance(part, list):
        for each in part:
            yield from _words(each)
    elif isinstance(part, str):
        yield from re.findall(r"\w+", part)

"""Owns the look at what steps save of documents: a field that no document can have is found before anything is sent.

It is said only where it is sure: the collection is loaded by its shape, and nothing in the workload names such a field.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.readers import shown

_KINDS: Final = ("find", "find_and_modify")
_NAMELESS: Final = frozenset(
    {"csv", "jsonl", "sample", "$merge", "$out", "$replaceRoot", "$replaceWith", "$arrayToObject"}
)
"""What brings fields whose names stand nowhere in the workload, or not as such: rows of files, and what is computed."""


def check_saves(
    definitions: Mapping[str, tuple[dict[str, Any], Path]], shapes: Mapping[str, DataSpec], values: Mapping[str, Any]
) -> None:
    """Raises Problem for a path of a document that has no such field and gets none."""
    named = {word for part in (*(each for each, _ in definitions.values()), values) for word in _words(part)}
    if named & _NAMELESS:
        return
    named.update(field for shape in shapes.values() for field in _fields(shape))  # their records go anywhere
    for definition, path in definitions.values():
        for step, at in _steps(definition, path):
            _check(step, at, shapes, named)


def _check(step: dict[str, Any], path: Path, shapes: Mapping[str, DataSpec], named: set[str]) -> None:
    collection = next((step[kind].get("collection") for kind in _KINDS if isinstance(step.get(kind), dict)), None)
    shape = shapes.get(str(collection))
    if shape is None or not isinstance(step.get("save"), dict):
        return
    known = {"_id", *_fields(shape)}
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


def _fields(shape: DataSpec) -> Collection[str]:
    return shape.template or shape.field_names


def _words(part: Any) -> Iterator[str]:
    """Every name in it, but for what is saved."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _names(str(key))
            if key != "save":
                yield from _words(value)
    elif isinstance(part, list):
        for each in part:
            yield from _words(each)
    elif isinstance(part, str):
        yield from _names(part)


def _names(text: str) -> Iterator[str]:
    """What a text may name: itself, the parts of a path, which needn't be words, and the words of anything else."""
    yield text
    yield from text.lstrip("$").split(".")
    yield from re.findall(r"\w+", text)

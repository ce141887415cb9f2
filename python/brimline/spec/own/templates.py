"""Owns texts with values in them, such as a path or a body: the pieces that a request is put together of.

`$name` and `${name}` stand for a value wherever they are, `$$` for a dollar.
"""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import quote, quote_plus

from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope, read_expression, reference
from brimline.spec.own.nodes import Node, constant_value
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown

Rendering = Literal["text", "url", "json", "form", "cookie"]
_PLACE: Final = re.compile(r"\$(?:\$|\{(?P<braced>[^{}]*)\}|(?P<name>[^\W\d]\w*(?:\.\w+)*))?")
_PLAIN: Final = (type(None), bool, int, float, str)


@dataclass
class Slots:
    """The values of one request, in the order in which they are drawn; each place has its own."""

    plans: list[dict[str, Any]] = field(default_factory=list)

    def add(self, node: Node) -> int:
        """The place of a value."""
        self.plans.append(node.plan)
        return len(self.plans) - 1


@dataclass
class Pieces:
    """Text and values in a row. Texts that follow each other are one."""

    slots: Slots
    made: list[dict[str, Any]] = field(default_factory=list)

    def text(self, text: str) -> None:
        """Adds text as it is sent."""
        if not text:
            return
        if self.made and "text" in self.made[-1]:
            self.made[-1] = {"text": self.made[-1]["text"] + text}
        else:
            self.made.append({"text": text})

    def value(self, node: Node, rendering: Rendering) -> None:
        """Adds a value, written so."""
        self.made.append({"slot": self.slots.add(node), "as": rendering})

    @property
    def is_constant(self) -> bool:
        """Whether it is the same in every request."""
        return all("text" in each for each in self.made)

    @property
    def constant(self) -> str:
        """The text that is the same in every request, without the values."""
        return "".join(each.get("text", "") for each in self.made)


@dataclass(frozen=True, slots=True)
class Plain:
    """A part of a template that is text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A part of a template that is a value: `$name`, with fields behind dots."""

    text: str


def parse(template: str, path: Path) -> list[Plain | Reference]:
    """The parts of a text: what stands for itself, and the names of values. Raises Problem."""
    parts: list[Plain | Reference] = []
    at = 0
    for match in _PLACE.finditer(template):
        parts.append(Plain(template[at : match.start()]))
        at = match.end()
        if match.group() == "$$":
            parts.append(Plain("$"))
        elif name := match["braced"] or match["name"]:
            parts.append(Reference(f"${name}"))
        else:
            said = match.group() if match["braced"] is not None else "$"
            raise Problem(path, f"{shown(template)} has a {said} that names no value", "write $$ for a dollar")
    parts.append(Plain(template[at:]))
    return [part for part in parts if part.text]


def add_template(pieces: Pieces, template: Any, path: Path, scope: Scope, rendering: Rendering) -> None:
    """Adds a text with values. Text stands as it must where it is written so; numbers, true and false are text."""
    for part in parse(plain_text(template, path), path):
        if isinstance(part, Plain):
            pieces.text(encoded(part.text, rendering))
        else:
            pieces.value(referred(part.text, template, path, scope), rendering)


def plain_text(value: Any, path: Path) -> str:
    """Text, or the text of a number, true or false."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise Problem(path, f"must be text, not {shown(value)}", f'write {path[-1]}: "…"')
    return value


def referred(name: str, template: Any, path: Path, scope: Scope) -> Node:
    """The value that a text names. What follows a value without fields belongs to the text."""
    try:
        return reference(name, path, scope)
    except Problem as problem:
        first, dot, rest = name.partition(".")
        if dot and "no fields" in problem.message:
            whole = f"{first}.{rest}"
            hint = f"write ${{{first[1:]}}}.{rest} where .{rest} is text"
            raise Problem(path, f"{shown(template)}: {whole}: {problem.message}", hint) from None
        raise


def encoded(text: str, rendering: Rendering) -> str:
    """Text as it is written where a value is written so."""
    if rendering == "url":
        return quote(text, safe="")
    if rendering == "form":
        return quote_plus(text)
    if rendering == "json":
        return json.dumps(text, ensure_ascii=False)
    return text


def add_json(pieces: Pieces, value: Any, path: Path, scope: Scope) -> None:
    """Adds what YAML gave as JSON: `$name` is a value where it is a whole text, as in a document of MongoDB's."""
    _check_texts(value, path, scope)
    _add_node(pieces, read_expression(value, path, scope))


def _add_node(pieces: Pieces, node: Node) -> None:
    match node.plan["kind"]:
        case "document":
            _add_members(pieces, [(json.dumps(each["name"], ensure_ascii=False) + ":", each["value"])
                                  for each in node.plan["fields"]], "{}")  # fmt: skip
        case "list":
            _add_members(pieces, [("", each) for each in node.plan["items"]], "[]")
        case "bson" if _is_plain(given := constant_value(node)):
            pieces.text(json.dumps(given, ensure_ascii=False, separators=(",", ":")))
        case _:
            # Also a date or an ObjectId, whose text is the engine's alone to say.
            pieces.value(node, "json")


def _add_members(pieces: Pieces, members: list[tuple[str, dict[str, Any]]], brackets: str) -> None:
    pieces.text(brackets[0])
    for number, (name, plan) in enumerate(members):
        pieces.text(f"{',' if number else ''}{name}")
        _add_node(pieces, Node(plan))
    pieces.text(brackets[1])


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN) and (not isinstance(value, float) or math.isfinite(value))


def _check_texts(value: Any, path: Path, scope: Scope) -> None:
    """Refuses a known value in the middle of a text, where it would be sent as its name."""
    if isinstance(value, dict) and next(iter(value), None) != "$value":
        for name, inner in value.items():
            _check_texts(inner, (*path, name), scope)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_texts(inner, (*path, number), scope)
    elif isinstance(value, str) and not value.startswith("$"):
        for match in re.finditer(r"(?<!\$)\$\{?([^\W\d]\w*)", value):
            if scope.knows(match[1]):
                hint = f"write {{$value: {{concat: [{shown(value[: match.start()])}, ${match[1]}]}}}}"
                raise Problem(path, f"{shown(value)} would be sent with ${match[1]} as text", hint)

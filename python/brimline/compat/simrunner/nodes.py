"""Owns what an expression of SimRunner becomes, and the three ways in which it can stand in a workload.

In a step values stand as `$name` or `{$value: …}`, among `values` and inside other values as a form, and in a
collection's `fields` only generators can stand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from brimline.init.constants import literal, step_document
from brimline.init.rounding import date_text


@dataclass(frozen=True, slots=True)
class Constant:
    """The same for all."""

    value: Any


@dataclass(frozen=True, slots=True)
class Reference:
    """`$name` or `$name.field`; `instead` stands in `fields`, where nothing can be named."""

    text: str
    instead: "Node | None" = None


@dataclass(frozen=True, slots=True)
class Form:
    """A value's form, such as `{kind: int, max: 5}` or `{concat: […]}`; `instead` stands in `fields`."""

    form: Mapping[str, Any]
    instead: "Node | None" = None

    @property
    def is_generator(self) -> bool:
        """Whether it can stand in `fields`."""
        return "kind" in self.form


@dataclass(frozen=True, slots=True)
class Fields:
    """A document of expressions."""

    fields: Mapping[str, "Node"]


@dataclass(frozen=True, slots=True)
class Items:
    """A list of expressions."""

    items: Sequence["Node"]


Node = Constant | Reference | Form | Fields | Items


def in_step(node: Node) -> Any:
    """The node as it stands in a step."""
    match node:
        case Constant():
            return literal(node.value, dollars=True)
        case Reference():
            return node.text
        case Form():
            return {"$value": dict(node.form)}
        case Fields():
            return step_document({name: in_step(each) for name, each in node.fields.items()})
        case Items():
            return [in_step(each) for each in node.items]


def as_form(node: Node) -> Any:
    """The node as it stands among `values`, or as an operand."""
    match node:
        case Constant():
            return literal(node.value, dollars=True)
        case Reference():
            return node.text
        case Form():
            return dict(node.form)
        case Fields():
            return {"document": {name: in_step(each) for name, each in node.fields.items()}}
        case Items():
            return {"list": [in_step(each) for each in node.items]}


def is_generated(node: Node) -> bool:
    """Whether its generator makes the same as it does itself, and not something in its place."""
    match node:
        case Constant():
            return True
        case Fields():
            return all(map(is_generated, node.fields.values()))
        case Items():
            return False
        case Form():
            return node.is_generator and not _names_values(node.form)
        case _:
            return False


def as_generator(node: Node) -> Any:
    """The generator for `fields`; None where there is none."""
    match node:
        case Constant(value=datetime()):
            moment = date_text(node.value)
            return {"kind": "date", "from": moment, "to": moment}
        case Constant(value=None | bool() | int() | float() | str()):
            return {"kind": "constant", "value": node.value}
        case Constant(value=Mapping()):
            return as_generator(Fields({name: Constant(each) for name, each in node.value.items()}))
        case Constant(value=list()):
            return as_generator(Items([Constant(each) for each in node.value]))
        case Reference():
            return None if node.instead is None else as_generator(node.instead)
        case Form():
            return _generator_of(node)
        case Fields():
            return _document(node)
        case Items():
            return _array(node)
        case _:
            return None


def _generator_of(node: Form) -> Any:
    if node.is_generator and not _names_values(node.form):
        return dict(node.form)
    return None if node.instead is None else as_generator(node.instead)


def _names_values(form: Any) -> bool:
    """Whether there is a `$name` anywhere in it."""
    if isinstance(form, Mapping):
        return any(_names_values(each) for each in form.values())
    if isinstance(form, list):
        return any(_names_values(each) for each in form)
    return isinstance(form, str) and form.startswith("$") and not form.startswith("$$")


def _document(node: Fields) -> Any:
    made = {name: as_generator(each) for name, each in node.fields.items()}
    kept = {name: each for name, each in made.items() if each is not None}
    return {"kind": "document", "fields": kept} if kept else None


def _array(node: Items) -> Any:
    """An array has one generator: of equal items theirs, of plain ones a choice among them."""
    if not node.items:
        return {"kind": "array", "length": 0, "of": {"kind": "constant", "value": None}}
    if all(isinstance(each, Constant) and isinstance(each.value, str | int | float) for each in node.items):
        choice = {"kind": "choice", "of": [each.value for each in node.items if isinstance(each, Constant)]}
        return {"kind": "array", "length": len(node.items), "of": choice}
    made = [as_generator(each) for each in node.items]
    last = next((each for each in reversed(made) if each is not None), None)
    return None if last is None else {"kind": "array", "length": len(node.items), "of": last}

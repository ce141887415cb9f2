"""Owns how a value in a step is read: `$name`, `$$literal`, `{$value: …}`, Extended JSON, and what is plain."""

import itertools
import json
import math
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import DecimalException
from typing import Any, Final

import bson
from bson import json_util
from bson.binary import UuidRepresentation
from bson.codec_options import DatetimeConversion
from bson.datetime_ms import DatetimeMS
from bson.int64 import Int64

from brimline.spec.document import Path
from brimline.spec.own.nodes import Node, array, constant, document
from brimline.spec.own.problems import Problem, near_name, nearest
from brimline.spec.readers import shown
from brimline.spec.scalars import check_date, read_date

BUILT_IN: Final = {
    "now": ({"kind": "now"}, "date"),
    "run": ({"kind": "run"}, "text"),
    "worker": ({"kind": "worker"}, "int"),
    "index": ({"kind": "number"}, "long"),
    "new_id": ({"kind": "object_id"}, "object_id"),
}
"""Values that need no definition, with the expression and the type of each."""

# What Extended JSON writes a constant with. `$regex` with `$options` is an operator of a filter and stays one.
_EXTENDED: Final = {
    "$date": {"$date"},
    "$oid": {"$oid"},
    "$numberInt": {"$numberInt"},
    "$numberLong": {"$numberLong"},
    "$numberDouble": {"$numberDouble"},
    "$numberDecimal": {"$numberDecimal"},
    "$binary": {"$binary", "$type"},
    "$uuid": {"$uuid"},
    "$regularExpression": {"$regularExpression"},
    "$timestamp": {"$timestamp"},
    "$code": {"$code"},
    "$minKey": {"$minKey"},
    "$maxKey": {"$maxKey"},
}
_JSON_OPTIONS: Final = json_util.JSONOptions(
    uuid_representation=UuidRepresentation.STANDARD, datetime_conversion=DatetimeConversion.DATETIME_MS
)
_AGGREGATION_VARIABLES: Final = frozenset(
    {"ROOT", "CURRENT", "NOW", "REMOVE", "DESCEND", "PRUNE", "KEEP", "CLUSTER_TIME", "SEARCH_META", "USER_ROLES"}
)
_DOCUMENT_DEPTH_MAX: Final = 100


@dataclass
class Scope:
    """What `$name` may mean in one place.

    `value_of` reads a named value: its place and what it is, None where there is none. `saved` are the names of steps
    before; `saved_by` names for what the workload saves the operations that do so.
    """

    names: tuple[str, ...]
    value_of: Callable[[str, Path], tuple[int, Node] | None]
    read_form: Callable[[Any, Path, "Scope"], Node]
    saved: dict[str, int] = field(default_factory=dict)
    saved_by: dict[str, list[str]] = field(default_factory=dict)
    saved_later: frozenset[str] = frozenset()
    is_named_value: bool = False
    looks_like_form: Callable[[dict[Any, Any]], bool] = lambda _: False
    places: Iterator[int] = field(default_factory=itertools.count)
    elements: tuple[str, ...] = ()
    """What the elements of the maps around are called, the innermost one last."""

    def next_place(self) -> int:
        """A place for an ObjectId, which no other of the workload has."""
        return next(self.places)

    def knows(self, name: str) -> bool:
        """Whether `$name` is a value here."""
        return (
            name in self.elements
            or name in self.names
            or name in self.saved
            or name in self.saved_later
            or name in BUILT_IN
        )


def read_expression(value: Any, path: Path, scope: Scope) -> Node:
    """The expression for what YAML gave. Raises Problem."""
    if len(path) > _DOCUMENT_DEPTH_MAX:
        raise Problem(path, "nested too deeply", f"MongoDB's documents are at most {_DOCUMENT_DEPTH_MAX} deep")
    if isinstance(value, str):
        return _text(value, path, scope)
    if isinstance(value, dict):
        return _mapping(value, path, scope)
    if isinstance(value, list):
        return array([read_expression(item, (*path, number), scope) for number, item in enumerate(value)])
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        raise Problem(path, f"{shown(value)} is no 64-bit integer", "write it as {$numberDecimal: …} or as text")
    return constant(value)


def _text(value: str, path: Path, scope: Scope) -> Node:
    if "\0" in value and value.startswith("$"):
        raise Problem(path, "holds a NUL", "write a name without it")
    if value.startswith("$$"):
        literal = value[1:]
        if (variable := literal[1:].partition(".")[0]) in _AGGREGATION_VARIABLES and not literal.startswith("$$"):
            raise Problem(
                path,
                f'"{value}" would be sent as "{literal}", a field called {variable}, as one $ is dropped',
                f'write "${value}" for the variable $${variable}',
            )
        return _plain_text(literal, path)
    return reference(value, path, scope) if value.startswith("$") else _plain_text(value, path)


def _plain_text(value: str, path: Path) -> Node:
    try:
        return constant(value)
    except (UnicodeEncodeError, bson.errors.BSONError):
        raise Problem(path, "holds a character that can't be stored", "write text without lone surrogates") from None


def reference(text: str, path: Path, scope: Scope) -> Node:
    """The value that `$name` stands for, or with `.` behind it a field of it. Raises Problem."""
    name, *rest = text[1:].split(".")
    if name in BUILT_IN:
        plan, kind = BUILT_IN[name]
        if rest:
            raise Problem(path, f"${name} has no fields", f"write ${name}")
        return Node({**plan, "place": scope.next_place()} if name == "new_id" else dict(plan), kind)
    if name in scope.elements:
        return Node({"kind": "item", "level": scope.elements[::-1].index(name), "path": rest})
    found = scope.value_of(name, path)
    if found is not None:
        return _part(found, rest, text, path)
    if name in scope.saved:
        return Node({"kind": "saved", "slot": scope.saved[name], "path": rest})
    if name in scope.saved_later:
        raise Problem(path, f"${name} is used before it is saved", "move the step that saves it before this one")
    if name in scope.saved_by and scope.is_named_value:
        hint = f"write it where it is used: {{$value: {{…: ${name}}}}}"
        raise Problem(path, f"${name} is saved by a step, and a named value is drawn before", hint)
    if name in scope.saved_by:
        others = ", ".join(scope.saved_by[name])
        raise Problem(
            path, f"${name} is saved by {others}, not by this operation", f"save {name} in an earlier step of this one"
        )
    raise Problem(path, f"{shown(text)} is no value", _unknown_hint(name, text, scope))


def _unknown_hint(name: str, text: str, scope: Scope) -> str:
    known = [*scope.elements, *scope.names, *scope.saved, *BUILT_IN]
    literal = f'a field path or literal text is written "${text}"'
    if not name:
        return literal
    near = near_name(name, known)
    return literal if near is None else f'did you mean "${near}"; {literal}'


def _part(found: tuple[int, Node], rest: list[str], text: str, path: Path) -> Node:
    index, node = found
    if not rest:
        return Node({"kind": "value", "index": index, "path": []}, node.type, node.columns)
    if node.type not in (None, "document", "list"):
        name = text[1:].partition(".")[0]
        raise Problem(path, f"${name} is {_a(node.type)}, which has no fields", f"write ${name}")
    if node.columns is not None:
        # A column's name may have dots of its own.
        length = next((n for n in range(len(rest), 0, -1) if ".".join(rest[:n]) in node.columns), 0)
        if not length:
            raise Problem(path, f"{shown(text)}: the rows have no field {rest[0]}", nearest(rest[0], node.columns))
        rest = [".".join(rest[:length]), *rest[length:]]
    return Node({"kind": "value", "index": index, "path": rest})


def _a(kind: str | None) -> str:
    if kind in (None, "text", "null", "binary"):
        return kind or "text"
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def described(node: Node) -> str:
    """What a node makes, in words: "text", "a date"."""
    return _a(node.type)


def _mapping(value: dict[Any, Any], path: Path, scope: Scope) -> Node:
    first = next(iter(value), "")
    if first == "$value":
        if len(value) > 1:
            raise Problem(path, "has keys beside $value", "write {$value: {kind: …}} alone")
        return scope.read_form(value["$value"], (*path, "$value"), scope)
    if first in _EXTENDED and set(value) <= _EXTENDED[first]:
        return _extended(value, first, (*path, first))
    if scope.looks_like_form(value):
        hint = f"write {{$value: {{{first}: {shown(value[first])}, …}}}}; a document begins with another field"
        raise Problem(path, "would be sent as a document, and looks like a value", hint)
    fields = []
    for name, item in value.items():
        if "\0" in name:
            raise Problem((*path, name), "a name holds a NUL", "write a name without it")
        fields.append((name, read_expression(item, (*path, name), scope)))
    return document(fields)


def _extended(value: dict[str, Any], kind: str, path: Path) -> Node:
    """The constant that Extended JSON writes. Raises Problem."""
    given = value[kind]
    if isinstance(given, str) and given.startswith("$") and given[1:2].isalpha():
        raise Problem(path, f"{kind} makes a constant and takes no value", f"write {given} without {kind}")
    try:
        # That it can be encoded belongs to what is tried: an Int64 takes any whole number.
        return constant(_extended_value(value, kind))
    except (TypeError, ValueError, ArithmeticError, AttributeError, KeyError, bson.errors.BSONError) as error:
        reason = str(error).partition(";")[0]
        if isinstance(error, DecimalException):
            reason = "is no decimal of up to 34 digits"
        raise Problem(path, f"is no Extended JSON: {reason}", _EXAMPLES.get(kind, f"write {{{kind}: …}}")) from None


def _extended_value(value: dict[str, Any], kind: str) -> Any:
    given = value[kind]
    if kind == "$date" and isinstance(given, str):
        return DatetimeMS(read_date(given))
    if kind == "$date" and isinstance(given, int) and not isinstance(given, bool):
        return DatetimeMS(check_date(given))
    if kind == "$uuid":
        return bson.Binary.from_uuid(uuid.UUID(given), UuidRepresentation.STANDARD)
    if kind == "$numberLong":
        if isinstance(given, bool | float):
            raise TypeError("is no whole number")
        return Int64(int(given))
    if kind == "$numberDouble" and isinstance(given, str) and math.isfinite(float(given)):
        return float(given)
    read = json_util.loads(json.dumps(value), json_options=_JSON_OPTIONS)
    if kind == "$date":
        check_date(int(read))
    return read


_EXAMPLES: Final = {
    "$date": 'write {$date: "2024-01-31T12:00:00Z"}',
    "$oid": 'write {$oid: "65a1b2c3d4e5f6a7b8c9d0e1"}',
    "$numberInt": 'write {$numberInt: "5"}',
    "$numberLong": "write {$numberLong: 5}",
    "$numberDouble": 'write {$numberDouble: "0.5"}',
    "$numberDecimal": 'write {$numberDecimal: "9.99"}',
    "$uuid": 'write {$uuid: "123e4567-e89b-12d3-a456-426614174000"}',
    "$binary": 'write {$binary: {base64: "AAEC", subType: "00"}}',
    "$regularExpression": 'write {$regularExpression: {pattern: "^a", options: i}}',
    "$timestamp": "write {$timestamp: {t: 0, i: 0}}",
    "$minKey": "write {$minKey: 1}",
    "$maxKey": "write {$maxKey: 1}",
}

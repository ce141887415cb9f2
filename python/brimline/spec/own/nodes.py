"""Owns expressions while a spec is read: the plan's form as plain values, and the type of what they make."""

from dataclasses import dataclass
from typing import Any

import bson
from bson.int64 import Int64

NUMBER_TYPES = frozenset({"int", "long", "double", "decimal"})

_TYPE_NAMES = {
    0x01: "double",
    0x02: "text",
    0x03: "document",
    0x04: "list",
    0x05: "binary",
    0x07: "object_id",
    0x08: "boolean",
    0x09: "date",
    0x0A: "null",
    0x0B: "regular expression",
    0x10: "int",
    0x11: "timestamp",
    0x12: "long",
    0x13: "decimal",
}


@dataclass(frozen=True, slots=True)
class Node:
    """An expression: `plan` as plain values of the plan's form, `type` of what it makes, None where that is open.

    Of a generator `plan["spec"]` is the spec's own object, which the plan puts into the engine's words. Of a row
    `columns` are its fields.
    """

    plan: dict[str, Any]
    type: str | None = None
    columns: tuple[str, ...] | None = None

    @property
    def is_constant(self) -> bool:
        """Whether it is the same for every operation."""
        return bool(self.plan["kind"] == "bson")

    @property
    def is_number(self) -> bool:
        """Whether it surely makes a number."""
        return self.type in NUMBER_TYPES


def element_hex(value: Any) -> str:
    """Type byte and value of `value` as a BSON element, in hex. Raises what `bson` raises."""
    # Four bytes of length, the type, an empty name, the value, and the end of the document.
    encoded = bson.encode({"": value})
    return (encoded[4:5] + encoded[6:-1]).hex()


def constant(value: Any) -> Node:
    """What `bson` encodes; whole numbers are 32-bit where they fit."""
    return Node({"kind": "bson", "hex": element_hex(value)}, _type_of(value))


def _type_of(value: Any) -> str | None:
    if isinstance(value, Int64):
        return "long"
    return _TYPE_NAMES.get(int(element_hex(value)[:2], 16))


def constant_value(node: Node) -> Any:
    """The value of a constant."""
    data = bytes.fromhex(node.plan["hex"])
    inner = data[:1] + b"\0" + data[1:] + b"\0"
    return bson.decode((len(inner) + 4).to_bytes(4, "little") + inner)[""]


def date_ms(node: Node) -> int:
    """The milliseconds since 1970 of a constant date."""
    return int.from_bytes(bytes.fromhex(node.plan["hex"])[1:], "little", signed=True)


def document(fields: list[tuple[str, Node]]) -> Node:
    """A document of fields; one of constants alone is a constant."""
    if all(node.is_constant for _, node in fields):
        body = b"".join(_named(name, node) for name, node in fields)
        return _raw(0x03, body, "document")
    plan = {"kind": "document", "fields": [{"name": name, "value": node.plan} for name, node in fields]}
    return Node(plan, "document")


def array(items: list[Node]) -> Node:
    """A list; one of constants alone is a constant."""
    if all(node.is_constant for node in items):
        body = b"".join(_named(str(number), node) for number, node in enumerate(items))
        return _raw(0x04, body, "list")
    return Node({"kind": "list", "items": [node.plan for node in items]}, "list")


def with_field(node: Node, name: str, value: Node) -> Node:
    """A document with one constant field more."""
    if not node.is_constant:
        return Node({**node.plan, "fields": [*node.plan["fields"], {"name": name, "value": value.plan}]}, "document")
    # Type and length before, the end of the document behind.
    return _raw(0x03, bytes.fromhex(node.plan["hex"])[5:-1] + _named(name, value), "document")


def _named(name: str, node: Node) -> bytes:
    data = bytes.fromhex(node.plan["hex"])
    return data[:1] + name.encode() + b"\0" + data[1:]


def _raw(kind: int, body: bytes, name: str) -> Node:
    value = (len(body) + 5).to_bytes(4, "little") + body + b"\0"
    return Node({"kind": "bson", "hex": (bytes([kind]) + value).hex()}, name)

"""Owns holes: the places where a command's values were, and what filled them.

Words of a shape stay: field names, operators, limits, true, false and null. All other constants become holes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal[
    "equal", "bound", "list", "new", "amount", "prefix", "search", "point", "size", "number", "document", "items"
]


@dataclass(frozen=True, slots=True)
class Hole:
    """A place for a value: which one of the request, what it is for, and the field that it is about, "" for none.

    `operator` is that of a bound, such as "$gte".
    """

    number: int
    role: Role
    field: str = ""
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """Text that is a name: of a field, a collection, an option."""

    text: str


def kept(value: Any) -> Any:
    """`value`, all of whose texts are names."""
    if isinstance(value, Mapping):
        return {name: kept(each) for name, each in value.items()}
    if isinstance(value, list):
        return [kept(each) for each in value]
    return Kept(value) if isinstance(value, str) else value


class NotTranslated(Exception):
    """What a command has that no step can say; the text names no value."""


@dataclass(slots=True)
class Holes:
    """Makes holes, and keeps what was in them."""

    values: list[Any] = field(default_factory=list)

    def make(self, role: Role, value: Any, name: str = "", operator: str = "") -> Any:
        """A hole for `value`; true, false and null are shape and stay."""
        if value is None or isinstance(value, bool):
            return value
        self.values.append(value)
        return Hole(len(self.values) - 1, role, name, operator)


def holes_in(value: Any) -> list[Hole]:
    """All holes, however deep."""
    if isinstance(value, Hole):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [hole for each in inner for hole in holes_in(each)]


def described(value: Any) -> str:
    """A text that is the same for equal shapes: the type of a hole's value is no part of it."""
    if isinstance(value, Hole):
        return f"<{value.role} {value.field} {value.operator}>"
    if isinstance(value, Kept):
        return f"'{value.text}'"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{name}:{described(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(described, value)) + "]"
    return repr(value)

"""Owns how large the values of generators become at most."""

from typing import Any, Final

from brimline.spec.generators import (
    ArrayValue,
    BinaryValue,
    BooleanValue,
    ChoiceValue,
    ConstantValue,
    DocumentValue,
    FakeValue,
    IntValue,
    KeyOfValue,
    ObjectIdValue,
    PointValue,
    StringValue,
    TextValue,
    UuidValue,
)
from brimline.spec.lengths import longest
from brimline.spec.scalars import Scalar, characters

_NUMBER_TEXT_BYTES_MAX = 350
_KEY_BYTES_MAX = 128 + 64
"""The longest prefix of keys, and the longest number behind it."""
_POINT_BYTES = 61
_FAKE_BYTES_MAX: Final = {"address": 128, "sentence": 384, "paragraph": 2048}
_FAKE_BYTES_MAX_OTHERS = 64


def fields_bytes_max(fields: dict[str, Any]) -> int:
    """Upper bound of the bytes of a document with these fields."""
    return 5 + sum(2 + len(name.encode()) + _bytes_max(value) for name, value in fields.items())


def _bytes_max(value: Any) -> int:
    """Upper bound of the bytes of a value, without its type and name."""
    match value:
        case IntValue():
            return 4
        case BooleanValue():
            return 1
        case StringValue() | TextValue() | KeyOfValue() | FakeValue():
            return 5 + _text_bytes_max(value)
        case BinaryValue():
            return 5 + longest(value.length)
        case PointValue():
            return _POINT_BYTES
        case UuidValue():
            return 5 + 16
        case ObjectIdValue():
            return 12
        case ConstantValue():
            return _scalar_bytes(value.value)
        case ChoiceValue():
            return max(_scalar_bytes(choice) for choice, _ in value.of)
        case DocumentValue():
            return fields_bytes_max(value.fields)
        case ArrayValue():
            count = longest(value.length)
            return 5 + count * (2 + len(str(count)) + _bytes_max(value.of))
        case _:
            return 8


def _text_bytes_max(value: Any) -> int:
    match value:
        case StringValue():
            return longest(value.length) * max(len(each.encode()) for each in characters(value.alphabet))
        case KeyOfValue():
            return _KEY_BYTES_MAX
        case FakeValue():
            return _FAKE_BYTES_MAX.get(value.what, _FAKE_BYTES_MAX_OTHERS)
        case TextValue():
            return sum(_text_bytes_max(part) for part in value.parts)
        case ConstantValue():
            return _scalar_text_bytes(value.value)
        case ChoiceValue():
            return max(_scalar_text_bytes(choice) for choice, _ in value.of)
        case _:
            return _NUMBER_TEXT_BYTES_MAX


def _scalar_bytes(value: Scalar) -> int:
    return 5 + len(value.encode()) if isinstance(value, str) else 8


def _scalar_text_bytes(value: Scalar) -> int:
    return len(value.encode()) if isinstance(value, str) else _NUMBER_TEXT_BYTES_MAX

"""Owns the generators of a template: for each field a name and how its values are made.

Bounds are included. Values of `sequence` and `clock` follow from the record's number, so that they ascend; all others
are random, a function of (seed, record).
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from brimline import units
from brimline.spec import readers
from brimline.spec.base import Part, kind_only
from brimline.spec.fields import Fraction
from brimline.spec.lengths import ConstantLength, Length, longest
from brimline.spec.scalars import (
    ALPHABETS,
    Scalar,
    characters,
    date_text,
    read_alphabet,
    read_date,
    read_scalar,
    read_weighted,
    weighted_value,
)

_NUMBER_TEXT_BYTES_MAX = 350


def _whole(minimum: int, maximum: int) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = {"type": ["integer", "string"], "description": f"{minimum} to {maximum}; also like 100k"}
    return BeforeValidator(readers.whole(minimum, maximum)), WithJsonSchema(schema)


def _text_schema(description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": description})


Int32 = Annotated[int, *_whole(-(2**31), 2**31 - 1)]
Int64 = Annotated[int, *_whole(-(2**63), 2**63 - 1)]
Decimals = Annotated[int, *_whole(0, 15)]
Double = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
UnixMs = Annotated[
    int, BeforeValidator(read_date), PlainSerializer(date_text), _text_schema("such as 2024-01-31T12:00:00Z")
]
Every = Annotated[
    int,
    BeforeValidator(readers.duration(1, 366 * readers.DAY_NS)),
    PlainSerializer(units.duration_text),
    _text_schema("a duration such as 10ms"),
]
Alphabet = Annotated[
    str, BeforeValidator(read_alphabet), _text_schema(f"{', '.join(ALPHABETS)}, or the characters themselves")
]
ScalarValue = Annotated[Any, BeforeValidator(read_scalar)]
WeightedValues = Annotated[Any, BeforeValidator(read_weighted), PlainSerializer(weighted_value)]


def _require_order(low: float, high: float, names: tuple[str, str] = ("min", "max")) -> None:
    if low > high:
        raise ValueError(f"{names[0]} is above {names[1]}; exchange them")


class IntValue(Part):
    """A 32-bit integer, each from `min` to `max` equally often."""

    kind: Literal["int"] = "int"
    min: Int32 = 0
    """Smallest value."""
    max: Int32 = 2**31 - 1
    """Largest value."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        _require_order(self.min, self.max)
        return self


class LongValue(Part):
    """A 64-bit integer, each from `min` to `max` equally often."""

    kind: Literal["long"] = "long"
    min: Int64 = 0
    """Smallest value."""
    max: Int64 = 2**63 - 1
    """Largest value."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        _require_order(self.min, self.max)
        return self


class SequenceValue(Part):
    """A 64-bit integer that follows the record: `start` + number of the record · `step`."""

    kind: Literal["sequence"] = "sequence"
    start: Int64 = 0
    """Value of record 0."""
    step: Int64 = 1
    """How much more each further record has."""


class DoubleValue(Part):
    """A double from `min` to below `max`, rounded to `decimals` places."""

    kind: Literal["double"] = "double"
    min: Double = 0.0
    """Smallest value."""
    max: Double = 1.0
    """Upper end, which is not reached."""
    decimals: Decimals | None = None
    """Decimal places to round to; without it there is no rounding."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        _require_order(self.min, self.max)
        return self


class BooleanValue(Part):
    """True in this share of the documents."""

    kind: Literal["boolean"] = "boolean"
    true_share: Fraction = 0.5
    """Share of documents in which the value is true."""


class DateValue(Part):
    """A date, each millisecond from `from` to `to` equally often."""

    kind: Literal["date"] = "date"
    from_unix_ms: UnixMs = Field(alias="from")
    """Earliest date."""
    to_unix_ms: UnixMs = Field(alias="to")
    """Latest date."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        _require_order(self.from_unix_ms, self.to_unix_ms, ("from", "to"))
        return self


class ClockValue(Part):
    """A date that follows the record: `start` + number of the record · `every`."""

    kind: Literal["clock"] = "clock"
    start_unix_ms: UnixMs = Field(alias="start")
    """Date of record 0."""
    every_ns: Every = Field(alias="every")
    """How much later each further record is."""


class StringValue(Part):
    """So many characters of an alphabet, each equally often."""

    kind: Literal["string"] = "string"
    length: Length = ConstantLength(length=20)
    """Number of characters."""
    alphabet: Alphabet = "alphanumeric"
    """Characters to draw from."""


class BinaryValue(Part):
    """So many bytes as YCSB's fields have them."""

    kind: Literal["binary"] = "binary"
    length: Length = ConstantLength(length=100)
    """Number of bytes."""


class ConstantValue(Part):
    """Always this."""

    kind: Literal["constant"] = "constant"
    value: ScalarValue
    """The value."""


class ChoiceValue(Part):
    """One of these: of a list each equally often, of a mapping each text as often as its weight says."""

    kind: Literal["choice"] = "choice"
    of: WeightedValues
    """The values: a list, or a mapping of text to weight."""


class TextValue(Part):
    """A string put together of texts and of the texts of other values: ["web-", {kind: int, max: 9}]."""

    kind: Literal["text"] = "text"
    parts: list["TextPart"] = Field(min_length=1, max_length=1000)
    """What is put together, in order. Text stands for itself."""


class DocumentValue(Part):
    """A document."""

    kind: Literal["document"] = "document"
    fields: "Template"
    """A generator for each field by its name."""


class ArrayValue(Part):
    """An array of so many values."""

    kind: Literal["array"] = "array"
    length: Length
    """Number of values."""
    of: "Value"
    """How each value is made."""


def _plain_part(value: object) -> object:
    """Text among the parts of a text stands for itself."""
    return {"kind": "constant", "value": value} if isinstance(value, str) else value


def _check_names(value: object) -> object:
    if not isinstance(value, dict):
        return value
    for name in value:
        if not isinstance(name, str) or not name or "." in name or "\0" in name or name.startswith("$"):
            raise ValueError(f"{readers.shown(name)} can't name a field; no '.', no leading '$', not empty")
    if not 1 <= len(value) <= readers.FIELD_COUNT_MAX:
        raise ValueError(f"must have 1 to {readers.FIELD_COUNT_MAX} fields, but has {len(value)}")
    return value


TextPart = Annotated[
    ConstantValue
    | ChoiceValue
    | IntValue
    | LongValue
    | SequenceValue
    | DoubleValue
    | BooleanValue
    | StringValue
    | TextValue,
    Field(discriminator="kind"),
    BeforeValidator(_plain_part, json_schema_input_type=str | dict[str, object]),
]
Value = Annotated[
    IntValue
    | LongValue
    | SequenceValue
    | DoubleValue
    | BooleanValue
    | DateValue
    | ClockValue
    | StringValue
    | BinaryValue
    | TextValue
    | ConstantValue
    | ChoiceValue
    | DocumentValue
    | ArrayValue,
    Field(discriminator="kind"),
    BeforeValidator(kind_only, json_schema_input_type=str | dict[str, object]),
]
Template = Annotated[dict[str, Value], BeforeValidator(_check_names)]

TextValue.model_rebuild()
DocumentValue.model_rebuild()
ArrayValue.model_rebuild()


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
        case StringValue() | TextValue():
            return 5 + _text_bytes_max(value)
        case BinaryValue():
            return 5 + longest(value.length)
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

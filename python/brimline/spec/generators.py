"""Owns the generators of a template: for each field a name and how its values are made.

Bounds are included. Values of `sequence` and `clock` follow from the record's number, so that they ascend; all others
are random, a function of (seed, record).
"""

import decimal
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from brimline import units
from brimline.spec import readers
from brimline.spec.base import InShort, Named, Part, kind_only
from brimline.spec.fields import CollectionName, Fraction
from brimline.spec.keys import Keys, ZipfianKeys
from brimline.spec.lengths import ConstantLength, Length
from brimline.spec.scalars import (
    ALPHABET_CHARACTERS_MAX,
    ALPHABETS,
    date_text,
    read_alphabet,
    read_corner,
    read_date,
    read_decimal,
    read_scalar,
    read_weighted,
    weighted_value,
)

_WORLD: Final = ((-180.0, -90.0), (180.0, 90.0))


def _whole(minimum: int, maximum: int) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = {
        "type": ["integer", "string"],
        "description": f"{minimum} to {maximum}; also like 100k",
        "minimum": minimum,
        "maximum": maximum,
        "pattern": units.PATTERNS["count"],
    }
    return BeforeValidator(readers.whole(minimum, maximum)), WithJsonSchema(schema)


def _text_schema(description: str, **bounds: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": description, **bounds})


Int32 = Annotated[int, *_whole(-(2**31), 2**31 - 1)]
Int64 = Annotated[int, *_whole(-(2**63), 2**63 - 1)]
FakeKind = Literal[
    "name",
    "first_name",
    "last_name",
    "user_name",
    "email",
    "phone",
    "job",
    "company",
    "industry",
    "country",
    "state",
    "city",
    "street",
    "postcode",
    "address",
    "word",
    "sentence",
    "paragraph",
]
Decimals = Annotated[int, *_whole(0, 15)]
Double = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Decimal = Annotated[
    decimal.Decimal,
    BeforeValidator(read_decimal),
    PlainSerializer(str),
    WithJsonSchema({"type": ["number", "string"], "description": 'a number, as text where it must be exact: "9.99"'}),
]
UnixMs = Annotated[
    int,
    BeforeValidator(read_date),
    PlainSerializer(date_text),
    _text_schema("such as 2024-01-31T12:00:00Z", pattern="^[0-9]{4}"),
]
Every = Annotated[
    int,
    BeforeValidator(readers.duration(1, 366 * readers.DAY_NS)),
    PlainSerializer(units.duration_text),
    _text_schema("a duration such as 10ms", pattern=units.PATTERNS["duration"]),
]
Alphabet = Annotated[
    str,
    BeforeValidator(read_alphabet),
    _text_schema(
        f"{', '.join(ALPHABETS)}, or the characters themselves", minLength=1, maxLength=ALPHABET_CHARACTERS_MAX
    ),
]
Corner = Annotated[
    tuple[Double, Double],
    Field(strict=False),
    BeforeValidator(read_corner),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "number", "minimum": -180, "maximum": 180},
            "minItems": 2,
            "maxItems": 2,
            "description": "longitude and latitude in degrees",
        }
    ),
]
_A_SCALAR: Final = {"type": ["string", "number", "boolean", "null"]}
ScalarValue = Annotated[Any, BeforeValidator(read_scalar), WithJsonSchema(_A_SCALAR)]
WeightedValues = Annotated[
    Any,
    BeforeValidator(read_weighted),
    PlainSerializer(weighted_value),
    WithJsonSchema(
        {
            "type": ["array", "object"],
            "minItems": 1,
            "minProperties": 1,
            "items": _A_SCALAR,
            "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1e15},
        }
    ),
]


def _require_order(low: Any, high: Any, names: tuple[str, str] = ("min", "max")) -> None:
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


class DecimalValue(Part):
    """A Decimal128 with so many `decimals`, each from `min` to `max` equally often."""

    kind: Literal["decimal"] = "decimal"
    min: Decimal = decimal.Decimal(0)
    """Smallest value."""
    max: Decimal = decimal.Decimal(1000)
    """Largest value."""
    decimals: Decimals = 2
    """Decimal places, which all values have."""

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        _require_order(self.min, self.max)
        for name, whole in (("min", self.min_units), ("max", self.max_units)):
            if whole != whole.to_integral_value():
                raise ValueError(f"{name} has more than {self.decimals} decimals; raise decimals or round it")
            if not -(2**63) <= whole < 2**63:
                raise ValueError(f"{name} has more than 64 bits without its point; take fewer decimals")
        return self

    @property
    def min_units(self) -> decimal.Decimal:
        """`min` in units of the last place."""
        return self.min.scaleb(self.decimals)

    @property
    def max_units(self) -> decimal.Decimal:
        """`max` in units of the last place."""
        return self.max.scaleb(self.decimals)


class NormalValue(Part):
    """A number of the normal law; a whole one is the nearest, and within the bounds of its type."""

    kind: Literal["normal"] = "normal"
    mean: Double = 0.0
    """Mean."""
    standard_deviation: Double = 1.0
    """Standard deviation."""
    type: Literal["int", "long", "double"] = "double"
    """Type of the number."""
    decimals: Decimals | None = None
    """Decimal places to round a double to; without it there is no rounding."""

    @model_validator(mode="after")
    def _check_deviation_and_decimals(self) -> Self:
        if self.standard_deviation < 0:
            raise ValueError("standard_deviation is below 0; give 0 or more")
        if self.decimals is not None and self.type != "double":
            raise ValueError(f"decimals are of doubles, and type is {self.type}; leave decimals out")
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
    """One of these: of a list each equally often, of a mapping each key as often as its weight says."""

    kind: Literal["choice"] = "choice"
    of: WeightedValues
    """The values: a list, or a mapping of value to weight. `true` and `200` have their types there too, and quotes make
    text of them."""


class TextValue(Part):
    """A string put together of texts and of the texts of other values: ["web-", {kind: int, max: 9}]."""

    kind: Literal["text"] = "text"
    parts: list["TextPart"] = Field(min_length=1, max_length=1000)
    """What is put together, in order. Text stands for itself."""


class KeyOfValue(Part):
    """The key of a record of another collection: `{key_of: customers}`, each as popular as a law says."""

    kind: Literal["key_of"] = "key_of"
    of: CollectionName
    """The collection, by its name among `collections`."""
    keys: Keys = ZipfianKeys()
    """Which of its records are the popular ones; not `latest`, which follows the inserts of a run."""

    @model_validator(mode="after")
    def _check_law(self) -> Self:
        if self.keys.kind == "latest":
            raise ValueError(
                "latest is about records that a run inserts, which data has none of; write {kind: zipfian}"
            )
        return self


class FakeValue(Part):
    """A text as people have them: a name, an address, a sentence."""

    kind: Literal["fake"] = "fake"
    what: FakeKind
    """What it is."""
    language: Literal["en", "zh"] = "en"
    """English or Chinese."""


class PointValue(Part):
    """A GeoJSON point, evenly spread between two corners: `{type: Point, coordinates: [longitude, latitude]}`."""

    kind: Literal["point"] = "point"
    min: Corner = _WORLD[0]
    """The south-western corner: longitude and latitude in degrees."""
    max: Corner = _WORLD[1]
    """The north-eastern corner."""

    @model_validator(mode="after")
    def _check_corners(self) -> Self:
        if self.min[0] > self.max[0] or self.min[1] > self.max[1]:
            raise ValueError("min is the south-western corner and max the north-eastern one; exchange what is larger")
        return self


class UuidValue(Part):
    """A random UUID, version 4."""

    kind: Literal["uuid"] = "uuid"


class ObjectIdValue(Part):
    """An object id of random bytes."""

    kind: Literal["object_id"] = "object_id"


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


def _key_of_first(value: object) -> object:
    """`{key_of: customers}` is short for `{kind: key_of, of: customers}`."""
    if isinstance(value, dict) and "key_of" in value and "kind" not in value:
        return {
            "kind": "key_of",
            "of": value["key_of"],
            **{name: each for name, each in value.items() if name != "key_of"},
        }
    return value


_KEYS_OF: Final = InShort(
    {
        "type": "object",
        "description": "the key of a record of another collection",
        "properties": {"key_of": {"type": "string", "minLength": 1}, "keys": {}},
        "required": ["key_of"],
        "additionalProperties": False,
    }
)


def _check_names(value: object) -> object:
    if not isinstance(value, dict):
        return value
    for name in value:
        if not isinstance(name, str) or not name or "." in name or "\0" in name or name.startswith("$"):
            raise ValueError(f"{readers.shown(name)} can't name a field; no '.', no leading '$', not empty")
    if not 1 <= len(value) <= readers.FIELD_COUNT_MAX:
        raise ValueError(
            f"must have 1 to {readers.FIELD_COUNT_MAX} fields, but has {len(value)}; write {{name: {{kind: int}}}}"
        )
    return value


TextPart = Annotated[
    ConstantValue
    | ChoiceValue
    | IntValue
    | LongValue
    | SequenceValue
    | DoubleValue
    | DecimalValue
    | NormalValue
    | BooleanValue
    | StringValue
    | KeyOfValue
    | FakeValue
    | TextValue,
    Field(discriminator="kind"),
    BeforeValidator(_key_of_first),
    _KEYS_OF,
    BeforeValidator(_plain_part),
    InShort({"type": "string"}),
]
Value = Annotated[
    IntValue
    | LongValue
    | SequenceValue
    | DoubleValue
    | DecimalValue
    | NormalValue
    | BooleanValue
    | DateValue
    | ClockValue
    | StringValue
    | BinaryValue
    | TextValue
    | ConstantValue
    | ChoiceValue
    | KeyOfValue
    | FakeValue
    | PointValue
    | UuidValue
    | ObjectIdValue
    | DocumentValue
    | ArrayValue,
    Field(discriminator="kind"),
    BeforeValidator(_key_of_first),
    _KEYS_OF,
    BeforeValidator(kind_only),
]
Template = Annotated[dict[str, Value], BeforeValidator(_check_names), Named(r"^(?!\$)[^.]+$")]

TextValue.model_rebuild()
DocumentValue.model_rebuild()
ArrayValue.model_rebuild()


def named_collections(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The collections whose keys a generator has, or the fields of a template: the path within, and the name."""
    parts: Iterable[tuple[str | int, Any]] = ()
    match value:
        case KeyOfValue():
            yield (), value.of
        case TextValue():
            parts = (("parts", dict(enumerate(value.parts))),)
        case DocumentValue():
            parts = (("fields", value.fields),)
        case ArrayValue():
            parts = (("of", value.of),)
        case dict():
            parts = value.items()
    for name, part in parts:
        for path, collection in named_collections(part):
            yield (name, *path), collection

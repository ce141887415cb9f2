"""Owns the part of a spec that says what the data looks like and which records operations take."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from brimline.spec.base import Part, kind_only
from brimline.spec.fields import (
    BatchSize,
    CollectionName,
    DatabaseName,
    FieldCount,
    FieldLength,
    FieldNamePrefix,
    Fraction,
    KeyPrefix,
    LengthWeights,
    Percentile,
    PositiveFraction,
    RecordCount,
    RecordNumber,
    Theta,
    ZeroPadding,
)
from brimline.spec.readers import DOCUMENT_BYTES_MAX, MESSAGE_BYTES_MAX


class ConstantLength(Part):
    """Always the same length."""

    kind: Literal["constant"] = "constant"
    length: FieldLength


class _LengthRange(Part):
    min: FieldLength = 1
    max: FieldLength

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is larger than max {self.max}")
        return self


class UniformLength(_LengthRange):
    """Every length from `min` to `max` equally often."""

    kind: Literal["uniform"] = "uniform"


class ZipfianLength(_LengthRange):
    """Zipfian with theta 0.99: `min` is the most frequent."""

    kind: Literal["zipfian"] = "zipfian"


class HistogramLength(Part):
    """The lengths of a list, each as often as its weight says."""

    kind: Literal["histogram"] = "histogram"
    weights: LengthWeights


def _plain_length(value: object) -> object:
    """`100` is short for `{kind: constant, length: 100}`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"kind": "constant", "length": value}
    if isinstance(value, str) and value[:1].isdigit():
        return {"kind": "constant", "length": value}
    return kind_only(value)


Length = Annotated[
    ConstantLength | UniformLength | ZipfianLength | HistogramLength,
    Field(discriminator="kind"),
    BeforeValidator(_plain_length, json_schema_input_type=int | str | dict[str, object]),
]
# Lengths of scans; a histogram would be possible but YCSB has none there.
ScanLength = Annotated[
    ConstantLength | UniformLength | ZipfianLength,
    Field(discriminator="kind"),
    BeforeValidator(_plain_length, json_schema_input_type=int | str | dict[str, object]),
]


def longest(length: Length) -> int:
    """The longest length that can be drawn."""
    match length:
        case ConstantLength():
            return length.length
        case HistogramLength():
            return max(value for value, weight in length.weights if weight)
        case UniformLength() | ZipfianLength():
            return length.max


def shortest(length: Length) -> int:
    """The shortest length that can be drawn."""
    match length:
        case ConstantLength():
            return length.length
        case HistogramLength():
            return min(value for value, weight in length.weights if weight)
        case UniformLength() | ZipfianLength():
            return length.min


class DataSpec(Part):
    """The records `insert_start … insert_start + records - 1` and where they are."""

    records: RecordCount
    insert_start: RecordNumber = 0
    fields: FieldCount = 10
    field_length: Length = ConstantLength(length=100)
    field_name_prefix: FieldNamePrefix = "field"
    key_prefix: KeyPrefix = "user"
    insert_order: Literal["hashed", "ordered"] = "hashed"
    zero_padding: ZeroPadding = 1
    database: DatabaseName = "ycsb"
    collection: CollectionName = "usertable"
    batch_size: BatchSize | None = None

    @property
    def document_bytes_max(self) -> int:
        """Size of the largest document: `_id`, and each field with type, name, length and subtype."""
        key = 15 + len(self.key_prefix.encode()) + max(self.zero_padding, 20)
        name = len(self.field_name_prefix.encode()) + len(str(self.fields))
        return key + self.fields * (7 + name + longest(self.field_length))

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        size = self.document_bytes_max
        if size > DOCUMENT_BYTES_MAX:
            raise ValueError(f"documents reach {size} bytes, more than MongoDB's {DOCUMENT_BYTES_MAX}")
        if self.batch_size is not None and self.batch_size * size > MESSAGE_BYTES_MAX:
            raise ValueError(
                f"{self.batch_size} documents per command reach {self.batch_size * size} bytes, "
                f"more than a message's {MESSAGE_BYTES_MAX}"
            )
        return self


class UniformKeys(Part):
    """Every record equally often."""

    kind: Literal["uniform"] = "uniform"


class SequentialKeys(Part):
    """One record after the other, over and over."""

    kind: Literal["sequential"] = "sequential"


class ZipfianKeys(Part):
    """The k-th most popular record in proportion to k^-theta."""

    kind: Literal["zipfian"] = "zipfian"
    theta: Theta = 0.99


class LatestKeys(Part):
    """The k-th newest record in proportion to k^-theta."""

    kind: Literal["latest"] = "latest"
    theta: Theta = 0.99


class HotspotKeys(Part):
    """A hot part of the records takes a part of the operations."""

    kind: Literal["hotspot"] = "hotspot"
    data_fraction: PositiveFraction = 0.2
    operation_fraction: Fraction = 0.8


class ExponentialKeys(Part):
    """`percentile` percent of the operations go to the first `fraction` of the records."""

    kind: Literal["exponential"] = "exponential"
    percentile: Percentile = 95.0
    fraction: PositiveFraction = 0.8571428571


Keys = Annotated[
    UniformKeys | SequentialKeys | ZipfianKeys | LatestKeys | HotspotKeys | ExponentialKeys,
    Field(discriminator="kind"),
    BeforeValidator(kind_only, json_schema_input_type=str | dict[str, object]),
]

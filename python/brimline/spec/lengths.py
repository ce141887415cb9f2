"""Owns how long something is: values of fields, scans, arrays."""

from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from brimline import units
from brimline.spec import readers
from brimline.spec.base import InShort, Part, kind_only
from brimline.spec.fields import FieldLength, LengthWeights


class ConstantLength(Part):
    """Always the same length."""

    kind: Literal["constant"] = "constant"
    length: FieldLength
    """The length."""


class _LengthRange(Part):
    min: FieldLength = 1
    """Smallest length."""
    max: FieldLength
    """Largest length."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is larger than max {self.max}; exchange them")
        return self


class UniformLength(_LengthRange):
    """Every length from `min` to `max` equally often."""

    kind: Literal["uniform"] = "uniform"


class ZipfianLength(_LengthRange):
    """Zipfian with theta 0.99: `min` is the most frequent."""

    kind: Literal["zipfian"] = "zipfian"


class HistogramLength(Part):
    """The lengths of a list, each as often as its weight says. Not for `scan_length`."""

    kind: Literal["histogram"] = "histogram"
    weights: LengthWeights
    """How often each length comes, relative to the others."""


def _plain_length(value: object) -> object:
    """`100` is short for `{kind: constant, length: 100}`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"kind": "constant", "length": value}
    if isinstance(value, str) and value[:1].isdigit():
        return {"kind": "constant", "length": value}
    return kind_only(value)


_PLAIN: Final = InShort(
    {
        "type": ["integer", "string"],
        "description": "always this length",
        "minimum": 0,
        "maximum": readers.DOCUMENT_BYTES_MAX,
        "pattern": units.PATTERNS["bytes"],
    }
)
Length = Annotated[
    ConstantLength | UniformLength | ZipfianLength | HistogramLength,
    Field(discriminator="kind"),
    BeforeValidator(_plain_length),
    _PLAIN,
]
# Lengths of scans; a histogram would be possible but YCSB has none there.
ScanLength = Annotated[
    ConstantLength | UniformLength | ZipfianLength,
    Field(discriminator="kind"),
    BeforeValidator(_plain_length),
    _PLAIN,
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

"""Owns the plan's types of data: which records there are, what they look like, and which of them operations take."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from brimline.plan.base import Count, Number, Part, without


class ConstantLength(Part):
    """Always the same."""

    kind: Literal["constant"] = "constant"
    length: Number


class UniformLength(Part):
    """Every length from `min` to `max`, both included, equally often."""

    kind: Literal["uniform"] = "uniform"
    min: Number
    max: Number


class ZipfianLength(Part):
    """Zipfian with theta 0.99 over `min` to `max`, both included."""

    kind: Literal["zipfian"] = "zipfian"
    min: Number
    max: Number


class HistogramLength(Part):
    """Pairs of length and weight."""

    kind: Literal["histogram"] = "histogram"
    weights: Annotated[tuple[tuple[Number, float], ...], Field(strict=False)]


LengthPlan = Annotated[ConstantLength | UniformLength | ZipfianLength | HistogramLength, Field(discriminator="kind")]


class UniformKeys(Part):
    """Every record equally often."""

    kind: Literal["uniform"] = "uniform"


class ZipfianKeys(Part):
    """Rank k in proportion to k^-theta."""

    kind: Literal["zipfian"] = "zipfian"
    theta: float


class LatestKeys(Part):
    """The k-th newest record in proportion to k^-theta."""

    kind: Literal["latest"] = "latest"
    theta: float


class HotspotKeys(Part):
    """A hot set of records takes a share of the operations."""

    kind: Literal["hotspot"] = "hotspot"
    data_fraction: float
    operation_fraction: float


class ExponentialKeys(Part):
    """`percentile` percent of the operations go to the first `fraction` of the records."""

    kind: Literal["exponential"] = "exponential"
    percentile: float
    fraction: float


class SequentialKeys(Part):
    """Operation i takes record i modulo n."""

    kind: Literal["sequential"] = "sequential"


KeysPlan = Annotated[
    UniformKeys | ZipfianKeys | LatestKeys | HotspotKeys | ExponentialKeys | SequentialKeys,
    Field(discriminator="kind"),
]


class DocumentPlan(Part):
    """Keys and documents: the records `insert_start .. insert_start + record_count`.

    `template` has a generator for each field, {"name", "value"}, in the engine's own words, which it checks; None where
    fields are YCSB's, and then it is left out, so that such plans keep their hash. `values` are derived where they
    follow from key and field.
    """

    record_count: Count
    insert_start: Count
    field_count: Number
    field_length: LengthPlan
    field_name_prefix: str
    key_prefix: str
    insert_order: Literal["hashed", "ordered"]
    zero_padding: Number
    values: Literal["random", "derived"] = "random"
    template: Annotated[tuple[dict[str, Any], ...], Field(strict=False)] | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values = without(dump(self), "template")
        return {name: value for name, value in values.items() if (name, value) != ("values", "random")}

"""Owns the plan's types of data: which records there are, and what they look like.

Laws of lengths and keys are a spec's own, all defaults filled in, but for weights, which the engine reads as pairs.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from brimline.plan.base import Count, Number, Part, without
from brimline.spec.lengths import ConstantLength, UniformLength, ZipfianLength


class HistogramLength(Part):
    """Pairs of length and weight."""

    kind: Literal["histogram"] = "histogram"
    weights: Annotated[tuple[tuple[Number, float], ...], Field(strict=False)]


LengthPlan = Annotated[ConstantLength | UniformLength | ZipfianLength | HistogramLength, Field(discriminator="kind")]


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

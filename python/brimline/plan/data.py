"""Owns the step from a spec's data to the plan's: keys, lengths, and the generators of a template."""

from typing import Any

from brimline.plan import model
from brimline.spec import data as spec_data
from brimline.spec import generators, lengths
from brimline.spec.scalars import characters


def document_plan(data: spec_data.DataSpec) -> model.DocumentPlan:
    """Keys and documents of `data`."""
    template = None if data.template is None else tuple(_fields(data.template))
    return model.DocumentPlan(
        record_count=data.records,
        insert_start=data.insert_start,
        field_count=data.field_count,
        field_length=length_plan(data.field_length),
        field_name_prefix=data.field_name_prefix,
        key_prefix=data.key_prefix,
        insert_order=data.insert_order,
        zero_padding=data.zero_padding,
        values=data.values,
        template=template,
    )


def length_plan(length: lengths.Length) -> model.LengthPlan:
    """The law of a length."""
    match length:
        case lengths.ConstantLength():
            return model.ConstantLength(length=length.length)
        case lengths.UniformLength():
            return model.UniformLength(min=length.min, max=length.max)
        case lengths.ZipfianLength():
            return model.ZipfianLength(min=length.min, max=length.max)
        case lengths.HistogramLength():
            return model.HistogramLength(weights=length.weights)


def _fields(template: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value_plan(value)} for name, value in template.items()]


def value_plan(value: Any) -> dict[str, Any]:
    """As the engine names it: aliases resolved, every default filled in."""
    plan: dict[str, Any] = {"kind": value.kind}
    match value:
        case generators.StringValue():
            plan |= {"length": _length(value.length), "alphabet": characters(value.alphabet)}
        case generators.BinaryValue():
            plan |= {"length": _length(value.length)}
        case generators.TextValue():
            plan |= {"parts": [value_plan(part) for part in value.parts]}
        case generators.ChoiceValue():
            plan |= {"values": [[choice, weight] for choice, weight in value.of]}
        case generators.DocumentValue():
            plan |= {"fields": _fields(value.fields)}
        case generators.ArrayValue():
            plan |= {"length": _length(value.length), "of": value_plan(value.of)}
        case _:
            plan |= {name: getattr(value, name) for name in type(value).model_fields}
    return plan


def _length(length: lengths.Length) -> dict[str, Any]:
    return length_plan(length).model_dump(mode="json")

"""Owns the step from a spec's data to the plan's: keys, lengths, and the generators of a template."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from brimline.plan import model
from brimline.spec import data as spec_data
from brimline.spec import generators, lengths
from brimline.spec.keys import Keys
from brimline.spec.scalars import characters

Collections = Mapping[str, spec_data.DataSpec]
_NONE: Final[Collections] = MappingProxyType({})


def document_plan(data: spec_data.DataSpec, collections: Collections = _NONE) -> model.DocumentPlan:
    """Keys and documents of `data`. `collections`, by name, are those whose keys fields may have."""
    template = None if data.template is None else tuple(_fields(data.template, collections))
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
    if isinstance(length, lengths.HistogramLength):
        return model.HistogramLength(weights=length.weights)
    return length


def _fields(template: dict[str, Any], collections: Collections) -> list[dict[str, Any]]:
    return [{"name": name, "value": value_plan(value, collections)} for name, value in template.items()]


def value_plan(value: Any, collections: Collections = _NONE) -> dict[str, Any]:
    """A generator as the engine names it: aliases resolved, every default filled in, collections looked up."""
    plan: dict[str, Any] = {"kind": value.kind}
    match value:
        case generators.StringValue():
            plan |= {"length": _length(value.length), "alphabet": characters(value.alphabet)}
        case generators.BinaryValue():
            plan |= {"length": _length(value.length)}
        case generators.DecimalValue():
            plan |= {"min": int(value.min_units), "max": int(value.max_units), "decimals": value.decimals}
        case generators.TextValue():
            plan |= {"parts": [value_plan(part, collections) for part in value.parts]}
        case generators.ChoiceValue():
            plan |= {"values": [[choice, weight] for choice, weight in value.of]}
        case generators.DocumentValue():
            plan |= {"fields": _fields(value.fields, collections)}
        case generators.ArrayValue():
            plan |= {"length": _length(value.length), "of": value_plan(value.of, collections)}
        case generators.KeyOfValue():
            plan |= key_of_plan(collections[value.of], value.keys)
        case generators.PointValue():
            plan |= {"min": list(value.min), "max": list(value.max)}
        case _:
            plan |= {name: getattr(value, name) for name in type(value).model_fields}
    return plan


def key_of_plan(data: spec_data.DataSpec, keys: Keys) -> dict[str, Any]:
    """Keys of the records of `data` under a law, which is not `latest`."""
    return {
        "kind": "key_of",
        "record_count": data.records,
        "insert_start": data.insert_start,
        "key_prefix": data.key_prefix,
        "insert_order": data.insert_order,
        "zero_padding": data.zero_padding,
        "keys": keys.model_dump(mode="json"),
    }


def _length(length: lengths.Length) -> dict[str, Any]:
    return length_plan(length).model_dump(mode="json")

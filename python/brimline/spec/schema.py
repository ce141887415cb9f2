"""Owns the JSON schema of a spec, for editors that complete and check YAML.

It says what each key may hold. What several keys say together, and the units and bounds of a quantity that is text,
are the reader's alone. Whatever the reader takes the schema takes.
"""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from brimline.spec.docstrings import docstrings_of_model
from brimline.spec.model import Spec
from brimline.spec.own.schema import add_steps

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_A_STEP: Final = {"additionalProperties": {"not": {"type": ["object", "array"]}}}
"""Operations of which none is of the person's own."""


def spec_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a spec's YAML."""
    schema = model_schema(Spec)
    add_steps(schema["$defs"])
    del schema["required"]
    schema["allOf"] = [
        {"anyOf": [{"required": ["operations"]}, {"required": ["scans"]}]},
        # Data, unless it follows from collections, or an operation needs none.
        {
            "anyOf": [
                {"required": ["data"]},
                {"required": ["collections"]},
                {"required": ["operations"], "properties": {"operations": {"not": _A_STEP}}},
            ]
        },
    ]
    return {"$schema": DIALECT, **schema, "title": "brimline workload"}


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of what a person writes for a model; each key is described by the text behind its field."""
    schema = model.model_json_schema(by_alias=True, mode="validation", schema_generator=_OfWords)
    for definition in schema["$defs"].values():
        properties = definition.get("properties", {})
        if "const" in properties.get("kind", {}):
            definition["required"] = ["kind", *definition.get("required", ())]
    _let_kinds_stand_alone(schema, schema["$defs"])
    return schema


class _OfWords(GenerateJsonSchema):
    """As pydantic's, with descriptions of keys and without titles that repeat them."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        said = docstrings_of_model(model)
        for name, field in model.model_fields.items():
            key = field.alias or name
            for properties in _properties(made):
                if key in properties and name in said:
                    properties[key] = {**properties[key], "description": _with_form(said[name], properties[key])}
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def _properties(made: JsonSchemaValue) -> Iterator[dict[str, Any]]:
    for each in (made, *made.get("anyOf", ())):
        if each.get("type") == "object" and "properties" in each:
            yield each["properties"]


def _with_form(meaning: str, schema: JsonSchemaValue) -> str:
    forms = [each["description"] for each in (schema, *schema.get("anyOf", ())) if "description" in each]
    return f"{meaning} ({forms[0]})" if forms else meaning


def _let_kinds_stand_alone(value: Any, definitions: dict[str, Any]) -> None:
    """`uniform` is short for `{kind: uniform}` where a kind needs nothing else."""
    if isinstance(value, list):
        for each in value:
            _let_kinds_stand_alone(each, definitions)
    elif isinstance(value, dict):
        for each in value.values():
            _let_kinds_stand_alone(each, definitions)
        kinds = value.pop("discriminator", {}).get("mapping")
        if kinds is not None:
            alone = [
                name
                for name, reference in kinds.items()
                if definitions[reference.rpartition("/")[2]]["required"] == ["kind"]
            ]
            value["anyOf"] = [{"enum": alone}, *value.pop("oneOf")]

"""Owns constants of a live deployment in YAML: how they are written, and which of them hold a person's values."""

from collections.abc import Mapping, Set
from typing import Any

from bson import Decimal128, Int64, json_util

from brimline.spec.own.draws import looks_like_form

_HARMLESS_OPERATORS = frozenset({"$exists", "$type", "$and", "$or", "$nor", "$not"})
_VALUE_WORDS = frozenset({
    "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "description", "title", "default",
})  # fmt: skip
"""Words of `$jsonSchema` that hold values, or text of whoever wrote it."""
_UNFIT_WORDS = frozenset({
    "pattern", "patternProperties", "not", "multipleOf", "dependencies", "minLength", "maxLength", "minItems",
    "maxItems", "uniqueItems", "minProperties", "maxProperties",
})  # fmt: skip
"""Words that documents of generators, with their rounded lengths, need not meet."""
_OF_SCHEMAS = frozenset({"properties", "items", "additionalProperties", "additionalItems"})
_LISTS_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf"})


def literal(value: Any, *, dollars: bool = False) -> Any:
    """A constant as YAML has it: what YAML can't say as Extended JSON. With `dollars` as a step takes it.

    In a step text with a leading `$` is a value, so that a literal one has two.
    """
    match value:
        case Mapping():
            return {str(name): literal(each, dollars=dollars) for name, each in value.items()}
        case list():
            return [literal(each, dollars=dollars) for each in value]
        case str():
            return f"${value}" if dollars and value.startswith("$") else value
        case Int64():
            return int(value)
        case None | bool() | int() | float():
            return value
        case Decimal128():
            return {"$numberDecimal": str(value)}
        case _:
            return json_util.default(value, json_options=json_util.RELAXED_JSON_OPTIONS)


def step_document(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A document in a step; one that reads as a value's form says that it is none."""
    return {"$value": {"document": dict(fields)}} if looks_like_form(dict(fields)) else dict(fields)


def holds_values(expression: Any) -> bool:
    """Whether a filter compares with values, beyond asking whether a field is there and of which type it is."""
    if isinstance(expression, list):
        return any(holds_values(each) for each in expression)
    if not isinstance(expression, Mapping):
        return True
    for name, each in expression.items():
        if name in ("$exists", "$type"):
            continue
        if (name.startswith("$") and name not in _HARMLESS_OPERATORS) or holds_values(each):
            return True
    return False


def fitting(
    validator: Mapping[str, Any], *, text_paths: Set[str], with_values: bool
) -> tuple[dict[str, Any], list[str]]:
    """A validator that takes generated documents, and the words that were left out, so that it only takes more.

    `text_paths` are fields that hold keys as text here, whatever they are in the live collection. Without `with_values`
    what names values goes as well.
    """
    left: list[str] = []
    kept: dict[str, Any] = {}
    for name, each in validator.items():
        if name == "$jsonSchema" and isinstance(each, Mapping):
            kept[name] = _schema(each, left, text_paths, "", with_values=with_values)
        elif name in text_paths or (not with_values and holds_values({name: each})):
            left.append(name)
        else:
            kept[name] = each
    return kept, list(dict.fromkeys(left))


def _schema(
    schema: Mapping[str, Any], left: list[str], text_paths: Set[str], path: str, *, with_values: bool
) -> dict[str, Any]:
    def inner(value: Any, at: str) -> Any:
        return _schema(value, left, text_paths, at, with_values=with_values) if isinstance(value, Mapping) else value

    kept: dict[str, Any] = {}
    for word, value in schema.items():
        before = len(left)
        if word in _UNFIT_WORDS or (word in _VALUE_WORDS and not with_values):
            left.append(word)
        elif word in ("bsonType", "type") and (
            path in text_paths or "decimal" in (value if isinstance(value, list) else [value])
        ):
            left.append(f"{word} of {path}")
        elif word == "properties" and isinstance(value, Mapping):
            found = {name: inner(each, f"{path}.{name}" if path else name) for name, each in value.items()}
            kept[word] = {name: each for name, each in found.items() if each != {}}
        elif word in _OF_SCHEMAS:
            kept[word] = [inner(each, path) for each in value] if isinstance(value, list) else inner(value, path)
        elif word in _LISTS_OF_SCHEMAS and isinstance(value, list):
            kept[word] = [inner(each, path) for each in value]
            if word == "oneOf" and len(left) > before:
                # Of alternatives that lost their conditions several would take the same document.
                del kept[word]
                left.append(word)
        else:
            kept[word] = value
    return kept

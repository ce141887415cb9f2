"""Owns the JSON schema of what `--json` writes, from the functions that make it.

A key is described, and what it holds where that is known. Other keys are let through: under one version of the format
keys are added.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from brimline.report.document import FORMAT_VERSION
from brimline.spec.schema import DIALECT
from tools.reference.json_documents import Keys, keys_of
from tools.reference.json_keys import document_makers, documents, meaning_of

SCHEMA_FILE: Final = "python/brimline/report/result.schema.json"
_NUMBERS: Final = re.compile(r"_(ns|ops_per_s|bytes|share)$")
"""Units that keys end with; such a key holds a number, or several by place or by name."""

_Maker = Callable[..., Any] | type


def result_schema_text() -> str:
    """JSON Schema (draft 2020-12) of every document, as it is stored in the package."""
    names = {maker: re.sub(r"\W+", "_", title.lower()) for maker, title in documents().items()}
    schema = {
        "$schema": DIALECT,
        "title": "brimline result",
        "type": "object",
        "properties": {"format_version": {"const": FORMAT_VERSION}},
        "anyOf": [{"$ref": f"#/$defs/{names[maker]}"} for maker in document_makers()],
        "$defs": {name: _of_maker(maker, names) for maker, name in names.items()},
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _of_maker(maker: _Maker, names: dict[_Maker, str]) -> dict[str, Any]:
    keys = keys_of(maker)
    schema = _of_keys(keys, maker, names)
    said = keys.docstring.partition("\n\n")[0].replace("\n", " ")
    where = document_makers().get(maker)
    if where is not None:
        every = set(_all_keys(keys))
        schema["required"] = sorted({"format_version", "kind"} & every) or sorted(every)
    described = " ".join(filter(None, (said, f"{where}." if where else "")))
    return {"description": described, **schema} if described else schema


def _all_keys(keys: Keys) -> Iterator[str]:
    yield from keys.held
    for each in keys.also:
        yield from _all_keys(keys_of(each))


def _of_keys(keys: Keys, maker: _Maker, names: dict[_Maker, str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for name, held in keys.held.items():
        value = _of_value(name, held, maker, names)
        if "<" in name:
            pattern = "".join(".+" if part[:1] == "<" else re.escape(part) for part in re.split(r"(<\w+>)", name))
            schema.setdefault("patternProperties", {})[f"^{pattern}$"] = value
        else:
            schema.setdefault("properties", {})[name] = value
    if keys.also:
        schema["allOf"] = [{"$ref": f"#/$defs/{names[each]}"} for each in keys.also if each in names]
    return schema


def _of_value(name: str, held: list[Any], maker: _Maker, names: dict[_Maker, str]) -> dict[str, Any]:
    said = {"description": meaning} if (meaning := meaning_of(maker, name)) else {}
    if name == "format_version":
        return {**said, "const": FORMAT_VERSION}
    inner = list(_forms(held, maker, names))
    if inner:
        of_one = inner[0] if len(inner) == 1 else {"anyOf": inner}
        scalar = {"type": ["null", "string", "number", "boolean"]}
        return {**said, "anyOf": [of_one, {"type": "array", "items": {"anyOf": [of_one, scalar]}}, scalar]}
    return {**said, "type": ["number", "null", "array", "object"]} if _NUMBERS.search(name) else said


def _forms(held: list[Any], maker: _Maker, names: dict[_Maker, str]) -> Iterator[dict[str, Any]]:
    for each in held:
        if isinstance(each, Keys):
            yield _of_keys(each, maker, names)
        elif each in names:
            yield {"$ref": f"#/$defs/{names[each]}"}

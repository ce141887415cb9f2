"""Owns the page of a spec's keys: what the models of `brimline.spec` accept, with the docstring behind each field."""

import inspect
import json
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from brimline.spec import Spec
from brimline.spec.docstrings import docstrings_of_model
from tools.reference.markdown import code, page, plain, table

_TOP = "the top"
_EACH = "NAME"
"""Stands for the name that a user gives, as of a field of a template."""


def spec_page() -> str:
    """The text of the page."""
    places = _places()
    parts = [part for path, models in places.items() for part in _section(path, models, places)]
    return page(
        "Keys of a spec",
        "A spec is a YAML file. A key that is not on this page is an error, which names the line and the nearest key. "
        "[Workloads and data](../concepts/workloads-and-data.md) says what the figures mean.",
        *parts,
        source="python/brimline/spec",
    )


def undescribed() -> list[str]:
    """Keys without a docstring, as `Model.key`; there must be none."""
    models = {model for models in _places().values() for model in models}
    return sorted(
        f"{model.__name__}.{name}"
        for model in models
        for name in model.model_fields
        if name != "kind" and name not in docstrings_of_model(model)
    )


def _places() -> Mapping[str, list[type[BaseModel]]]:
    """Each place of a spec that has keys, and the models that may stand there; one model in one place only."""
    found: dict[str, list[type[BaseModel]]] = {_TOP: [Spec]}
    known: set[type[BaseModel]] = {Spec}
    waiting: list[tuple[str, type[BaseModel]]] = [(_TOP, Spec)]
    while waiting:
        place, model = waiting.pop(0)
        others = {f"{place}.{_EACH}": _others(model)} if _others(model) else {}
        fields = {
            _below(place, _key(name, each), each): _models(each.annotation) for name, each in model.model_fields.items()
        }
        for path, models in (fields | others).items():
            new = [each for each in models if each not in known]
            # Another kind of what has a place already stands with the others.
            path = next((place for place, there in found.items() if there[0] in models), path)
            if new:
                found.setdefault(path, []).extend(new)
                known.update(new)
                waiting.extend((path, each) for each in new)
    return found


def _below(place: str, key: str, field: FieldInfo) -> str:
    path = key if place == _TOP else f"{place}.{key}"
    return f"{path}.{_EACH}" if _maps_names(field.annotation) else path


def _section(path: str, models: list[type[BaseModel]], places: Mapping[str, list[type[BaseModel]]]) -> Iterator[str]:
    yield f"## {path[0].upper()}{path[1:]}" if path == _TOP else f"## {path}"
    kinds = [model for model in models if "kind" in model.model_fields and len(models) > 1]
    for model in models:
        if model in kinds:
            yield f"### {path}: {model.model_fields['kind'].default}"
        yield plain(inspect.getdoc(model) or "")
        rows = [
            _row(model, name, field, places)
            for name, field in model.model_fields.items()
            if (model not in kinds or name != "kind") and not field.exclude
        ]
        yield table(("Key", "Meaning", "Value", "Default"), rows)


def _row(
    model: type[BaseModel], name: str, field: FieldInfo, places: Mapping[str, list[type[BaseModel]]]
) -> tuple[str, str, str, str]:
    meaning = docstrings_of_model(model).get(name, "")
    return code(_key(name, field)), plain(meaning), _value(field, places), _default(field)


def _value(field: FieldInfo, places: Mapping[str, list[type[BaseModel]]]) -> str:
    inner = _models(field.annotation)
    if inner:
        path = next(path for path, models in places.items() if inner[0] in models)
        return f"[{path}](#{path.lower().replace('.', '')})"
    schema = TypeAdapter(_whole_type(field)).json_schema(mode="validation")
    return plain(_words(schema))


def _words(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_words(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"a list: {_words(schema.get('items', {}))}"
    bounds = [str(schema[key]) for key in ("minimum", "maximum") if key in schema]
    words = {"boolean": "`true` or `false`", "integer": "a whole number", "number": "a number", "string": "text"}
    return " ".join([words.get(str(schema.get("type")), "any value"), " to ".join(bounds)]).strip()


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None:
        return ""
    value = TypeAdapter(_whole_type(field)).dump_python(field.default, mode="json", by_alias=True)
    if isinstance(value, dict):
        value = {key: each for key, each in value.items() if each is not None}
        return f"`{{{', '.join(f'{key}: {each}' for key, each in value.items())}}}`" if value else ""
    return "" if value in (None, "", []) else code(value if isinstance(value, str) else json.dumps(value))


def _whole_type(field: FieldInfo) -> Any:
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def _key(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _others(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models of what has names of the user's own beside a model's fields."""
    given = get_args(model.__annotations__.get("__pydantic_extra__"))
    return _models(given[1]) if given else []


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models that a type may be, or a list or a mapping of it may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        arguments = arguments[:1]
    return list(dict.fromkeys(model for each in arguments for model in _models(each)))


def _maps_names(annotation: Any) -> bool:
    """Whether a user gives names to what the type holds."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Union, UnionType):
        return any(_maps_names(each) for each in arguments)
    return origin is dict and bool(_models(arguments[1]))

"""Owns the translation of a failed check into a `SpecError`: where, what, and what was probably meant."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from brimline.errors import SpecError
from brimline.operations import KINDS
from brimline.spec.data import TEMPLATE_TAG
from brimline.spec.document import Path, dotted, located
from brimline.spec.generators import Value
from brimline.spec.model import Spec
from brimline.spec.operations import OWN_TAG, SHARES_TAG
from brimline.spec.own.collections import EXISTING, SHAPE_TAG
from brimline.spec.readers import shown
from brimline.spec.slo import LIMIT_TAG, OBJECTIVE_TAG
from brimline.spec.validation import in_words

# What other tools call things, and slips that no spelling distance finds.
_SYNONYMS: Mapping[str, str] = {
    "recordcount": "data.records",
    "record_count": "data.records",
    "documents": "data.records",
    "fieldcount": "data.fields",
    "fieldlength": "data.field_length",
    "insertorder": "data.insert_order",
    "table": "data.collection",
    "db": "data.database",
    "namespace": "data.database",
    "mix": "operations",
    "workload": "operations",
    "proportions": "operations",
    **{word: f"operations.{kind.name}" for kind in KINDS.values() for word in kind.also_called},
    "distribution": "keys",
    "requestdistribution": "keys",
    "operationcount": "operation_count",
    "count": "operation_count",
    "clients": "connections",
    "concurrency": "connections",
    "workers": "connections",
    "threadcount": "connections",
    "time": "duration",
    "maxexecutiontime": "duration",
    "ramp_up": "load.ramp_up",
    "loops": "load.loops",
    "think_time": "load.think_time",
    "rate": "load.rate",
    "stages": "load.stages",
    "timeout": "operation_timeout",
    "pacer": "load",
    "skew": "keys.theta",
    "p99": "slo.response_p99",
    "errors": "slo.error_rate",
    **{f"p{percent}": f"slo.response_p{percent}" for percent in (50, 75, 90, 95, 98, "99.9", "99.99")},
    "p999": "slo.response_p99.9",
    "p9999": "slo.response_p99.99",
    "uri": "target.uri",
    "url": "target.uri",
    "host": "target.uri",
    "j": "target.write_concern.journal",
}


_TAGS = (TEMPLATE_TAG, SHAPE_TAG, EXISTING, OWN_TAG, SHARES_TAG, LIMIT_TAG, OBJECTIVE_TAG)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written: the file ("" for the command line), the line, the key as written there."""

    source: str
    line: int | None
    path: Path


def spec_error(
    error: ValidationError,
    values: Mapping[str, Any],
    place_of: Callable[[Path], Place],
) -> SpecError:
    """The first problem of `error`, by line; a missing key comes last, as it may be there under a wrong name.

    `values` is what was checked, `place_of` where it stands.
    """
    problems = [(_path_in(values, details), details) for details in error.errors(include_url=False)]
    path, details = min(
        problems,
        key=lambda problem: (
            problem[1]["type"] == "missing",
            place_of(problem[0]).line or 0,
            len(problem[0]),
        ),
    )
    message, hint = _describe(path, details)
    hint = hint or "docs/reference/spec.md says what each key takes"
    place = place_of(path)
    text = located(message, place.source, place.line, place.path)
    return SpecError(text, path=dotted(place.path), line=place.line, hint=hint)


def _path_in(values: Mapping[str, Any], details: ErrorDetails) -> Path:
    """The path as the user wrote it: pydantic also names the branch of a union, which is no key."""
    path: list[str | int] = []
    value: Any = values
    is_missing = details["type"] == "missing"
    loc = details["loc"]
    for number, part in enumerate(loc, start=1):
        if isinstance(value, Sequence) and not isinstance(value, str) and isinstance(part, int):
            path.append(part)
            value = value[part]
        elif not isinstance(value, Mapping):
            # A short form: what is inside it was not written, unless it is a key that should have been.
            if is_missing and number == len(loc):
                path.append(part)
        elif value.get("kind") == part and loc[number : number + 1] == (part,):
            # The branch before a key of the same name: `stages` of `kind: stages`.
            continue
        elif "kind" not in value and isinstance(value.get("key_of"), str) and part in ("key_of", "of"):
            # The branch of the short form `{key_of: customers}`, and what the long one calls its value.
            path += ["key_of"] if part == "of" or details["type"] == "own" else []
        elif part in value:
            path.append(part)
            value = value[part]
        elif value.get("kind") != part and part not in _TAGS:
            path.append(part)
    return tuple(path)


def _describe(path: Path, details: ErrorDetails) -> tuple[str, str | None]:
    kind, given = details["type"], details["input"]
    match kind:
        case "extra_forbidden":
            return "unknown key", _suggest(path, branch=str((None, *details["loc"])[-2]))
        case "missing":
            return "is missing", _EXAMPLES.get(dotted(path), f"add {path[-1]}")
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"must be a mapping, not {shown(given)}", f"known keys: {', '.join(_keys_at(path))}"
        case "tuple_type" | "list_type":
            return f"must be a list, not {shown(given)}", _EXAMPLES.get(dotted(path), "write it like [first, second]")
        case "bool_type":
            return f"must be true or false, not {shown(given)}", f"write {path[-1]}: true or {path[-1]}: false"
        case "union_tag_not_found":
            kinds = _tags(details)
            return "needs a kind", f"add kind: {kinds[0]}" if len(kinds) == 1 else f"kinds: {', '.join(kinds)}"
        case "union_tag_invalid" | "literal_error":
            return _describe_choice(details)
        case _:
            return in_words(details)


def _describe_choice(details: ErrorDetails) -> tuple[str, str]:
    """A word that is none of a few."""
    if details["type"] == "union_tag_invalid":
        # What pydantic hands over as the tag is text already, also of a list.
        given, what, choices = _given_kind(details), "kind", _tags(details)
    else:
        given, what, choices = details["input"], "value", _quoted(details["ctx"]["expected"])
    nearest = difflib.get_close_matches(str(given).lower(), choices, n=1)
    hint = f"{what}s: {', '.join(choices)}"
    return f"{shown(given)} is no known {what}", f'did you mean "{nearest[0]}"; {hint}' if nearest else hint


def _given_kind(details: ErrorDetails) -> Any:
    given = details["input"]
    return given.get("kind", details["ctx"]["tag"]) if isinstance(given, Mapping) else details["ctx"]["tag"]


def _tags(details: ErrorDetails) -> list[str]:
    expected = details.get("ctx", {}).get("expected_tags")
    return _quoted(expected) if expected else list(_kinds_at(details))


def _quoted(text: str) -> list[str]:
    return text.split("'")[1::2]


def _kinds_at(details: ErrorDetails) -> Iterator[str]:
    for model in _models(_annotation(tuple(details["loc"]))):
        yield str(model.model_fields["kind"].default)


_EXAMPLES = {
    "data": "add data: {records: 100k}",
    "data.records": "say how many documents there are: records: 100k",
    "operations": "add operations: {read: 0.5, update: 0.5}",
    "load.rate": "add rate: 5000/s",
    "load.stages": "give stages such as [{rate: 5000/s, for: 10s}]",
    "target.uri": "add uri: mongodb://localhost:27017",
}


def _suggest(path: Path, *, branch: str) -> str:
    """What an unknown key probably means: a near name, the same one elsewhere, or another tool's word.

    `branch`: the kind that was written, where the keys are those of several kinds.
    """
    wrong = str(path[-1])
    siblings = _keys_at(path[:-1])
    if wrong[:1].isdigit():
        return "digits are grouped by _, not by commas: 1_000"
    if wrong in siblings:
        belongs = f"{wrong} belongs to kind: {' or '.join(_kinds_with(wrong, path[:-1]))}"
        taken = _keys_of_kind(branch, path[:-1])
        return f"{belongs}; {branch} takes {', '.join(taken)}" if taken else belongs
    folded = wrong.lower().replace("-", "_").replace(" ", "_")
    near = difflib.get_close_matches(folded, siblings, n=1, cutoff=0.75)
    if near:
        return f'did you mean "{near[0]}"'
    elsewhere = [known for known in _known_paths() if known.rpartition(".")[2] == folded]
    if not elsewhere and folded in _SYNONYMS:
        elsewhere = [_SYNONYMS[folded]]
    known = f"known keys: {', '.join(siblings)}"
    if wrong in elsewhere:
        return f"{wrong} belongs at the top; {known}"
    if elsewhere:
        return f'did you mean "{elsewhere[0]}"'
    near = difflib.get_close_matches(folded, siblings, n=1)
    return f'did you mean "{near[0]}"; {known}' if near else known


def _known_paths() -> list[str]:
    def walk(model: type[BaseModel], prefix: str) -> Iterator[str]:
        for name, child in _children(model).items():
            yield f"{prefix}{name}"
            # What is inside a template's fields, or a collection, has no one place.
            for part in _models(child) if name not in ("fields", "collections") else ():
                yield from walk(part, f"{prefix}{name}.")

    return list(dict.fromkeys(walk(Spec, "")))


def _keys_at(path: Path) -> list[str]:
    """Every key that can stand at `path`, over all branches of a union."""
    return list(dict.fromkeys(name for model in _models(_annotation(path)) for name in _children(model)))


def _kinds_with(key: str, path: Path) -> list[str]:
    models = [model for model in _models(_annotation(path)) if key in _children(model)]
    return [str(model.model_fields["kind"].default) for model in models]


def _keys_of_kind(kind: str, path: Path) -> list[str]:
    kinds = (model for model in _models(_annotation(path)) if "kind" in model.model_fields)
    found = next((model for model in kinds if model.model_fields["kind"].default == kind), None)
    return [] if found is None else [name for name in _children(found) if name != "kind"]


def _annotation(path: Path) -> Any:
    annotation: Any = Spec
    for number, part in enumerate(path):
        if part == "$value" or (path[0] == "values" and number == 1):
            annotation = Value
            continue
        models = _models(annotation)
        children = [_children(model) for model in models]
        # What a model takes beside its fields has names of the person's own.
        others = next((each for model in models if (each := _others(model)) is not None), annotation)
        annotation = next((known[str(part)] for known in children if str(part) in known), others)
    return annotation


def _others(model: type[BaseModel]) -> Any:
    """The type of what a model takes beside its fields, where it is a model."""
    given = get_args(model.__annotations__.get("__pydantic_extra__"))
    return given[1] if given and _models(given[1]) else None


def _children(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items() if not field.exclude}


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models that a type may be: itself, or the branches of a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) is None:
        return []
    origin, arguments = get_origin(annotation), get_args(annotation)
    is_union = origin in (Union, UnionType)
    # Of a mapping the values, of anything else, such as an annotated type or a list, what is annotated or listed.
    parts = arguments if is_union else arguments[1:] if origin is dict else arguments[:1]
    return [model for part in parts for model in _models(part)]

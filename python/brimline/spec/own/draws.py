"""Owns forms that draw: generators, keys and records of collections, choices."""

from typing import Any, Final, get_args

from pydantic import TypeAdapter

from brimline.spec import fields, generators
from brimline.spec.document import Path
from brimline.spec.keys import Keys, ZipfianKeys
from brimline.spec.own.expressions import Scope, read_expression
from brimline.spec.own.forms import Form, Forms, KeyOf, validated
from brimline.spec.own.keys import check_keys
from brimline.spec.own.nodes import Node, constant
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown

_GENERATORS: Final[dict[str, Any]] = {
    model.model_fields["kind"].default: model for model in get_args(get_args(generators.Value)[0])
}
_GENERATOR: Final[TypeAdapter[Any]] = TypeAdapter(generators.Value)
_KEYS: Final[TypeAdapter[Keys]] = TypeAdapter(Keys)
_THETA: Final[TypeAdapter[float]] = TypeAdapter(fields.Theta)
_GENERATOR_TYPES: Final = {
    "int": "int",
    "long": "long",
    "sequence": "long",
    "double": "double",
    "decimal": "decimal",
    "boolean": "boolean",
    "date": "date",
    "clock": "date",
    "string": "text",
    "text": "text",
    "fake": "text",
    "binary": "binary",
    "uuid": "binary",
    "object_id": "object_id",
    "point": "document",
    "document": "document",
    "array": "list",
}


def generator(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A generator of documents."""
    made = validated(_GENERATOR, value, path)
    forms.check_collections(made, path)
    return Node({"kind": "generator", "spec": made}, _generated_type(made))


def _generated_type(made: Any) -> str | None:
    if made.kind == "constant":
        return constant(made.value).type
    if made.kind == "normal":
        return str(made.type)
    return _GENERATOR_TYPES.get(made.kind)


def key_of(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """The key of a loaded record, under a law of popularity."""
    check_keys(value, path, ("key_of", "keys"))
    forms.shape(value["key_of"], (*path, "key_of"))
    keys = validated(_KEYS, value["keys"], (*path, "keys")) if "keys" in value else ZipfianKeys()
    if keys.kind == "latest":
        hint = f"write {{latest_key_of: {value['key_of']}, theta: {keys.theta:g}}}"
        raise Problem((*path, "keys"), "latest is about records that the run inserts too", hint)
    return Node({"kind": "generator", "spec": KeyOf(forms.shapes[value["key_of"]], keys)}, "text")


def new(kind: str, made: str) -> "Form":
    """The reader of what the next record beyond those loaded has: `kind` of the plan, and the type that it makes."""

    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
        key = f"{kind}_of"
        check_keys(value, path, (key,))
        return Node({"kind": kind, "collection": forms.shape(value[key], (*path, key))}, made)

    return read


def latest_key_of(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """The key of one of the newest records."""
    check_keys(value, path, ("latest_key_of", "theta"))
    place = forms.shape(value["latest_key_of"], (*path, "latest_key_of"))
    theta = validated(_THETA, value.get("theta", 0.99), (*path, "theta"))
    return Node({"kind": "latest_key", "collection": place, "theta": theta}, "text")


def one_of(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """One of a list of values, some perhaps more often."""
    check_keys(value, path, ("one_of",))
    path, given = (*path, "one_of"), value["one_of"]
    if not isinstance(given, list) or not given:
        raise Problem(path, "must be a list with a value", "write one_of: [a, b] or [{value: a, weight: 3}]")
    weighted = all(isinstance(each, dict) and "value" in each and set(each) <= {"value", "weight"} for each in given)
    if not weighted and any(isinstance(each, dict) and set(each) == {"value", "weight"} for each in given):
        raise Problem(path, "has a weight for some of its values only", "write each as {value: a, weight: 1}")
    pairs: list[tuple[Node, float]] = []
    for number, each in enumerate(given):
        at = (*path, number)
        weight = each.get("weight", 1) if weighted else 1
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1e15:
            raise Problem((*at, "weight"), f"must be a number from 0 on, not {shown(weight)}", "write weight: 3")
        node = read_expression(each["value"], (*at, "value"), scope) if weighted else read_expression(each, at, scope)
        pairs.append((node, float(weight)))
    if not any(weight for _, weight in pairs):
        raise Problem(path, "needs a weight above 0", "write weight: 1")
    kinds = {node.type for node, _ in pairs}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    return Node({"kind": "one_of", "values": [[node.plan, weight] for node, weight in pairs]}, kind)


def looks_like_form(value: dict[Any, Any]) -> bool:
    """Whether a document in a step was probably meant as a value: all that it says is what a form says."""
    first = next(iter(value), "")
    if first in ("key_of", "new_key_of", "new_record_of", "latest_key_of"):
        return set(value) <= {first, "keys", "theta"}
    made = _GENERATORS.get(str(value[first])) if first == "kind" else None
    return made is not None and set(value) <= {field.alias or name for name, field in made.model_fields.items()}

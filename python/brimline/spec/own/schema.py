"""Owns the JSON schema of operations of one's own, for editors that complete and check YAML."""

from typing import Any, Final

from brimline.spec.own import options as read
from brimline.spec.own.options import Option
from brimline.spec.own.protocols import FORMS, STEPS
from brimline.spec.own.step_kind import StepKind
from brimline.units import PATTERNS

_TYPES: Final[dict[Any, Any]] = {
    read.a_flag: "boolean",
    read.a_pipeline: ["array", "string"],
    read.a_list: ["array", "string"],
    read.an_update: ["object", "array", "string"],
    read.a_document: ["object", "string"],
    read.a_filter: ["object", "string"],
    read.a_replacement: ["object", "string"],
    read.a_time_limit: "string",
}
"""Types in YAML by how an option is read; a value is text, such as `$customer`. What isn't here may be anything."""
_STEP: Final = "Step"
"""What a step is called among the definitions."""
_STEPS: Final = {
    "type": "array",
    "description": "one step after the other",
    "minItems": 1,
    "items": {"$ref": f"#/$defs/{_STEP}"},
}
_FORM: Final = {"type": "object", "properties": {"steps": _STEPS}}
_OTHERS: Final[dict[str, Any]] = {"transaction": {**_FORM, **_STEPS, "type": ["object", "array"]}}
_BESIDE: Final = {
    "name": {"type": "string", "description": "what reports call the step"},
    "save": {"type": ["object", "string"], "description": "names, each with a path in the reply"},
    "expect": {"type": "object", "description": "what the reply must say, such as {documents: 1} or {status: 200}"},
    "think_time": {
        "type": ["string", "object"],
        "description": "pause before the step, such as 20ms",
        "pattern": PATTERNS["duration"],
    },
}


def operation_properties() -> dict[str, Any]:
    """What an operation may say beside its share and load: one step, or `steps`."""
    step = step_properties()
    forms: dict[str, Any] = {
        name: {**_FORM, "description": f"the same work as {STEPS[name].several}, beside other forms"} for name in FORMS
    }
    return {
        **step,
        **forms,
        "sql": {"description": forms["sql"]["description"], "anyOf": [step["sql"], forms["sql"]]},
        "steps": _STEPS,
    }


def add_steps(definitions: dict[str, Any]) -> None:
    """Adds to the definitions of a spec's schema what a step is, and to an operation what it does."""
    kinds = dict.fromkeys(name for protocol in FORMS for name in STEPS[protocol].names)
    definitions[_STEP] = {
        "type": "object",
        "properties": step_properties(),
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in (*kinds, "think_time")],
    }
    operation = definitions["OwnOperation"]
    operation["properties"] |= operation_properties()
    operation["additionalProperties"] = False
    operation["anyOf"] = [{"required": [name]} for name in dict.fromkeys((*kinds, "steps", *FORMS))]


def step_properties() -> dict[str, Any]:
    """What a step may say."""
    others: dict[str, Any] = {
        name: {"description": words, **_OTHERS.get(name, {})}
        for steps in STEPS.values()
        for name, words in steps.others.items()
    }
    command = {
        "database": {"type": "string", "description": "the database of a command"},
        "access": {"enum": ["read", "write", "command"], "description": "where a command goes"},
        "cursor": {"type": "boolean", "description": "whether the reply of a command has a cursor"},
    }
    kinds: dict[str, Any] = {}
    for steps in STEPS.values():
        for kind in steps.kinds.values():
            kinds[kind.name] = _either(kinds.get(kind.name), _kind(kind))
    return {**kinds, **others, **_BESIDE, **command}


def _either(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    """What two protocols call the same, such as `delete`."""
    if one is None:
        return other
    return {
        "type": ["object", "string"],
        "description": f"{one['description']} {other['description']}",
        "properties": {**one["properties"], **other["properties"]},
        "additionalProperties": False,
    }


def _kind(kind: StepKind) -> dict[str, Any]:
    made_from = {name: {"description": words} for name, words in kind.made_from.items()}
    if kind.request is not None:
        return {
            "type": ["object", "string"],
            "description": kind.words,
            "properties": made_from,
            "required": list(kind.required),
            "additionalProperties": False,
        }
    options = {option.name: _option(option) for option in kind.all_options}
    return {
        "type": "object",
        "description": kind.words,
        "properties": {"collection": {"type": "string"}, **made_from, **options},
        "required": ["collection", *kind.required],
        "additionalProperties": False,
    }


def _option(option: Option) -> dict[str, Any]:
    kind = _TYPES.get(option.read)
    return {"description": option.words, **({} if kind is None else {"type": kind})}

"""Owns what a step does with its reply: `expect`, which makes a wrong one a failure, and `save`."""

from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.expressions import BUILT_IN, Scope, read_expression
from brimline.spec.own.keys import check_keys, mapping
from brimline.spec.own.nodes import Node
from brimline.spec.own.patterns import read_pattern
from brimline.spec.own.problems import Problem
from brimline.spec.own.step_kind import StepKind
from brimline.spec.readers import shown

EXPECT_EXAMPLE: Final = "{documents: 1}"
_SAVE_EXAMPLE: Final = "{city: address.city}"


def read_expect(value: Any, path: Path, scope: Scope, kind: StepKind | None) -> list[dict[str, Any]]:
    """What a reply must say. `kind` is None for a command of any kind."""
    given = mapping(value, path, EXPECT_EXAMPLE)
    known = _expectable(kind)
    check_keys(given, path, (*known, "fields"))
    made = []
    for name, wanted in given.items():
        if name == "fields":
            fields = mapping(wanted, (*path, name), "{status: open}")
            made += [_field(each, (*path, name, field), scope, field, kind) for field, each in fields.items()]
        else:
            made.append({"what": known[name], **read_bounds(wanted, (*path, name))})
    return made


def _expectable(kind: StepKind | None) -> dict[str, str]:
    """What may be counted, as a step says it and as the plan does."""
    known = {}
    if kind is None or kind.has_cursor:
        known["documents"] = "documents"
    if kind is None or kind.counted is not None:
        known["n"] = "n"
    if kind is not None and kind.counted is not None:
        known[kind.counted] = "n"
    if kind is not None and kind.counts_modified:
        known["modified"] = "modified"
    return known


def read_bounds(wanted: Any, path: Path) -> dict[str, Any]:
    """How many there must be: a number, or {min, max}."""
    if isinstance(wanted, dict):
        check_keys(wanted, path, ("min", "max"))
        bounds = {name: _count(each, (*path, name)) for name, each in wanted.items()}
        if not bounds:
            raise Problem(path, "says nothing", "write {min: 1}")
        if bounds.get("min", 0) > bounds.get("max", bounds.get("min", 0)):
            raise Problem(path, "min is above max", "exchange them")
        return bounds
    number = _count(wanted, path)
    return {"min": number, "max": number}


def _count(value: Any, path: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Problem(path, f"must be a number from 0 on, not {shown(value)}", "write 1, or {min: 1}")
    return value


def _field(wanted: Any, path: Path, scope: Scope, field: str, kind: StepKind | None) -> dict[str, Any]:
    made = {"what": "field", "path": [*_first_document(kind), *reply_path(field, path, _SAVE_EXAMPLE)]}
    return {**made, **read_wanted(wanted, path, scope, has_texts=False)}


def read_wanted(
    wanted: Any, path: Path, scope: Scope, *, has_bounds: bool = True, has_texts: bool = True
) -> dict[str, Any]:
    """What a field must be: a value, within {min, max}, or text that {contains} something or {matches}."""
    keys = set(wanted) if isinstance(wanted, dict) else set()
    if has_bounds and keys and keys <= {"min", "max"}:
        for name, each in wanted.items():
            if isinstance(each, bool) or not isinstance(each, int | float):
                raise Problem((*path, name), f"must be a number, not {shown(each)}", "write {min: 1}")
        return dict(wanted)
    if has_texts and keys and keys <= {"contains", "matches"}:
        made = {}
        if "matches" in wanted:
            made["matches"] = read_pattern(wanted["matches"], (*path, "matches"))
        if "contains" in wanted:
            text = wanted["contains"]
            if not isinstance(text, str) or not text:
                raise Problem((*path, "contains"), f"must be text, not {shown(text)}", "write {contains: open}")
            made["contains"] = text
        return made
    node = read_expression(wanted, path, scope)
    return {"equals": node.plan["hex"]} if node.is_constant else {"value": node.plan}


def _first_document(kind: StepKind | None) -> tuple[str, ...]:
    """Where a reply has its first document, or what a path is one of."""
    if kind is None:
        return ()
    return ("cursor", "firstBatch", "0") if kind.has_cursor else kind.document_at


def read_constant(value: Any, path: Path, scope: Scope, what: str) -> Node:
    """A value that is the same in every operation; `what` begins the sentence that says so."""
    node = read_expression(value, path, scope)
    if not node.is_constant:
        raise Problem(path, f"{what} with a constant", "write the constant itself")
    return node


def reply_path(text: Any, path: Path, example: str) -> list[str]:
    """The parts of a path in a reply."""
    if not isinstance(text, str) or not text or not all(text.split(".")):
        raise Problem(path, f"must be a path such as address.city, not {shown(text)}", f"write save: {example}")
    if text.startswith("$"):
        raise Problem(path, f"{shown(text)} begins with $, and a path of a reply doesn't", f"write {text.lstrip('$')}")
    return text.split(".")


def saved_names(step: Any) -> list[str]:
    """The names that a step saves, before it is read."""
    save = step.get("save") if isinstance(step, dict) else None
    return [name for name in save if isinstance(name, str)] if isinstance(save, dict) else []


def read_save(
    value: Any, path: Path, scope: Scope, kind: StepKind | None, slots: dict[str, int]
) -> list[dict[str, Any]]:
    """What is kept of a reply: of its first document where it has a cursor, else of itself."""
    made = []
    for name, given in mapping(value, path, _SAVE_EXAMPLE).items():
        at = (*path, name)
        new_name(name, at, scope)
        made.append({"slot": slots[name], **_saved(given, at, scope, kind)})
        scope.saved[name] = slots[name]
    return made


def new_name(name: str, path: Path, scope: Scope) -> None:
    """Refuses what can't name a value that is saved. Raises Problem."""
    if not name.replace("_", "a").isalnum() or name[:1].isdigit():
        raise Problem(path, f"{shown(name)} can't name a value", "take letters, digits and _, a letter first")
    if name in BUILT_IN:
        raise Problem(path, f"${name} is built in", f"save it under another name: my_{name}")
    if name in scope.names:
        raise Problem(path, f"${name} is one of the values already", "save it under another name")


def _saved(given: Any, path: Path, scope: Scope, kind: StepKind | None) -> dict[str, Any]:
    has_documents = kind is not None and kind.has_cursor
    source, default, text = ("document" if has_documents else "reply"), None, given
    if isinstance(given, dict):
        check_keys(given, path, ("path", "from", "default"), required=("path",))
        text = given["path"]
        if "default" in given:
            default = read_constant(given["default"], (*path, "default"), scope, "what is missing is replaced").plan[
                "hex"
            ]
        if "from" in given:
            if given["from"] not in ("document", "reply"):
                raise Problem((*path, "from"), f"{shown(given['from'])} is no known value", "values: document, reply")
            source = given["from"]
    parts = reply_path(text, (*path, "path") if isinstance(given, dict) else path, _SAVE_EXAMPLE)
    at = kind.document_at if kind is not None and "from" not in (given if isinstance(given, dict) else {}) else ()
    return {"path": [*at, *parts], "from": source, "default": default}

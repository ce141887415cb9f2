"""Owns what a step of SQL does with its reply: `expect` of rows, counts and columns, and `save`."""

from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope
from brimline.spec.own.keys import check_keys, mapping
from brimline.spec.own.patterns import read_pattern
from brimline.spec.own.problems import Problem
from brimline.spec.own.replies import new_name, read_bounds, read_constant, read_wanted, reply_path
from brimline.spec.own.step_kind import StepKind
from brimline.spec.readers import shown

_COUNTS: Final = {"rows": "documents", "affected": "n"}
"""What may be counted, as a step says it and as the plan does."""
_FROM: Final = {"row": "document", "reply": "reply"}
_SAVE_EXAMPLE: Final = "{total: total}"


def read_sql_expect(value: Any, path: Path, scope: Scope, kind: StepKind | None) -> list[dict[str, Any]]:  # noqa: ARG001
    """What a reply must say: how many rows it has or changed, and columns of its first row."""
    given = mapping(value, path, "{rows: 1, fields: {state: open}}")
    check_keys(given, path, (*_COUNTS, "fields"))
    made = []
    for name, wanted in given.items():
        if name != "fields":
            made.append({"what": _COUNTS[name], **read_bounds(wanted, (*path, name))})
            continue
        for field, each in mapping(wanted, (*path, name), "{state: open}").items():
            at = (*path, name, field)
            where = ["rows", "0", *reply_path(field, at, _SAVE_EXAMPLE)]
            made.append({"what": "field", "path": where, **read_wanted(each, at, scope)})
    return made


def read_sql_save(
    value: Any,
    path: Path,
    scope: Scope,
    kind: StepKind | None,  # noqa: ARG001
    slots: dict[str, int],
) -> list[dict[str, Any]]:
    """What is kept of a reply: columns of its first row, or with `from: reply` how many rows it changed."""
    made = []
    for name, given in mapping(value, path, _SAVE_EXAMPLE).items():
        at = (*path, name)
        new_name(name, at, scope)
        made.append({"slot": slots[name], **_saved(given, at, scope)})
        scope.saved[name] = slots[name]
    return made


def _saved(given: Any, path: Path, scope: Scope) -> dict[str, Any]:
    if not isinstance(given, dict):
        return {"path": reply_path(given, path, _SAVE_EXAMPLE), "from": "document", "default": None}
    check_keys(given, path, ("path", "from", "pattern", "default"), required=("path",))
    source = given.get("from", "row")
    if not isinstance(source, str) or source not in _FROM:
        raise Problem((*path, "from"), f"{shown(source)} is no known value", "values: row, reply")
    parts = reply_path(given["path"], (*path, "path"), _SAVE_EXAMPLE)
    if source == "reply" and parts not in (["affected"], ["n"]):
        hint = "write affected, or n for how many rows came"
        raise Problem((*path, "path"), f"{shown(given['path'])} is nothing that a reply says", hint)
    made = {"path": parts, "from": _FROM[source], "default": None}
    if "default" in given:
        node = read_constant(given["default"], (*path, "default"), scope, "what is missing is replaced")
        made["default"] = node.plan["hex"]
    if "pattern" in given:
        made["pattern"] = read_pattern(given["pattern"], (*path, "pattern"), needs_group=True)
    return made

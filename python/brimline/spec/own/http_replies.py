"""Owns what a step of HTTP does with its reply: `expect` of status, headers, JSON and text, and `save`."""

from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope
from brimline.spec.own.keys import check_keys, mapping
from brimline.spec.own.patterns import read_pattern
from brimline.spec.own.problems import Problem
from brimline.spec.own.replies import new_name, read_constant, read_wanted, reply_path
from brimline.spec.own.step_kind import StepKind
from brimline.spec.own.templates import plain_text
from brimline.spec.readers import shown

ANY_STATUS: Final = (200, 399)
"""What is no failure where a step says no status, both ends included."""
_EXPECTED: Final = ("status", "headers", "json", "text")
_SOURCES: Final = ("json", "headers", "text", "status")
_SAVE_EXAMPLE: Final = "{id: json.id}"


def read_status(expect: Any, path: Path) -> list[list[int]]:
    """Which status is no failure: 200 to 399 where a step doesn't say."""
    if not isinstance(expect, dict) or "status" not in expect:
        return [list(ANY_STATUS)]
    at, given = (*path, "status"), expect["status"]
    if isinstance(given, dict):
        check_keys(given, at, ("min", "max"))
        low, high = (_status(given.get(name, other), (*at, name)) for name, other in (("min", 100), ("max", 599)))
        if not given or low > high:
            raise Problem(at, "has no status within its bounds", "write {min: 200, max: 299}")
        return [[low, high]]
    several = given if isinstance(given, list) else [given]
    if not several:
        raise Problem(at, "says nothing", "write status: 200, or [200, 404]")
    return [_range(each, (*at, number) if isinstance(given, list) else at) for number, each in enumerate(several)]


def _range(value: Any, path: Path) -> list[int]:
    """One status, or a class of them such as 2xx."""
    if isinstance(value, str) and len(value) == 3 and value[0] in "12345" and value[1:].lower() == "xx":
        return [int(value[0]) * 100, int(value[0]) * 100 + 99]
    status = _status(value, path)
    return [status, status]


def _status(value: Any, path: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 599:
        raise Problem(path, f"must be a status from 100 to 599, not {shown(value)}", "write status: 200, or 2xx")
    return value


def read_http_expect(value: Any, path: Path, scope: Scope, kind: StepKind | None) -> list[dict[str, Any]]:
    """What a reply must say, its status left out, which belongs to the request."""
    given = mapping(value, path, "{status: 200, json: {state: open}}")
    check_keys(given, path, _EXPECTED)
    head = kind is not None and kind.command == "HEAD"
    made = []
    for name, wanted in given.items():
        at = (*path, name)
        if head and name in ("json", "text"):
            raise Problem(at, "is of a body, and head brings none", "write get")
        if name == "text":
            made.append({"what": "field", "path": ["text"], **read_wanted(wanted, at, scope, has_bounds=False)})
        elif name == "headers":
            for header, each in mapping(wanted, at, "{content-type: {contains: json}}").items():
                # What a header says is text, also a number.
                said = plain_text(each, (*at, header)) if isinstance(each, bool | int | float) else each
                what = read_wanted(said, (*at, header), scope, has_bounds=False)
                made.append({"what": "field", "path": ["headers", header.lower()], **what})
        elif name == "json":
            for field, each in mapping(wanted, at, "{state: open}").items():
                where = ["json", *reply_path(field, (*at, field), _SAVE_EXAMPLE)]
                made.append({"what": "field", "path": where, **read_wanted(each, (*at, field), scope)})
    return made


def read_http_save(
    value: Any,
    path: Path,
    scope: Scope,
    kind: StepKind | None,
    slots: dict[str, int],
) -> list[dict[str, Any]]:
    """What is kept of a reply: of its JSON, its headers, its text or its status."""
    made = []
    for name, given in mapping(value, path, _SAVE_EXAMPLE).items():
        at = (*path, name)
        new_name(name, at, scope)
        saved = _saved(given, at, scope)
        if kind is not None and kind.command == "HEAD" and saved["path"][0] in ("json", "text"):
            raise Problem(at, "is of a body, and head brings none", "write get")
        made.append({"slot": slots[name], **saved})
        scope.saved[name] = slots[name]
    return made


def _saved(given: Any, path: Path, scope: Scope) -> dict[str, Any]:
    if not isinstance(given, dict):
        return {"path": _source(given, path), "from": "reply", "default": None}
    sources = [name for name in given if name in ("path", *_SOURCES)]
    check_keys(given, path, ("path", *_SOURCES, "pattern", "default"))
    if not sources:
        raise Problem((*path, "json"), "is missing", "write {json: id}, {headers: etag} or {text: 'id=([0-9]+)'}")
    if len(sources) > 1:
        raise Problem((*path, sources[1]), f"has no place beside {sources[0]}", "leave one of them out")
    made: dict[str, Any] = {"from": "reply", "default": None}
    if "default" in given:
        made["default"] = read_constant(
            given["default"], (*path, "default"), scope, "what is missing is replaced"
        ).plan["hex"]
    source, at = sources[0], (*path, sources[0])
    if source == "text":
        if "pattern" in given:
            raise Problem((*path, "pattern"), "has no place beside text, which is one", "leave one of them out")
        return {**made, "path": ["text"], "pattern": read_pattern(given["text"], at, needs_group=True)}
    if source == "path":
        made["path"] = _source(given["path"], at)
    elif source == "status":
        raise Problem(at, "is a number that stands alone", "write save: {code: status}")
    elif source == "headers":
        if not isinstance(given[source], str) or not given[source]:
            raise Problem(at, f"must name a header, not {shown(given[source])}", "write {headers: etag}")
        made["path"] = ["headers", given[source].lower()]
    else:
        made["path"] = ["json", *reply_path(given[source], at, _SAVE_EXAMPLE)]
    if "pattern" in given:
        made["pattern"] = read_pattern(given["pattern"], (*path, "pattern"), needs_group=True)
    return made


def _source(text: Any, path: Path) -> list[str]:
    """`json.id`, `headers.etag`, `text` or `status`: where it is in what a reply is shown as."""
    parts = reply_path(text, path, _SAVE_EXAMPLE)
    first, rest = parts[0], parts[1:]
    if first in ("json", "text", "status"):
        if first != "json" and rest:
            raise Problem(path, f"{first} has no fields", f"write {first}, or {{text: 'id=([0-9]+)'}}")
        return parts
    if first == "headers" and rest:
        return ["headers", ".".join(rest).lower()]
    hint = f"write json.{text}, headers.NAME, text or status"
    raise Problem(path, f"{shown(text)} is no place in a reply", hint)

"""Owns the steps of HTTP: the table of its kinds, and how each is read into a request."""

import re
from typing import Any, Final
from urllib.parse import quote

from brimline.spec.document import Path
from brimline.spec.own.headers import TOKEN, check_header_name
from brimline.spec.own.http_replies import read_status
from brimline.spec.own.keys import check_keys, mapping
from brimline.spec.own.problems import Problem
from brimline.spec.own.step_kind import Access, Requested, StepKind, Surroundings, refuse_beside
from brimline.spec.own.templates import (
    Pieces,
    Plain,
    Slots,
    add_json,
    add_template,
    encoded,
    parse,
    plain_text,
    referred,
)
from brimline.spec.readers import shown

_READING_METHODS: Final = ("GET", "HEAD", "OPTIONS", "TRACE")
_METHOD_LENGTH_MAX: Final = 32
_SECRETS: Final = re.compile(r"authorization|(^|[-_])(api-?key|token|secret|password)$")
_PATH_SIGNS: Final = "/:@!$&'()*+,;=-._~%"
_QUERY_SIGNS: Final = _PATH_SIGNS + "?"
_ENCODED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_BODIES: Final = {
    "json": "The body as JSON: YAML with `$values`.",
    "form": "The body as a form's fields.",
    "body": "The body as text with `$values`.",
}
_CONTENT_TYPES: Final = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "body": "text/plain; charset=utf-8",
}
_OF_ALL: Final = {
    "path": "Path of the request, such as /orders/$id; a query may follow it.",
    "query": "Parameters of the query, by name: a value, or a list of values.",
    "headers": "Headers of this request, by name.",
}
_NAME_CHARACTERS_MAX: Final = 60


def _request(kind: StepKind, step: dict[str, Any], path: Path, around: Surroundings) -> dict[str, Requested]:
    at, given = (*path, kind.name), step[kind.name]
    # `get: /orders` is short for `get: {path: /orders}`.
    raw = {"path": given} if isinstance(given, str) else mapping(given, at, "{path: /orders/$id}")
    refuse_beside(raw, at, kind)
    if "method" in raw and "method" not in kind.made_from:
        raise Problem((*at, "method"), f"{kind.name} is the method", "leave it out, or write request: {method: …}")
    for name in _BODIES:
        if name in raw and name not in kind.made_from:
            hint = f"leave {name} out, or write request: {{method: {kind.command}, path: …, {name}: …}}"
            raise Problem((*at, name), f"has no place in {kind.name}, which sends no body", hint)
    check_keys(raw, at, kind.made_from, required=kind.required)
    method = kind.command or _method(raw["method"], (*at, "method"))
    slots = Slots()
    target = _target(raw, at, around, slots)
    body = _body(raw, at, around, slots)
    headers = _headers(raw, at, around, slots, [name for name in _BODIES if name in raw])
    request = {
        "kind": "http",
        "method": method,
        "target": target.made,
        "headers": headers,
        "body": None if body is None else body.made,
        "status": read_status(step.get("expect"), (*path, "expect")),
    }
    access: Access = "read" if method in _READING_METHODS else "write"
    name = _name(kind.name if kind.command else method.lower(), raw["path"])
    return {"http": Requested(name, method, access, slots.plans, request)}


def _name(method: str, path: str) -> str:
    """What a report calls the step: its words have no slash, which stands between an operation and its steps."""
    words = path.partition("?")[0].strip("/").replace("/", " ")
    return f"{method} {words}".strip()[:_NAME_CHARACTERS_MAX]


def _method(value: Any, path: Path) -> str:
    if not isinstance(value, str) or not TOKEN.fullmatch(value) or len(value) > _METHOD_LENGTH_MAX:
        raise Problem(path, f"{shown(value)} is no method", "write a word such as PROPFIND")
    if value.upper() == "CONNECT":
        raise Problem(path, "CONNECT asks a proxy for a tunnel, and has no reply", "leave it out")
    return value.upper()


def _target(raw: dict[str, Any], path: Path, around: Surroundings, slots: Slots) -> Pieces:
    pieces = Pieces(slots)
    at, given = (*path, "path"), raw["path"]
    _check_path(given, at)
    parts = parse(given, at)
    is_whole = len(parts) == 1 and not isinstance(parts[0], Plain)
    safe = _PATH_SIGNS
    for part in parts:
        if isinstance(part, Plain):
            head, mark, tail = part.text.partition("?") if safe is _PATH_SIGNS else (part.text, "", "")
            pieces.text(quote(head, safe=safe))
            if mark:
                safe = _QUERY_SIGNS
                pieces.text("?" + quote(tail, safe=safe))
        else:
            # A path that is a value as a whole was made by the service, as in a header location.
            pieces.value(referred(part.text, given, at, around.scope), "text" if is_whole else "url")
    _add_query(pieces, raw.get("query", {}), (*path, "query"), around, first="&" if safe is _QUERY_SIGNS else "?")
    return pieces


def _check_path(given: Any, path: Path) -> None:
    if not isinstance(given, str) or not given:
        raise Problem(path, f"must be a path, not {shown(given)}", "write path: /orders/$id")
    if "://" in given.partition("?")[0]:
        hint = "the host is that of --uri or target.uri; write the path alone, such as /orders"
        raise Problem(path, f"{shown(given)} names a host", hint)
    if not given.startswith(("/", "$")):
        raise Problem(path, f"{shown(given)} doesn't begin with /", f"write path: /{given}")
    if given.startswith("$$"):
        raise Problem(path, f"{shown(given)} doesn't begin with /", f"write path: /{given}")
    if "#" in given:
        raise Problem(path, f"{shown(given)} has a #, which is never sent", "leave it out, or write %23")
    if any(sign < " " or sign == "\x7f" for sign in given):
        raise Problem(path, "holds a control character", "leave it out")
    if _ENCODED.search(given):
        raise Problem(path, f"{shown(given)} has a % without two digits behind it", "write %25 for the sign itself")


def _add_query(pieces: Pieces, given: Any, path: Path, around: Surroundings, *, first: str) -> None:
    separator = first
    for name, value in mapping(given, path, "{limit: 20, city: $city}").items():
        at = (*path, name)
        several = value if isinstance(value, list) else [value]
        for number, each in enumerate(several):
            place = (*at, number) if isinstance(value, list) else at
            if each is None or isinstance(each, dict | list):
                raise Problem(place, f"must be a value, not {shown(each)}", "write city: $city, or leave it out")
            pieces.text(f"{separator}{encoded(name, 'url')}=")
            add_template(pieces, each, place, around.scope, "url")
            separator = "&"


def _body(raw: dict[str, Any], path: Path, around: Surroundings, slots: Slots) -> Pieces | None:
    given = [name for name in _BODIES if name in raw]
    if len(given) > 1:
        raise Problem((*path, given[1]), f"has no place beside {given[0]}", "leave one of them out")
    if not given:
        return None
    pieces, at, value = Pieces(slots), (*path, given[0]), raw[given[0]]
    if given[0] == "json":
        add_json(pieces, value, at, around.scope)
    elif given[0] == "form":
        separator = ""
        for name, each in mapping(value, at, "{name: $name}").items():
            if each is None or isinstance(each, dict | list):
                raise Problem((*at, name), f"must be a value, not {shown(each)}", "write name: $name")
            pieces.text(f"{separator}{encoded(name, 'form')}=")
            add_template(pieces, each, (*at, name), around.scope, "form")
            separator = "&"
    else:
        add_template(pieces, value, at, around.scope, "text")
    return pieces


def _headers(
    raw: dict[str, Any], path: Path, around: Surroundings, slots: Slots, body: list[str]
) -> list[dict[str, Any]]:
    at = (*path, "headers")
    own = {
        name.lower(): (name, each) for name, each in mapping(raw.get("headers", {}), at, "{accept: text/html}").items()
    }
    if len(own) < len(raw.get("headers", {})):
        raise Problem(at, "has a header twice, as small and capital letters mean the same", "leave one of them out")
    made: dict[str, Any] = {}
    if body and "content-type" not in own:
        made["content-type"] = [{"text": _CONTENT_TYPES[body[0]]}]
    for name, value in around.headers.items():
        if name.lower() not in own:
            made[name.lower()] = header_value(name, value, ("http", "headers", name), around, slots)
    for name, (written, value) in own.items():
        if name in around.secret_headers:
            raise Problem((*at, written), "is sent with every request already, as http says", "leave one of them out")
        made[name] = header_value(written, value, (*at, written), around, slots)
    return [{"name": name, "value": value} for name, value in made.items()]


def header_value(name: str, value: Any, path: Path, around: Surroundings, slots: Slots) -> list[dict[str, Any]]:
    """The pieces of a header. Raises Problem for what no header may say, and for a secret that would be stored."""
    folded = name.lower()
    check_header_name(name, path)
    text = plain_text(value, path)
    if any(sign in text for sign in "\r\n\0"):
        raise Problem(path, "holds a line end, and a header is one line", "leave it out")
    if not text.isascii():
        raise Problem(path, f"{shown(text)} has signs that no header may have", "write them percent-encoded")
    pieces = Pieces(slots)
    add_template(pieces, text, path, around.scope, "cookie" if folded == "cookie" else "text")
    if _SECRETS.search(folded) and pieces.is_constant and text:
        hint = f"write http: {{headers: {{{name}: {{env: NAME}}}}}}, or http: {{bearer: {{env: NAME}}}}"
        raise Problem(path, "is a secret, which would be stored with each run", hint)
    return pieces.made


def _kind(name: str, words: str, *, body: bool = False) -> StepKind:
    method = name.upper()
    return StepKind(
        name,
        words,
        command=method,
        access="read" if method in _READING_METHODS else "write",
        counter="command",
        required=("path",),
        made_from={**_OF_ALL, **(_BODIES if body else {})},
        request=_request,
    )


HTTP_KINDS: Final[dict[str, StepKind]] = {
    kind.name: kind
    for kind in (
        _kind("get", "Brings what is there."),
        _kind("post", "Sends something new, or asks for work to be done.", body=True),
        _kind("put", "Sends what is to be there.", body=True),
        _kind("patch", "Sends what is to be changed.", body=True),
        _kind("delete", "Takes away what is there."),
        _kind("head", "As `get`, and brings the headers alone."),
        _kind("options", "Asks what may be done."),
        StepKind(
            "request",
            "Any method, with a body or without.",
            command="",
            access="write",
            counter="command",
            required=("method", "path"),
            made_from={"method": "The method, such as PROPFIND.", **_OF_ALL, **_BODIES},
            request=_request,
        ),
    )
}
"""Kinds that are one HTTP request."""
HTTP_SYNONYMS: Final = {
    "fetch": 'write "get"',
    "url": 'write "get" with path',
    "http": 'write "get", "post" or another method',
    "call": 'write "request" with method',
    "transaction": "HTTP has none: leave it out, its steps follow each other",
    "sleep": 'write "think_time"',
    "wait": 'write "think_time"',
    "pause": 'write "think_time"',
}
"""What other tools call the kinds, with what to write."""

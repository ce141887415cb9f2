"""Owns who may talk to the page: one person with the token, from the page itself, under a name that is this machine's.

Other pages in the same browser can send requests to it, and a name that they own can lead to this machine (DNS
rebinding). So the host must be one that is known here, the origin the page's own, and what changes something has to
carry a token that only the page's forms have.
"""

import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from brimline.servers.addresses import joined_address, names_loopback

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES_MAX: Final = 1_000_000
"""More than a workload and the options of a run ever take."""
FIELDS_MAX: Final = 500
FORM: Final = "brimline.form"
"""Where a request has the fields of its form, in order, once they are checked."""
CSRF_FIELD: Final = "csrf"
TOKEN_FIELD: Final = "token"  # noqa: S105 (what it is called)
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, and no script runs but the page's own file."""
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # With `no-referrer` a browser says of its own forms that they come from nowhere.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a visitor has to know. `address` and `port` are listened on, `names` are other names of this machine."""

    port: int
    address: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """Its name: cookies know no ports, and there may be several of these pages."""
        return f"brimline-ui-{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return names_loopback(self.address)

    @property
    def url(self) -> str:
        """The first address to open; it has the token."""
        host = self.address if not self._is_any else "127.0.0.1"
        return f"http://{joined_address(host, self.port)}/?{urlencode({TOKEN_FIELD: self.token})}"

    @property
    def _is_any(self) -> bool:
        return self.address in ("0.0.0.0", "::")  # noqa: S104 (asked about, not bound)

    def knows_host(self, header: str) -> bool:
        """Whether a request that names this host is meant for us.

        A name that somebody else owns can lead here, an address can't. Behind a forwarded port the port differs.
        """
        host, separator, port = header.lower().rpartition(":")
        if not separator or not port.isdigit():
            host = header.lower()
        host = host.removeprefix("[").removesuffix("]")
        if host in (*_LOOPBACK, self.address, *(name.lower() for name in self.names)):
            return True
        return self._is_any and _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard:
    """Around the pages: refuses what doesn't come from their visitor, and gives every answer its headers."""

    def __init__(self, pages: Application, access: Access) -> None:
        self._pages = pages
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._pages(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == TOKEN_FIELD]
        if given and scope["method"] == "GET":
            await self._let_in(send, scope, given[0], query)
        elif not self._has_cookie(headers):
            await _answer(send, HTTPStatus.FORBIDDEN, "open the address with the token that brimline ui printed")
        elif scope["method"] == "POST" and (problem := await self._read_form(scope, receive)) is not None:
            await _answer(send, *problem)
        else:
            await self._pages(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: Mapping[str, list[str]]) -> tuple[HTTPStatus, str] | None:
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            return HTTPStatus.MISDIRECTED_REQUEST, "this name is none of this machine's: brimline ui --host NAME"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return HTTPStatus.METHOD_NOT_ALLOWED, "GET and POST are all there is"
        if any(not _is_of(origin, hosts[0]) for origin in origins):
            return HTTPStatus.FORBIDDEN, "another page asks for this"
        if scope["method"] == "POST" and not origins:
            return HTTPStatus.FORBIDDEN, "nothing says which page asks for this"
        if headers.get("sec-fetch-site", ["none"])[0] == "cross-site" and scope["method"] != "GET":
            return HTTPStatus.FORBIDDEN, "another page asks for this"
        return None

    async def _let_in(self, send: Send, scope: Scope, given: str, query: Sequence[tuple[str, str]]) -> None:
        """The token becomes a cookie, and is gone from the address."""
        if not _same(given, self._access.token):
            await _answer(send, HTTPStatus.FORBIDDEN, "the token is another one: see what brimline ui printed")
            return
        rest = urlencode([(name, value) for name, value in query if name != TOKEN_FIELD])
        place = "/" + scope["path"].lstrip("/") + (f"?{rest}" if rest else "")
        cookie = f"{self._access.cookie}={self._access.session}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, HTTPStatus.SEE_OTHER, "", location=place, **{"set-cookie": cookie})

    def _has_cookie(self, headers: Mapping[str, list[str]]) -> bool:
        for line in headers.get("cookie", []):
            try:
                found = SimpleCookie(line).get(self._access.cookie)
            except CookieError:
                continue
            if found is not None and _same(found.value, self._access.session):
                return True
        return False

    async def _read_form(self, scope: Scope, receive: Receive) -> tuple[HTTPStatus, str] | None:
        """Reads the fields of a form into the scope; the problem where there is one."""
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return HTTPStatus.BAD_REQUEST, "the request ended early"
            body += message.get("body", b"")
            if len(body) > BODY_BYTES_MAX:
                return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {BODY_BYTES_MAX // 1000} kB"
            if not message.get("more_body", False):
                break
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX)
        except (UnicodeDecodeError, ValueError):
            return HTTPStatus.BAD_REQUEST, "this is no form"
        if not any(name == CSRF_FIELD and _same(value, self._access.csrf) for name, value in fields):
            return HTTPStatus.FORBIDDEN, "the form is of another session: load the page again"
        scope[FORM] = [(name, value) for name, value in fields if name != CSRF_FIELD]
        return None


def _is_of(origin: str, host: str) -> bool:
    """Whether an origin is the page's own; what forwards to it may speak TLS."""
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _same(one: str, other: str) -> bool:
    """Compared in a time that tells nothing of what they have in common."""
    return secrets.compare_digest(one.encode(), other.encode())


async def _answer(send: Send, status: HTTPStatus, text: str, **headers: str) -> None:
    made = {**_HEADERS, "content-type": "text/plain; charset=utf-8", **headers}
    start = {
        "type": "http.response.start",
        "status": int(status),
        "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in made.items()],
    }
    await send(start)
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            more = [(name.encode(), value.encode()) for name, value in _HEADERS.items() if name.encode() not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sent

"""Owns a browser's part for tests of the page: requests to the application itself, without a socket."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from brimline.ui.guard import Access, Application

HOST = "127.0.0.1:8170"
ORIGIN = f"http://{HOST}"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(slots=True)
class Visitor:
    """Somebody who may have the cookie; `headers` are sent with each request."""

    application: Application
    access: Access
    cookie: str | None = None
    headers: dict[str, str] = field(default_factory=lambda: {"host": HOST})

    def let_in(self) -> "Visitor":
        """With the cookie that the token brings."""
        answer = self.get(f"/?token={self.access.token}")
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self

    def get(self, url: str, **headers: str) -> Answer:
        return self.ask("GET", url, headers=headers)

    def post(self, url: str, fields: Mapping[str, Any], *, csrf: str | None = None, **headers: str) -> Answer:
        body = urlencode({**fields, "csrf": self.access.csrf if csrf is None else csrf}, doseq=True).encode()
        return self.ask("POST", url, body=body, headers={"origin": ORIGIN, **headers})

    def ask(self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        sent = {**self.headers, **({"cookie": self.cookie} if self.cookie else {}), **(headers or {})}
        place = urlsplit(url)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(place.path),
            "raw_path": place.path.encode(),
            "query_string": place.query.encode(),
            "root_path": "",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in sent.items() if value],
            "server": ("127.0.0.1", 8170),
            "client": ("127.0.0.1", 40000),
        }
        messages: list[Any] = []
        pieces = [body[at : at + 65536] for at in range(0, len(body), 65536)] or [b""]

        async def receive() -> dict[str, Any]:
            if not pieces:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: Any) -> None:
            messages.append(message)

        asyncio.run(self.application(scope, receive, send))
        start = messages[0]
        text = b"".join(each.get("body", b"") for each in messages[1:])
        made = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], made, text.decode())

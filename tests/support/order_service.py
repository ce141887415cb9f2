"""Owns a small HTTP service in this process, whose answers a test decides, and which writes down what it was asked."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = tuple[int, Any]
"""Status, and what becomes the body as JSON; of a redirect its `location` is the header too."""


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class OrderService:
    """The service. `answer` is called for each request, from several threads."""

    port: int
    scheme: str = "http"
    answer: Callable[[Asked], Answer] = lambda asked: (200, {"id": 1})
    asked: list[Asked] = field(default_factory=list)

    @property
    def uri(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.asked]


@contextmanager
def order_service(certificate: Path | None = None) -> Iterator[OrderService]:
    """A service on a port of its own, with TLS where there is a certificate."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "orders/1.0"
        sys_version = ""
        disable_nagle_algorithm = True
        wbufsize = -1

        def answered(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            service.asked.append(asked)
            status, answer = service.answer(asked)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if 300 <= status < 400:
                self.send_header("Location", answer["location"])
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answered  # noqa: N815 (their names are the library's)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        service = OrderService(port=server.server_port)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            service.scheme = "https"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()

"""Owns the page that Prometheus reads while a run is at work: one address, one path, nothing to change."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from brimline.errors import UsageError
from brimline.execution.telemetry.exposition import CONTENT_TYPE
from brimline.threads import Worker

PATH = "/metrics"
CONNECTIONS_MAX = 8
_SILENCE_S = 30.0
_STOP_WITHIN_S = 2.0


class Page(ThreadingHTTPServer):
    """Serves what `write` says from `start` to `stop`. Raises UsageError where nothing can listen at that address."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, write: Callable[[], str]) -> None:
        self.write = write
        self._free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"--prometheus: nothing can listen at {host}:{port}: {(error.strerror or str(error)).lower()}",
                hint="give an address of this machine and a free port, such as 127.0.0.1:9464",
            ) from None

    def start(self) -> None:
        """Serves from now on, in a thread of its own. Raises ResourceError."""
        self._serving = Worker(lambda: self.serve_forever(0.05), name="the page for Prometheus")
        self._serving.start()

    def stop(self) -> None:
        """Serves no more."""
        self.shutdown()
        self._serving.join(_STOP_WITHIN_S)
        self.server_close()

    def server_bind(self) -> None:
        """Without asking for the name of this host: a name server may take its time."""
        TCPServer.server_bind(self)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 (its signature)
        """Whether there is room for another one who reads."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, in a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: who reads may leave at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: Page
    timeout = _SILENCE_S

    def do_GET(self) -> None:
        found = self.path.partition("?")[0] == PATH
        body = (self.server.write() if found else f"metrics are at {PATH}\n").encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", CONTENT_TYPE if found else "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "brimline"

    def log_message(self, *_: Any) -> None:
        """Nothing: that somebody reads is no news."""

"""A service behind TLS: named by SNI, trusted by its authority, and one error where the engine does not trust it."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.errors import TargetError
from tests.support.certificates import authority

WORKLOAD = """
name: secured
protocol: http
operations:
  small: {share: 1, get: {path: /small}, expect: {json: {ok: true}}}
  large: {share: 1, get: {path: /large}}
"""
LARGE_BYTES = 200_000


@dataclass
class Seen:
    """What a service has seen: names that clients asked for, and paths by how often."""

    uri: str = ""
    names: set[str | None] = field(default_factory=set)
    paths: dict[str, int] = field(default_factory=dict)


@contextmanager
def secured_service(certificate: Path) -> Iterator[Seen]:
    """A service at `localhost` that shows `certificate`."""
    seen, lock = Seen(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                seen.paths[self.path] = seen.paths.get(self.path, 0) + 1
            body = b"x" * LARGE_BYTES if self.path == "/large" else b'{"ok": true}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: Any) -> None:
            """Says nothing."""

    class Service(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *words: Any) -> None:
            """Clients that don't trust the certificate hang up."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: seen.names.add(name)
    with Service(("127.0.0.1", 0), Handler) as service:
        # Each connection's own thread shakes hands.
        service.socket = context.wrap_socket(service.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=service.serve_forever, daemon=True)
        thread.start()
        seen.uri = f"https://localhost:{service.server_address[1]}"
        try:
            yield seen
        finally:
            service.shutdown()
            thread.join()


def _run(uri: str, directory: Path) -> Any:
    file = directory / "workload.yaml"
    file.write_text(WORKLOAD, encoding="utf-8")
    return brimline.run(
        str(file),
        overrides={"warmup": "0s", "connections": 4, "operation_count": 200},
        options=brimline.Options(uri=uri, runs_dir=directory),
    )


def test_requests_go_over_tls_to_the_host_that_is_named(tmp_path: Path) -> None:
    trusted = authority(tmp_path, "trusted")
    with secured_service(trusted.sign("service")) as seen:
        summary = _run(f"{seen.uri}/?tlsCAFile={trusted.certificate}", tmp_path).record.summary
    assert (summary["ok"], summary["failed"]) == (200, 0)
    assert seen.names == {"localhost"}
    sent = {name: row["sent"] for name, row in summary["operations"].items()}
    assert (seen.paths["/small"], seen.paths["/large"]) == (sent["small"] + 1, sent["large"] + 1), (
        "and each once before"
    )


def test_a_certificate_that_only_the_engine_refuses_is_one_error(tmp_path: Path) -> None:
    """An authority's own certificate: OpenSSL takes it for a server's, rustls doesn't."""
    both, key = tmp_path / "own.pem", tmp_path / "own.key"
    extensions = [f"-addext={words}" for words in ("subjectAltName=DNS:localhost", "basicConstraints=critical,CA:TRUE")]
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
            ),
            *(word for extension in extensions for word in extension.split("=", 1)),
            *("-keyout", str(key), "-out", str(both)),
        ],
        capture_output=True,
        check=True,
    )
    both.write_text(both.read_text() + key.read_text())
    with secured_service(both) as seen, pytest.raises(TargetError, match="certificate"):
        _run(f"{seen.uri}/?tlsCAFile={both}", tmp_path)

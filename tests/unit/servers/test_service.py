"""The first contact with an HTTP service: what it says of itself, and why there is none."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from brimline.errors import TargetError
from brimline.servers import service as module
from brimline.servers.service import service


class _Handler(BaseHTTPRequestHandler):
    server_version = "orders/1.2"
    sys_version = ""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@contextmanager
def saying(words: bytes, *, then: bytes = b"") -> Iterator[int]:
    """A port whose server says this to whoever connects, and hangs up, or says `then` for ever, a bit at a time."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(words)
                    with suppress(OSError):
                        while then:
                            connection.sendall(then)
                            time.sleep(0.01)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_a_service_that_answers_404_answers() -> None:
    with serving() as port:
        found = service(f"http://127.0.0.1:{port}/api")

    assert (found.protocol, found.engine, found.kind) == ("http", "HTTP", "service")
    assert found.facts == {"status": 404, "server": "orders/1.2", "http": "1.0", "tls": None}
    assert (found.pid, found.local) == (os.getpid(), True)


def test_nothing_listens() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(TargetError, match="connection refused") as refused:
        service(f"http://127.0.0.1:{port}", connect_timeout_s=0.05)

    assert refused.value.hint == "check host and port, and that the server runs"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x28", "wants TLS"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.", "wants TLS"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not answer as an HTTP service"),
        (b"HTTP/1.1 OK\r\n\r\n", "does not answer as an HTTP service"),
        (b"", "it ended the connection without an answer"),
    ],
)
def test_what_answers_is_no_service(words: bytes, message: str) -> None:
    with saying(words) as port, pytest.raises(TargetError, match=message):
        service(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("words", "then"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
    ],
    ids=["other replies first", "a header without an end"],
)
def test_an_answer_without_an_end_is_not_waited_for(words: bytes, then: bytes) -> None:
    with saying(words, then=then) as port, pytest.raises(TargetError, match="no answer in time"):
        service(f"http://127.0.0.1:{port}", connect_timeout_s=0.1)


def test_events_without_an_end_are_an_answer() -> None:
    with saying(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", then=b"data: 1\n\n") as port:
        assert service(f"http://127.0.0.1:{port}").facts["status"] == 200


def test_a_service_without_tls_is_told_from_one_with_it() -> None:
    with serving() as port, pytest.raises(TargetError, match="no TLS connection") as caught:
        service(f"https://127.0.0.1:{port}")
    assert caught.value.hint == "write http://, or start the server with TLS"


def test_of_a_process_that_only_passes_on_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brimline.servers.listening.process_name", lambda pid: "docker-proxy")
    with serving() as port:
        assert module.listening_process(port) is None


def test_the_file_descriptors_of_a_process_show_its_port(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        assert module.listening_process(listening.getsockname()[1]) == os.getpid()

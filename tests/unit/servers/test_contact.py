"""What listens at an address is named at the first look: other servers, TLS on one side only, nothing at all."""

import socket
import socketserver
import ssl
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from brimline.errors import TargetError
from brimline.servers import contact
from brimline.servers.bundled import free_port
from brimline.servers.contact import NoContact
from brimline.servers.external import external
from tests.support import fake_mongos
from tests.support.certificates import authority

Serve = Callable[[socket.socket], None]
_MYSQL = b"J\0\0\0\x0a8.0.36\0\x01\0\0\0abcdefgh\0"
_MARIADB = b"J\0\0\0\x0a5.5.5-10.11.6-MariaDB\0\x01\0\0\0abcdefgh\0"
_MYSQL_BLOCKED = b"G\0\0\0\xff\x69\x04Host '10.0.0.1' is not allowed to connect to this MySQL server"
_POSTGRES_TLS = bytes([0, 0, 0, 8, 4, 210, 22, 47])


@pytest.fixture(autouse=True)
def _short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "_ANSWER_S", 0.2)


@contextmanager
def _listening(serve: Serve, *, host: str = "127.0.0.1") -> Iterator[str]:
    """`host:port` of a server that does `serve` with each connection."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):  # the client has seen enough
                serve(self.request)

    class Server(socketserver.ThreadingTCPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True
        block_on_close = False

    with Server((host, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"{f'[{host}]' if ':' in host else host}:{server.server_address[1]}"
        server.shutdown()


def _greeting(words: bytes) -> Serve:
    """A server that speaks first."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(words)
        while connection.recv(4096):
            pass

    return serve


def _answering(answer: bytes, *, to: bytes) -> Serve:
    """A server that says nothing until it has read `to`."""

    def serve(connection: socket.socket) -> None:
        heard = b""
        while to not in heard:
            piece = connection.recv(4096)
            if not piece:
                return
            heard += piece
        connection.sendall(answer)

    return serve


def _postgres(connection: socket.socket) -> None:
    if connection.recv(4096) == _POSTGRES_TLS:
        connection.sendall(b"N")


def _mongodb(connection: socket.socket) -> None:
    with suppress(ConnectionError):
        fake_mongos.Connection(connection, None, None)  # type: ignore[arg-type]


def _message(address: str, query: str = "") -> str:
    with pytest.raises(TargetError) as raised:
        external(f"mongodb://{address}/{query}", connect_timeout_s=1)
    assert raised.value.exit_code == 5
    assert raised.value.hint
    return raised.value.message


@pytest.mark.parametrize(
    ("serve", "name"),
    [
        (_answering(b"HTTP/1.1 400 Bad Request\r\n\r\n", to=b"\0"), "an HTTP server"),
        (_answering(b"HTTP/1.0 404 Not Found\r\n\r\n", to=b"\r\n\r\n"), "an HTTP server"),
        (_greeting(_MYSQL), "a MySQL server"),
        (_greeting(_MARIADB), "a MariaDB server"),
        (_greeting(_MYSQL_BLOCKED), "a MySQL server"),
        (_answering(b"-ERR wrong number of arguments for 'get' command\r\n", to=b"\r\n"), "a Redis server"),
        (_answering(b"-NOAUTH Authentication required.\r\n", to=b"\r\n"), "a Redis server"),
        (_postgres, "a PostgreSQL server"),
        (_greeting(b"SSH-2.0-OpenSSH_9.2p1\r\n"), "an SSH server"),
        (_greeting(b"220 mail.example.org ESMTP\r\n"), "a mail or FTP server"),
    ],
)
def test_another_server_is_named(serve: Serve, name: str) -> None:
    with _listening(serve) as address:
        assert f"answers as {name}, not as MongoDB" in _message(address)


@pytest.mark.parametrize("query", ["?tls=true", "?replicaSet=rs", "?directConnection=false"])
def test_another_server_is_named_however_it_is_asked(query: str) -> None:
    for serve in (_greeting(_MYSQL), _answering(b"HTTP/1.0 400 Bad Request\r\n\r\n", to=b"\0")):
        with _listening(serve) as address:
            assert ", not as MongoDB" in _message(address, query)


def test_another_server_is_named_by_ipv6() -> None:
    try:
        with _listening(_greeting(b"SSH-2.0-x\r\n"), host="::1") as address:
            assert "answers as an SSH server" in _message(address)
    except OSError:
        pytest.skip("this machine has no IPv6")


def test_refused_is_told_before_the_time_for_connecting_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[external.__module__], "control_client", _must_not_be_called)
    address = f"127.0.0.1:{free_port()}"
    for query in ("", "?tls=true", "?replicaSet=rs", "?directConnection=false"):
        assert "no server answers at" in (said := _message(address, query))
        assert "connection refused" in said


def _must_not_be_called(*_: object, **__: object) -> None:
    raise AssertionError("PyMongo would wait until its time is over")


def test_a_server_that_is_about_to_start_is_tried_again() -> None:
    port = free_port()

    def start_late() -> None:
        with socketserver.ThreadingTCPServer(("127.0.0.1", port), fake_mongos.Connection) as server:
            server.daemon_threads = True
            server.handle_request()

    looks = 0

    def rest(_length_s: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            threading.Thread(target=start_late, daemon=True).start()
        threading.Event().wait(0.01)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("brimline.servers.contact.time.sleep", rest)
        contact.make_contact("127.0.0.1", port, tls=None, timeout_s=1, patience_s=5)
    assert looks > 0


def test_a_name_that_has_no_address_is_told_at_once() -> None:
    with pytest.raises(NoContact, match="host name"):
        contact.make_contact("no-such-host.invalid", 27017, tls=None, timeout_s=5, patience_s=5)


def test_a_silent_server_is_left_to_wait_for() -> None:
    with _listening(_answering(b"", to=b"never")) as address:
        contact.make_contact("127.0.0.1", int(address.rpartition(":")[2]), tls=None, timeout_s=1)


def test_a_member_that_was_silent_has_twice_as_long_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers with little of a processor answer none of many short looks."""
    waited_s: list[float] = []

    def silent(*_: object, timeout_s: float, **__: object) -> None:
        waited_s.append(timeout_s)
        raise NoContact("no answer in time")

    module = sys.modules["brimline.servers.external"]  # its function has the same name
    monkeypatch.setattr(module, "make_contact", silent)
    with pytest.raises(TargetError):
        external("mongodb://127.0.0.1:1,127.0.0.1:2/?replicaSet=rs")
    assert waited_s == [1.0, 1.0, 2.0, 2.0]


def test_a_server_that_wants_tls_is_told_so(tmp_path: Path) -> None:
    trusted = authority(tmp_path, "authority")
    modern = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    modern.load_cert_chain(trusted.sign("server"))
    with _listening(_over(modern, _mongodb)) as address:
        assert "the server wants TLS" in _message(address)
        assert "not signed by an authority that is trusted here" in _message(address, "?tls=true")
    with _listening(_over(modern, _greeting(b"SSH-2.0-x\r\n"))) as address:
        assert "answers as an SSH server" in _message(address, f"?tls=true&tlsCAFile={trusted.certificate}")


def test_a_server_of_old_tls_alone_is_named(tmp_path: Path) -> None:
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.load_cert_chain(authority(tmp_path, "authority").sign("server"))
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with _listening(_over(old, _mongodb)) as address:
        assert "TLS 1.0 or 1.1 only" in _message(address, "?tls=true")
        assert "TLS 1.0 or 1.1 only" in _message(address, "?tls=true&tlsInsecure=true&replicaSet=rs")


def _over(context: ssl.SSLContext, serve: Serve) -> Serve:
    def secured(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as inside:
            serve(inside)

    return secured

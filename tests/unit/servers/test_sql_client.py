"""First contact with what isn't the database that the address says, or sends bytes that are no answer."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import count, islice, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brimline.errors import TargetError
from brimline.servers import sql_client, sql_reading
from brimline.servers.sql_client import MysqlClient, PostgresClient, SqlClient, SqlError, open_client, sql_errors
from brimline.servers.sql_reading import ANSWER_BYTES_MAX, SAMPLE_BYTES_MAX
from brimline.servers.target_uri import parse_target_uri
from tests.support.certificates import authority
from tests.support.first_login import greeting


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


_SASL = _message(b"R", b"\0\0\0\x0aSCRAM-SHA-256\0\0")
ANSWERS = {
    "a greeting without an end": ("mysql", [b"\x01\0\0\0\x0a"]),
    "a greeting of zeros": ("mysql", [b"\x40\0\0\0" + bytes(64)]),
    "a greeting cut in its salt": ("mysql", [b"\x0a\0\0\0\x0a5.5\0\1\0\0\0x"]),
    "a login that is no SCRAM": ("postgresql", [_SASL, _message(b"R", b"\0\0\0\x0br=x,s=!,i=none")]),
    "a login without a number": ("postgresql", [_message(b"R", b"\0")]),
    "a parameter without a name": ("postgresql", [_message(b"S", b"")]),
}


@contextmanager
def _answering(pieces: list[bytes], *, greets: bool, pause_s: float = 0.0) -> Iterator[int]:
    """The port of a server that sends one of `pieces` for each message, and closes."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            for piece in pieces:
                if not greets and not connection.recv(4096):
                    break
                connection.sendall(piece)
                time.sleep(pause_s)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(5)


@pytest.mark.parametrize("named", ANSWERS)
def test_bytes_that_are_no_answer_are_one_error(named: str) -> None:
    scheme, pieces = ANSWERS[named]
    with _answering(pieces, greets=scheme == "mysql") as port:
        target = parse_target_uri(f"{scheme}://user:secret@127.0.0.1:{port}/db")
        with pytest.raises(TargetError, match=r"does not answer as|no server answers|refuses") as refused:
            open_client(target)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("plugin", ["client_ed25519", "parsec"])
def test_a_login_that_is_lacking_is_named(plugin: str) -> None:
    asks = b"\xfe" + plugin.encode() + b"\0" + bytes(range(32)) + b"\0"
    with _answering([greeting(), bytes([len(asks), 0, 0, 2]) + asks], greets=True, pause_s=0.1) as port:
        target = parse_target_uri(f"mysql://user:secret@127.0.0.1:{port}/db")
        with pytest.raises(TargetError, match=f"log in by {plugin}, which brimline does not have") as refused:
            open_client(target)
    assert "mysql_native_password" in str(refused.value.hint)
    assert "secret" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(("scheme", "begin"), [("mysql", b"\x40\0\0\0\x0a8.0"), ("postgresql", b"R\0\0\xff\xff")])
def test_a_login_without_an_end_is_not_waited_for(scheme: str, begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_client, "COMMAND_TIMEOUT_S", 0.2)
    drops = [begin, *[b"x"] * 40]
    with _answering(drops, greets=True, pause_s=0.05) as port, pytest.raises(TargetError, match="no answer in time"):
        open_client(parse_target_uri(f"{scheme}://user:secret@127.0.0.1:{port}/db"))


_PACKET_WITHOUT_END = {"mysql": b"\xff\xff\xff\1", "postgresql": b"T\0\xff\xff\xff"}
_NOTICE = _message(b"N", b"SWARNING\0\0")


def _drips(scheme: str, *, packets: bool) -> Iterator[bytes]:
    """What a server says to a statement, which has no end: a byte of one packet at a time, or packets of a byte."""
    if not packets:
        yield _PACKET_WITHOUT_END[scheme]
        yield from repeat(b"x")
    elif scheme == "postgresql":
        yield from repeat(_NOTICE)
    else:
        yield b"\1\0\0\1\1" + b"\x17\0\0\2\3def\0\0\0\1a\0\x0c\x3f\0\1\0\0\0\xfd\0\0\0\0\0" + b"\5\0\0\3\xfe\0\0\2\0"
        yield from (b"\2\0\0" + bytes([number % 256]) + b"\1y" for number in count(4))


@contextmanager
def _dripping(scheme: str, drops: Iterator[bytes], *, certificate: Path | None) -> Iterator[int]:
    """The port of a server that lets anybody in, and then says 40 drops to a statement, one every 20 ms."""

    def serve() -> None:
        connection, _ = listening.accept()
        with suppress(OSError), ExitStack() as opened:
            opened.callback(lambda: connection.close())
            if scheme == "mysql":
                connection.sendall(greeting(is_secure=certificate is not None))
            connection.recv(4096 if certificate is None else 36)  # who asks for TLS says more as soon as it may
            if certificate is not None:
                if scheme == "postgresql":
                    connection.sendall(b"S")
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate)
                connection = context.wrap_socket(connection, server_side=True)
                connection.recv(4096)
            if scheme == "mysql":
                connection.sendall(b"\7\0\0" + bytes([2 if certificate is None else 3]) + b"\0\0\0\2\0\0\0")
                connection.recv(4096)  # SET NAMES
                connection.sendall(b"\7\0\0\1\0\0\0\2\0\0\0")
            else:
                connection.sendall(_message(b"R", b"\0\0\0\0") + _message(b"Z", b"I"))
            connection.recv(4096)
            for drop in islice(drops, 40):
                connection.sendall(drop)
                time.sleep(0.02)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(5)


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The certificate of an authority, and one that it signed with its key."""
    made = authority(tmp_path_factory.mktemp("trusted"), "authority")
    return made.certificate, made.sign("server")


@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
@pytest.mark.parametrize("packets", [False, True], ids=["a packet", "packets"])
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_an_answer_that_drips_is_not_waited_for(
    scheme: str, packets: bool, tls: bool, request: pytest.FixtureRequest
) -> None:
    trust, certificate = request.getfixturevalue("trusted") if tls else (None, None)
    options = "" if trust is None else f"?tls=true&tlsCAFile={trust}"
    with _dripping(scheme, _drips(scheme, packets=packets), certificate=certificate) as port:
        target = parse_target_uri(f"{scheme}://user:secret@127.0.0.1:{port}/db{options}")
        with open_client(target, timeout_s=0.2) as client, pytest.raises(TargetError) as late, sql_errors("asking"):
            client.rows("SELECT 1")
    assert late.value.message == "asking: the server's answer takes longer than is waited for"


def test_a_long_answer_has_more_time() -> None:
    ours, theirs = socket.socketpair()
    with sql_reading.TimelySocket(fileno=ours.detach()) as reading, theirs:
        sql_reading.await_answer(within_s=0.1)
        began_s = time.monotonic()
        for _ in range(8):
            theirs.sendall(bytes(100_000))  # the time of a tenth of a second
            taken = 0
            while taken < 100_000:
                taken += reading.recv_into(bytearray(65_536))
            time.sleep(0.05)
        assert time.monotonic() - began_s > 0.4
        theirs.sendall(b"x")
        assert reading.recv_into(bytearray(1)) == 1


def test_a_connection_that_breaks_is_no_refusal() -> None:
    target = "mysql://user:secret@127.0.0.1"
    with (
        _dripping("mysql", iter(()), certificate=None) as port,
        open_client(parse_target_uri(f"{target}:{port}/db")) as client,
        pytest.raises(TargetError, match="asking: the server doesn't answer"),
        sql_errors("asking"),
    ):
        client.rows("SELECT 1")


def test_a_database_that_is_another_s_is_told_from_a_wrong_password() -> None:
    target = parse_target_uri("mysql://reader:secret@127.0.0.1:3306/other")
    denied = SqlError("Access denied for user 'reader'@'%' to database 'other'", state="42000", code=1044)
    refused = sql_client._refused(denied, target)
    assert "does not let this user into the database" in refused.message
    assert "secret" not in refused.message


def _too_long(_text: str) -> None:
    sql_reading._take(ANSWER_BYTES_MAX + 1)


def _client(scheme: str) -> SqlClient:
    """One whose library reads more than is taken in."""
    client: Any = object.__new__(MysqlClient if scheme == "mysql" else PostgresClient)
    cursor = nullcontext(SimpleNamespace(execute=lambda text, _: _too_long(text)))
    client._timeout_s = 1.0
    client._connection = SimpleNamespace(cursor=lambda: cursor, execute_simple=_too_long)
    return cast(SqlClient, client)


@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
def test_an_answer_that_is_too_long_is_told_in_its_own_words(scheme: str) -> None:
    with pytest.raises(TargetError) as refused, sql_errors("reading rows for $order"):
        _client(scheme).rows("SELECT * FROM orders")
    assert refused.value.message == "reading rows for $order: the server's answer is longer than is taken in"
    assert refused.value.hint == "ask for fewer rows, or for fewer columns"


def test_the_largest_sample_is_taken_in_as_hexadecimal_digits() -> None:
    sql_reading.await_answer()
    sql_reading._take(2 * SAMPLE_BYTES_MAX)
    with pytest.raises(sql_reading.AnswerTooLong):
        sql_reading._take(ANSWER_BYTES_MAX)

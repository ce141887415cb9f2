"""First contact with what isn't the database that the address says, or sends bytes that are no answer."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brimline.errors import TargetError
from brimline.servers import sql_client, sql_reading
from brimline.servers.sql_client import MysqlClient, PostgresClient, SqlClient, SqlError, open_client, sql_errors
from brimline.servers.sql_reading import ANSWER_BYTES_MAX, SAMPLE_BYTES_MAX
from brimline.servers.target_uri import parse_target_uri


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


@pytest.mark.parametrize(("scheme", "begin"), [("mysql", b"\x40\0\0\0\x0a8.0"), ("postgresql", b"R\0\0\xff\xff")])
def test_a_login_without_an_end_is_not_waited_for(scheme: str, begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_client, "COMMAND_TIMEOUT_S", 0.2)
    drops = [begin, *[b"x"] * 40]
    with _answering(drops, greets=True, pause_s=0.05) as port, pytest.raises(TargetError, match="no answer in time"):
        open_client(parse_target_uri(f"{scheme}://user:secret@127.0.0.1:{port}/db"))


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

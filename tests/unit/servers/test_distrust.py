"""What PyMongo believes without bounds is bounded: an answer's length, the work of a login, an answer's form."""

import errno
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import SimpleNamespace

import pytest
from pymongo import pool_shared
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError
from pymongo.synchronous import auth, pool

from brimline.dataset.access import target_errors
from brimline.errors import TargetError
from brimline.servers import control_client
from brimline.servers.distrust import ITERATIONS_MAX, TURNED_AWAY, ControlClient, is_turned_away


def test_iterations_are_bounded() -> None:
    assert auth._parse_scram_response(b"r=x,s=eA==,i=15000")[b"i"] == b"15000"
    assert auth._parse_scram_response(b"v=eA==") == {b"v": b"eA=="}
    with pytest.raises(OperationFailure, match="iterations"):
        auth._parse_scram_response(b"r=x,s=eA==,i=%d" % (ITERATIONS_MAX + 1))


def test_work_of_an_hour_waits_no_hour_for_a_server_that_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    started = time.monotonic()
    with (
        control_client(address, connect_timeout_s=0.2) as client,
        pytest.raises(TargetError, match="counting: the server doesn't answer"),
        target_errors("counting", within_s=20),
    ):
        client.shop.orders.count_documents({})
    assert time.monotonic() - started < 10


def test_no_more_is_made_room_for_than_a_message_may_have() -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(struct.pack("<iiii", 2**31 - 1, 1, 7, 2013))
        connection = type("Connection", (), {"conn": type("Socket", (), {"gettimeout": lambda _: 1.0})()})()
        reading = {"receive_data": lambda *_: near.recv(16)}
        with pytest.MonkeyPatch.context() as patch:
            for name, double in reading.items():
                patch.setattr(f"pymongo.network_layer.{name}", double)
            with pytest.raises(PyMongoError, match="48000000"):
                pool.receive_message(connection, 7, 2**31 - 1)


@contextmanager
def _answering(message: bytes) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            try:
                while True:
                    near, _ = listener.accept()
                    with near:
                        near.recv(65536)
                        near.sendall(message)
                        near.recv(65536)
            except OSError:
                return

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_noise_is_an_error_of_the_servers() -> None:
    with (
        _answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address,
        control_client(address, connect_timeout_s=0.5) as client,
        pytest.raises(PyMongoError),
    ):
        client.admin.command("ping")


_PAUSES = AutoReconnect("connection pool paused")
_LOST = [
    (OSError("connection closed"), True),
    (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), True),
    (ssl.SSLEOFError(8, "EOF occurred in violation of protocol"), True),
    (OSError(errno.EHOSTUNREACH, "No route to host"), False),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), False),
]


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize(("cause", "is_turned"), _LOST)
def test_only_who_is_closed_at_once_is_turned_away(cause: OSError, is_turned: bool, pauses: bool) -> None:
    """A host that is gone was told as one at its limit of connections, after 5 s of asking it again."""
    lost = _lost(cause)
    with pytest.raises(AutoReconnect) as caught:
        _checked_out([_lost(_PAUSES) if pauses else lost], looked=lost)
    assert is_turned_away(caught.value) == is_turned
    assert (TURNED_AWAY.take_s() >= 0.3) == is_turned


def test_a_server_that_goes_away_turned_nobody_away() -> None:
    """It closes its connections before it is gone."""
    lost = [_lost(cause) for cause, _ in (_LOST[0], _LOST[1], _LOST[4])]
    with pytest.raises(AutoReconnect, match="refused") as caught:
        _checked_out(lost, looked=lost[0])
    assert not is_turned_away(caught.value) and TURNED_AWAY.take_s() == 0
    _checked_out([lost[0], None], looked=lost[0])
    assert TURNED_AWAY.take_s() > 0, "and one that has a connection again had none before"


def _checked_out(outcomes: Sequence[AutoReconnect | None], *, looked: AutoReconnect) -> None:
    """Asks for a connection up to the last of `outcomes`, which stays; `looked`: how PyMongo's own was lost."""
    left = iter(outcomes)

    def checkout() -> AbstractContextManager[None]:
        if (error := next(left, outcomes[-1])) is not None:
            raise error
        return nullcontext()

    monitor = SimpleNamespace(_server_description=SimpleNamespace(error=looked))
    server = SimpleNamespace(_monitor=monitor, request_check=lambda: None)
    TURNED_AWAY.take_s()
    with (
        ControlClient("mongodb://127.0.0.1:1", connect=False, serverSelectionTimeoutMS=300) as client,
        client._patient(server, checkout),
    ):
        pass


def _lost(cause: Exception) -> AutoReconnect:
    """As PyMongo's pool tells it."""
    try:
        pool_shared._raise_connection_failure(("db.example", 27017), cause)
    except AutoReconnect as error:
        if cause is not _PAUSES:
            error._add_error_label("SystemOverloadedError")
        return error

"""What PyMongo believes without bounds is bounded: an answer's length, the work of a login, an answer's form."""

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.synchronous import auth, pool

from brimline.dataset.access import target_errors
from brimline.errors import TargetError
from brimline.servers import control_client
from brimline.servers.distrust import ITERATIONS_MAX


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

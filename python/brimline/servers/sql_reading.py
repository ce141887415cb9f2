"""Owns how much of an SQL database's answer is taken in for what is not measured: a peer may lie, or have no end.

Both libraries read whatever length a peer announces; what they read with is replaced here by what counts.
"""

import threading
from typing import Any, Final

import pg8000.core
import pymysql.connections

LOGIN_BYTES_MAX: Final = 1_000_000
"""Of a greeting and a login."""
SAMPLE_BYTES_MAX: Final = 256 << 20
"""Of the rows of a sample, as they are kept: the most that is ever asked for."""
ANSWER_BYTES_MAX: Final = 3 * SAMPLE_BYTES_MAX
"""Of a statement's rows on the wire, where numbers are digits and bytes are hexadecimal: longer than they are kept."""


class _Left(threading.local):
    count = LOGIN_BYTES_MAX


_left: Final = _Left()


class ConnectionLost(Exception):
    """The server doesn't answer any more."""


class AnswerTooLong(ConnectionLost):
    """The server says more than is taken in; what follows on this connection is no answer."""


def await_answer(bytes_max: int = ANSWER_BYTES_MAX) -> None:
    """From now on so many bytes are taken in by this thread."""
    _left.count = bytes_max


def _take(count: int) -> None:
    _left.count -= count
    if _left.count < 0:
        raise AnswerTooLong("the server's answer is longer than is taken in")


class Connection(pymysql.connections.Connection):
    """PyMySQL's, which takes in as much as is awaited."""

    def _read_bytes(self, num_bytes: int) -> Any:
        _take(num_bytes)
        return super()._read_bytes(num_bytes)  # type: ignore[no-untyped-call]


_read_of_pg8000: Final[Any] = pg8000.core._read


def _read(sock: Any, size: int) -> Any:
    _take(size)
    return _read_of_pg8000(sock, size)


pg8000.core._read = _read

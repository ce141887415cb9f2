"""Owns how much of an SQL database's answer is taken in for what is not measured: a peer may lie, or have no end.

Both libraries read whatever length a peer announces; what they read with is replaced here by what counts.
"""

import threading
from typing import Any, Final

import pg8000.core
import pymysql.connections

LOGIN_BYTES_MAX: Final = 1_000_000
"""Of a greeting and a login."""
ANSWER_BYTES_MAX: Final = 256_000_000
"""Of a statement's rows: a sample of a table's is the most that is ever asked for."""


class _Left(threading.local):
    count = LOGIN_BYTES_MAX


_left: Final = _Left()


class AnswerTooLong(Exception):
    """The server says more than was asked for."""


def await_answer(bytes_max: int = ANSWER_BYTES_MAX) -> None:
    """From now on so many bytes are taken in by this thread."""
    _left.count = bytes_max


def _take(count: int) -> None:
    _left.count -= count
    if _left.count < 0:
        raise AnswerTooLong("it says more than was asked for")


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

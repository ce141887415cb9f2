"""Owns how much of an SQL database's answer is taken in for what is not measured, and how long it may take.

A peer may lie, have no end, or send a byte now and then. Both libraries read whatever length a peer announces; what
they read with is replaced here by what counts. Both wait anew for each byte; the sockets of here don't.
"""

import math
import socket
import ssl
import threading
import time
from typing import Any, Final

import pg8000.core
import pymysql.connections

LOGIN_BYTES_MAX: Final = 1_000_000
"""Of a greeting and a login."""
SAMPLE_BYTES_MAX: Final = 256 << 20
"""Of the rows of a sample, as they are kept: the most that is ever asked for."""
ANSWER_BYTES_MAX: Final = 3 * SAMPLE_BYTES_MAX
"""Of a statement's rows on the wire, where numbers are digits and bytes are hexadecimal: longer than they are kept."""
_BYTES_PER_S_MIN: Final = 1_000_000
"""A long answer may take a second longer for each of so many bytes."""
_MOMENT_S: Final = 0.001


class _Left(threading.local):
    count = LOGIN_BYTES_MAX
    until_s = math.inf
    has_begun = False


_left: Final = _Left()


class ConnectionLost(Exception):
    """The server doesn't answer any more."""


class AnswerTooLong(ConnectionLost):
    """The server says more than is taken in; what follows on this connection is no answer."""


class AnswerTooSlow(ConnectionLost):
    """The server began to answer, and goes on too slowly."""


def await_answer(bytes_max: int = ANSWER_BYTES_MAX, *, within_s: float = math.inf) -> None:
    """From now on so many bytes are taken in by this thread, and only in that time; a long answer has more of it."""
    _left.count = bytes_max
    _left.until_s = time.monotonic() + within_s
    _left.has_begun = False


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


class TimelySocket(socket.socket):
    """One of which a read ends when the answer should have."""

    def recv_into(self, *arguments: Any) -> int:
        """As it reads for a file, in which both libraries read. Raises AnswerTooSlow."""
        silence_s = self.gettimeout()
        left_s = max(_left.until_s - time.monotonic(), _MOMENT_S)
        if left_s < (math.inf if silence_s is None else silence_s):
            self.settimeout(left_s)
        try:
            count = super().recv_into(*arguments)
        except TimeoutError:
            if _left.has_begun:
                raise AnswerTooSlow("the server's answer takes longer than is waited for") from None
            raise
        finally:
            self.settimeout(silence_s)
        _left.until_s += count / _BYTES_PER_S_MIN
        _left.has_begun = True
        return count


class TimelyTls(TimelySocket, ssl.SSLSocket):
    """The same with TLS."""

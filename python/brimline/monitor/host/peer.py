"""Owns asking a program on another host over HTTP: one connection, and when question and answer were, by our clock."""

import http.client
import socket
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from brimline.monitor.host.source import HostGone

ANSWER_S = 2.0
"""How long one answer may take, from the question on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer. `sent_ns`, `received_ns`: of this machine's monotonic clock."""

    status: int
    body: bytes
    sent_ns: int
    received_ns: int


class Peer:
    """One connection to who answers at an address, made anew after trouble; for one thread."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str, *, headers: Mapping[str, str], bytes_max: int) -> Page:
        """The answer, no more than `bytes_max` of it. Raises HostGone."""
        try:
            return self._get(path, headers, bytes_max)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise HostGone(reason_of(error)) from error

    def close(self) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _get(self, path: str, headers: Mapping[str, str], bytes_max: int) -> Page:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._address, timeout=ANSWER_S)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent_ns = time.monotonic_ns()
        self._connection.request("GET", path, headers=dict(headers))
        with closing(self._connection.getresponse()) as response:
            body = response.read(bytes_max)
        return Page(status=response.status, body=body, sent_ns=sent_ns, received_ns=time.monotonic_ns())


def reason_of(error: Exception, *, within_s: float = ANSWER_S) -> str:
    """Trouble with a connection in some words; `within_s`: how long was waited."""
    if isinstance(error, TimeoutError):
        return f"no answer within {within_s:g} s"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.gaierror):
        return "the name is not known"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the connection broke"

"""Owns the first connection to a server that isn't MongoDB: where nothing listens, that is told at once."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from brimline.errors import TargetError
from brimline.servers.contact import PATIENCE_S
from brimline.servers.deployment import CONNECT_TIMEOUT_S, unreachable
from brimline.servers.target_uri import TargetUri
from brimline.servers.tls_trouble import tls_trouble

_REST_S = 0.1


def connect(target: TargetUri, *, timeout_s: float = CONNECT_TIMEOUT_S) -> socket.socket:
    """A TCP connection to `target`, which is tried again for a moment where it is refused: the server may be starting.

    Raises TargetError.
    """
    try:
        made = _connected(target.host, target.port, timeout_s=timeout_s)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    except OSError as error:
        raise connection_error(error, target) from error
    return made


def stays_refused(address: str) -> bool:
    """Whether nothing listens at `HOST:PORT`, for a moment: a driver asks on as long as it may wait for a server."""
    host, _, port = address.rpartition(":")
    try:
        _connected(host.strip("[]"), int(port), timeout_s=PATIENCE_S).close()
    except (OSError, ValueError) as error:
        return isinstance(error, ConnectionRefusedError)
    return False


def _connected(host: str, port: int, *, timeout_s: float) -> socket.socket:
    """A connection that is tried again for a moment where it is refused or broken. Raises OSError."""
    until_s = time.monotonic() + min(PATIENCE_S, timeout_s)
    while True:
        try:
            return socket.create_connection((host, port), timeout=timeout_s)
        except ConnectionError:
            if time.monotonic() >= until_s:
                raise
            time.sleep(_REST_S)


@contextmanager
def in_time(connection: socket.socket, *, limit_s: float) -> Iterator[None]:
    """Ends `connection` after `limit_s`: a peer that goes on slowly is never late for a single read.

    Raises TimeoutError then, whatever came of that end.
    """
    kept = connection.dup()  # a library that begins TLS takes the socket itself away
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        with suppress(OSError):
            kept.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(limit_s, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        if not is_late.is_set():
            raise
    finally:
        timer.cancel()
        kept.close()
    if is_late.is_set():
        raise TimeoutError


def connection_error(error: OSError, target: TargetUri) -> TargetError:
    """The error of a connection that was not made, or broke, in few words."""
    if (trouble := tls_trouble(str(error), target.redacted, target.tls)) is not None:
        return trouble
    if isinstance(error, socket.gaierror):
        words = {
            socket.EAI_NONAME: "the host name is unknown",
            socket.EAI_AGAIN: "the host name can't be resolved",
        }.get(error.errno or 0, "the host name has no address")
        return unreachable(target.redacted, reason=words, hint="check how the host name is written")
    if isinstance(error, TimeoutError):
        return unreachable(target.redacted, reason="no answer in time")
    return unreachable(target.redacted, reason=str(error.strerror or error).lower())

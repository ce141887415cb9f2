"""Owns what a client sent: its messages to a server, recorded on their way there."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

_HEAD = 16
"""Bytes of a message's header: length, number, number answered, kind."""
_OP_MSG = 2013


def recorded_requests(address: str, send: Callable[[str], None], command: str) -> bytes:
    """The messages of the kind `command` that a client sends to the server at `address`, one behind another.

    `send` has the client do so over the one address that it is given, and returns when the client is done.
    """
    streams: list[bytearray] = []
    with socket.create_server(("127.0.0.1", 0)) as front:
        threading.Thread(target=_accept, args=(front, address, streams), daemon=True).start()
        send(f"127.0.0.1:{front.getsockname()[1]}")
    found = b"".join(each for stream in streams for each in _messages(bytes(stream)) if _is(each, command))
    if not found:
        raise RuntimeError(f"no {command} came by")
    return found


def _accept(front: socket.socket, address: str, streams: list[bytearray]) -> None:
    host, _, port = address.rpartition(":")
    while True:
        try:
            client, _ = front.accept()
        except OSError:
            return  # all is recorded
        server = socket.create_connection((host.strip("[]"), int(port)))
        streams.append(bytearray())
        for source, target, kept in ((client, server, streams[-1]), (server, client, bytearray())):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_forward, args=(source, target, kept), daemon=True).start()


def _forward(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
    with suppress(OSError), target:
        while data := source.recv(1 << 16):
            kept += data
            target.sendall(data)


def _messages(stream: bytes) -> list[bytes]:
    found, at = [], 0
    while at + _HEAD <= len(stream):
        length = int.from_bytes(stream[at : at + 4], "little")
        found.append(stream[at : at + length])
        at += length
    return found


def _is(message: bytes, command: str) -> bool:
    """Whether it is an OP_MSG whose document begins with `command`: behind the header are flags, a byte, a length."""
    name = message[_HEAD + 10 :].partition(b"\0")[0]
    return int.from_bytes(message[12:16], "little") == _OP_MSG and name == command.encode()

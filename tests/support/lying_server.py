"""Owns a server that lies: it stands in front of a truthful one and tells one lie about what that one answers."""

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random

from tests.support.lies import Lie, Sending, edited, told_of

_READ_BYTES = 1 << 20


@contextmanager
def lying_server(truth: str, lie: Lie, *, seed: int = 0) -> Iterator[str]:
    """Answers as the server at `truth` (`host:port`) does, but for `lie`; gives its own address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        liar = _Liar(truth, lie, seed)
        accepting = threading.Thread(target=liar.accept, args=(listener,), name="liar", daemon=True)
        accepting.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            liar.end(listener)
            accepting.join(5)


class _Liar:
    def __init__(self, truth: str, lie: Lie, seed: int) -> None:
        host, _, port = truth.rpartition(":")
        self._truth = (host, int(port))
        self._lie = lie
        self._random = Random(seed)
        self._replies = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []

    def accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                self._sockets.append(near)
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def end(self, listener: socket.socket) -> None:
        self._over.set()
        # Closing a socket does not wake a thread that waits in it, shutting it down does.
        for each in (listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _serve(self, near: socket.socket) -> None:
        with suppress(OSError, struct.error), near, socket.create_connection(self._truth) as far:
            self._sockets.append(far)
            for each in (near, far):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while request := _message(near):
                far.sendall(request)
                reply = _message(far)
                if not reply or not self._send(near, self._answer(request, reply)):
                    return

    def _answer(self, request: bytes, reply: bytes) -> Sending:
        command = told_of(request)
        if command == "hello":
            # Else a driver has its heartbeats pushed, and a reply without a request is none that can be spoiled.
            reply = edited(reply, lambda document: document.pop("topologyVersion", None))
        with self._lock:
            number = self._replies
            if self._lie.command in (None, command):
                self._replies += 1
            if not self._lie.is_told(command, number):
                return Sending(reply)
            return self._lie.spoil(self._random, request, reply)

    def _send(self, near: socket.socket, sending: Sending) -> bool:
        """Returns whether the connection goes on."""
        for start in range(0, len(sending.data), sending.piece_bytes):
            near.sendall(sending.data[start : start + sending.piece_bytes])
            if sending.pause_s:
                time.sleep(sending.pause_s)
        if sending.then == "silence":
            self._over.wait()
        return sending.then == "go on"


def _message(source: socket.socket) -> bytes:
    """The next whole message; empty at the end of the connection."""
    header = _exactly(source, 4)
    if not header:
        return b""
    return header + _exactly(source, struct.unpack("<i", header)[0] - 4)


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = []
    while count > 0:
        part = source.recv(min(count, _READ_BYTES))
        if not part:
            return b""
        parts.append(part)
        count -= len(part)
    return b"".join(parts)

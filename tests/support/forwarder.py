"""Owns a TCP forwarder that delays what passes through it, so that a server on loopback is far away."""

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK_BYTES = 65536
_Delayed = queue.SimpleQueue[tuple[float, bytes]]


@contextmanager
def delaying_forwarder(address: str, *, delay_s: float) -> Iterator[str]:
    """Forwards to `address` (`host:port`), each way `delay_s` later; gives its own address."""
    host, _, port = address.rpartition(":")
    sockets: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(
            target=_accept, args=(listener, (host, int(port)), delay_s, sockets), name="forwarder", daemon=True
        )
        accepting.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            # Closing a socket does not wake a thread that waits in it, shutting it down does.
            for each in (listener, *sockets):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            accepting.join(5)
            for each in sockets:
                each.close()


def _accept(listener: socket.socket, target: tuple[str, int], delay_s: float, sockets: list[socket.socket]) -> None:
    with suppress(OSError):
        while True:
            near, _ = listener.accept()
            far = socket.create_connection(target)
            sockets += [near, far]
            for each in (near, far):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _pump(near, far, delay_s)
            _pump(far, near, delay_s)


def _pump(source: socket.socket, sink: socket.socket, delay_s: float) -> None:
    """Two threads: one takes bytes as they come, the other hands them on when they are due."""
    delayed: _Delayed = queue.SimpleQueue()
    threading.Thread(target=_take, args=(source, delayed, delay_s), daemon=True).start()
    threading.Thread(target=_hand_on, args=(delayed, sink), daemon=True).start()


def _take(source: socket.socket, delayed: _Delayed, delay_s: float) -> None:
    data = b"-"
    while data:
        try:
            data = source.recv(_CHUNK_BYTES)
        except OSError:
            data = b""
        delayed.put((time.monotonic() + delay_s, data))


def _hand_on(delayed: _Delayed, sink: socket.socket) -> None:
    with suppress(OSError):
        while True:
            due, data = delayed.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            sink.sendall(data)

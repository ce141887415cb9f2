"""Owns nodes that are processes of this machine: to try out what a cluster does, and one behind any command's words."""

import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.node import LEASE_S, UNASKED, NodeEngine

_END_WITHIN_S = 5.0


class ProcessLink:
    """A `NodeEngine` in a process of its own, which ends with this one. `prefix`: words before the command's own."""

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [*prefix, sys.executable, "-m", __name__, str(theirs.fileno())]
            # Ctrl-C is passed on by whoever asked for the run; the node has no terminal.
            self._process = subprocess.Popen(  # noqa: S603 (our own program)
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        self._connection = Connection(os.dup(ours.fileno()))
        self._socket = ours
        self._end_within_s = 0.0  # one that has yet to begin has nothing to end
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        """Of the process, or of what was put before it."""
        return self._process.pid

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        """See `Link`."""
        try:
            with self._lock:
                self._limit_waiting(within_s)
                self._connection.send((name, arguments))
                if not self._connection.poll(within_s):
                    raise self._silent(within_s)
                is_well, answer = self._connection.recv()
                self._end_within_s = _END_WITHIN_S
        except BlockingIOError as error:
            raise self._silent(within_s) from error
        except (EOFError, OSError) as error:
            raise NodeLost(self._how_it_ended()) from error
        if not is_well:
            raise NodeLost(answer)
        return answer

    def close(self) -> None:
        """See `Link`."""
        with suppress(OSError):  # it is gone, or closed
            self._socket.shutdown(socket.SHUT_RDWR)  # also where another thread waits for an answer
        self._connection.close()
        self._socket.close()
        try:
            self._process.wait(self._end_within_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _limit_waiting(self, within_s: float) -> None:
        """A process that is stopped takes nothing more, and may have said half: both then end with BlockingIOError."""
        seconds = int(within_s)
        limit = struct.pack("ll", seconds, max(1, int((within_s - seconds) * 1e6)))
        for way in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, way, limit)

    def _silent(self, within_s: float) -> NodeLost:
        self._end_within_s = 0.0  # nor will it hear that it is to end
        return NodeLost(f"no answer within {within_s:g} s")

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1.0)
            if code == UNASKED:
                return (
                    f"it ended by itself, as it was not asked for {LEASE_S:g} s: this machine had too much else to do"
                )
            return f"its process ended with signal {-code}" if code < 0 else f"its process ended with code {code}"
        return "its process closed the connection"


def serve(descriptor: int) -> None:
    """Answers what comes by this socket, until it is closed; then nothing goes on."""
    connection, engine = Connection(descriptor), NodeEngine()
    while True:
        try:
            name, arguments = connection.recv()
        except (EOFError, OSError):
            break
        try:
            answer = True, getattr(engine, name)(*arguments)
        except Exception as error:
            answer = False, f"{type(error).__name__}: {error}"
        try:
            connection.send(answer)
        except OSError:
            break
    engine.end()
    os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]))

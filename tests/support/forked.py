"""Owns processes of brimline that begin with everything imported: forked from one that has done so.

Half of what a short command takes is the start of Python and of its imports: a second of CPU time, which every test
with a process would pay. What is about the first moment of a process, its limits or its words in the process list
starts a fresh one.

Run as a module it is the process that forks. It is asked over a socket: a line of JSON, with the streams of the new
process and the pipe that its exit status goes to.
"""

import atexit
import gc
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

_SOURCES = Path(__file__).parents[2] / "python"
_SOCKET = "BRIMLINE_FORKING_SOCKET"
_STATUS_BYTES = 4
_REQUEST_BYTES_MAX = 1 << 20


class Forked:
    """A process as `subprocess.Popen[str]` has it, with pipes for its output or without."""

    def __init__(self, pid: int, status: int, pipes: Sequence[IO[str]]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout, self.stderr = pipes or (None, None)
        self._status = status

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            told = os.read(self._status, _STATUS_BYTES)
            os.close(self._status)
            # Nothing is told where the one that forks is gone, which takes all of its own along.
            self.returncode = int.from_bytes(told, "little", signed=True) if told else -signal.SIGKILL
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("brimline", timeout or 0.0)
            self.poll()
        assert self.returncode is not None
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All that was not read yet of both streams, once it has ended."""
        until = None if timeout is None else time.monotonic() + timeout
        pipes = [each for each in (self.stdout, self.stderr) if each is not None]
        read = {stream.fileno(): [_buffered(stream)] for stream in pipes}
        is_open = set(read)
        while is_open:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            ready = select.select(list(is_open), [], [], left)[0]
            if not ready:
                raise subprocess.TimeoutExpired("brimline", timeout or 0.0)
            for descriptor in ready:
                piece = os.read(descriptor, 1 << 16)
                read[descriptor].append(piece)
                if not piece:
                    is_open.remove(descriptor)
        self.wait(None if until is None else max(until - time.monotonic(), 0.0))
        stdout, stderr = (b"".join(pieces).decode() for pieces in (*read.values(), [], [])[:2])
        for stream in pipes:
            stream.close()
        self.stdout = self.stderr = None
        return stdout, stderr

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _buffered(stream: IO[str]) -> bytes:
    """What was read of the pipe by `readline` and not handed out."""
    os.set_blocking(stream.fileno(), False)
    try:
        return (stream.read() or "").encode()
    except (BlockingIOError, TypeError):  # there is nothing
        return b""
    finally:
        os.set_blocking(stream.fileno(), True)


def start(
    words: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    files: tuple[IO[bytes], IO[bytes]] | None = None,
    open_files_max: int | None = None,
) -> Forked:
    """Runs `-m brimline …` or a file of Python in a session of its own, with these variables and no others.

    Its output and its errors go to `files`, or to pipes. `open_files_max`: the limit that it begins with.
    """
    status, its_status = os.pipe()
    pipes = [] if files else [os.pipe(), os.pipe()]
    outputs = [each.fileno() for each in files] if files else [its_end for _, its_end in pipes]
    request = {"words": list(words), "directory": str(directory), "environment": dict(environment)}
    if open_files_max is not None:
        request["open_files_max"] = open_files_max
    try:
        with _one_at_a_time:
            asked = _forking()
            socket.send_fds(asked, [json.dumps(request).encode()], [*outputs, its_status])
            pid = int(asked.recv(64))
    finally:
        for each in (its_status, *(its_end for _, its_end in pipes)):
            os.close(each)
    return Forked(pid, status, [os.fdopen(end, encoding="utf-8") for end, _ in pipes])


_one_at_a_time = threading.Lock()
_started: list[tuple[subprocess.Popen[bytes], socket.socket]] = []


def _forking() -> socket.socket:
    """The socket to the process that forks, which is started when it is needed first, and once."""
    if not _started or _started[0][0].poll() is not None:
        _started.clear()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {**os.environ, "PYTHONPATH": str(_SOURCES), "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                cwd=Path(__file__).parents[2],
                env={**environment, _SOCKET: str(theirs.fileno())},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        _started.append((process, ours))
        atexit.register(_end, process, ours)
    return _started[0][1]


def _end(process: "subprocess.Popen[bytes]", ours: socket.socket) -> None:
    ours.close()
    process.wait(10)


def _import_everything() -> None:
    import scipy.special  # noqa: F401 (as brimline does when it first needs it)

    import brimline

    for module in pkgutil.walk_packages(brimline.__path__, "brimline."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # what is optional
                import_module(module.name)


def _fork_on_request(asking: socket.socket) -> dict[str, Any] | None:
    """Forks for each request; what the new process is to do, in that process, and None in the end in this one."""
    running: dict[int, tuple[int, int]] = {}
    while True:
        ready = select.select([asking, *running], [], [])[0]
        for handle in set(ready) & running.keys():
            pid, status = running.pop(handle)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with suppress(BrokenPipeError):  # nobody waits any more
                os.write(status, code.to_bytes(_STATUS_BYTES, "little", signed=True))
            os.close(status)
            os.close(handle)
        if asking not in ready:
            continue
        told, descriptors, _, _ = socket.recv_fds(asking, _REQUEST_BYTES_MAX, 3)
        if not told:
            return None
        stdout, stderr, status = descriptors
        pid = os.fork()
        if pid == 0:
            for each in (asking.detach(), status, *running, *(pipe for _, pipe in running.values())):
                os.close(each)
            os.setsid()
            os.dup2(stdout, 1)
            os.dup2(stderr, 2)
            os.close(stdout)
            os.close(stderr)
            request: dict[str, Any] = json.loads(told)
            return request
        asking.send(str(pid).encode())
        running[os.pidfd_open(pid)] = (pid, status)
        os.close(stdout)
        os.close(stderr)


def _become(request: Mapping[str, Any]) -> None:
    """Does what a fresh process would do, to its very end."""
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if "open_files_max" in request:
        resource.setrlimit(resource.RLIMIT_NOFILE, (request["open_files_max"],) * 2)
    first, *rest = request["words"]
    if first == "-m":
        sys.argv[:] = [rest[0], *rest[1:]]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = [first, *rest]
        sys.path.insert(0, str(Path(first).parent))
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    with socket.socket(fileno=int(os.environ.pop(_SOCKET))) as place:
        gc.disable()
        _import_everything()
        gc.freeze()  # as brimline itself does after its imports
        gc.enable()
        found = _fork_on_request(place)
    if found is not None:
        _become(found)

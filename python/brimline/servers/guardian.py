"""Owns the life of one server process: runs as a program of its own between brimline and the server.

    python -I -S guardian.py OPTIONS DIRECTORY COMMAND [ARGUMENT ...]

OPTIONS is a JSON object. `libraries`: a directory that the server alone looks for shared libraries in first; `cpus`:
the processors that it may run on.

The server lives until the guardian's standard input ends: brimline closes it to stop the server, and the
kernel closes it when brimline dies, however that happens. The guardian then kills the server and removes
DIRECTORY. The word "keep" on standard input instead lets the server outlive brimline: from then on the guardian waits
for the server's own end. When the guardian itself is killed, the kernel kills the server (PR_SET_PDEATHSIG).

Why a process: PR_SET_PDEATHSIG fires when the *thread* that forked ends, and brimline may be called from any
thread; the guardian has one thread. `preexec_fn` would run Python between fork and exec of a process with
threads, which can deadlock; here the fork happens in a process without threads. It sleeps in `poll` and costs
no CPU.

Standard library only, and no import of brimline: it starts in about 20 ms. Exit code: the server's own when
the server ended first (128 + signal when a signal ended it), 0 when it was stopped, 127 when the server can't
be executed.
"""

# pathlib would double the time to start.
# ruff: noqa: PTH104, PTH115, PTH118, PTH123

import ctypes
import json
import os
import select
import shutil
import signal
import sys
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_EXEC_FAILED = 127
_STANDARD_INPUT = 0
_KEEP = b"keep"


def main(options: dict[str, object], directory: str, command: list[str]) -> int:
    """Starts `command`, waits for the end of standard input or of the server; see the module."""
    # Loaded before the fork, so that the child does nothing that could fail or block.
    libc = ctypes.CDLL(None, use_errno=True)
    guardian = os.getpid()
    may_start, allow_start = os.pipe()
    server = os.fork()
    if server == 0:
        os.close(allow_start)
        _become_server(libc, guardian, may_start, command, options)
    os.close(may_start)
    # Written before the server executes anything, so that there is no instant in which a server runs
    # unrecorded.
    _write_state(directory, server, os.path.realpath(command[0]))
    os.close(allow_start)
    if _server_ended_first(server):
        return _wait(server)
    os.kill(server, signal.SIGKILL)
    _wait(server)
    shutil.rmtree(directory, ignore_errors=True)
    return 0


def _become_server(
    libc: ctypes.CDLL, guardian: int, may_start: int, command: list[str], options: dict[str, object]
) -> NoReturn:
    try:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.read(may_start, 1)  # until the guardian has written the state
        # A guardian that died before the prctl call sends no signal any more.
        if os.getppid() == guardian:
            no_input = os.open(os.devnull, os.O_RDONLY)
            os.dup2(no_input, _STANDARD_INPUT)
            if options.get("cpus"):
                os.sched_setaffinity(0, options["cpus"])  # type: ignore[arg-type]
            environment = dict(os.environ)
            if options.get("libraries"):
                environment["LD_LIBRARY_PATH"] = str(options["libraries"])
            os.execve(command[0], command, environment)  # noqa: S606 (no shell is meant)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(_EXEC_FAILED)


def _server_ended_first(server: int) -> bool:
    ended = os.pidfd_open(server)
    poller = select.poll()
    poller.register(_STANDARD_INPUT, select.POLLIN)
    poller.register(ended, select.POLLIN)
    ready = {descriptor for descriptor, _ in poller.poll()}
    if _STANDARD_INPUT in ready and os.read(_STANDARD_INPUT, len(_KEEP)) == _KEEP:
        poller.unregister(_STANDARD_INPUT)
        ready = {descriptor for descriptor, _ in poller.poll()}
    os.close(ended)
    return _STANDARD_INPUT not in ready


def _wait(server: int) -> int:
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    return code if code >= 0 else 128 - code


def _write_state(directory: str, server: int, executable: str) -> None:
    guardian = os.getpid()
    state = {
        "process": {"pid": server, "start_ticks": _start_ticks(server), "executable": executable},
        "guardian": {
            "pid": guardian,
            "start_ticks": _start_ticks(guardian),
            "executable": os.readlink(f"/proc/{guardian}/exe"),
        },
    }
    path = os.path.join(directory, "server.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.rename(path + ".new", path)


def _start_ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[19])


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]))

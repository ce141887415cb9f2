"""Owns the life of one server process: runs as a program of its own between brimline and the server.

    python -I -S guardian.py OPTIONS DIRECTORY COMMAND [ARGUMENT ...]

OPTIONS is a JSON object, empty for a program that needs nothing:

- `libraries`: a directory that the server alone looks for shared libraries in first.
- `cpus`: the processors that it may run on.
- `before`: commands that are run to their end first, one after the other, such as the one that makes a data directory.
- `end_signal`: the signal that ends it at once; SIGKILL unless given. A server of several processes has another one, by
  which it ends all of them; what is left 5 seconds later is killed.
- `namespace`: it runs in namespaces of its own for users and for shared memory, in which its user has the id `user`.
  PostgreSQL doesn't run as root, and so its files stay those of the user that started it. Segments of shared memory of
  System V, which outlive their processes, end with the namespace. Where a machine allows none, as many containers
  don't, it runs without; one that would run as root (`not_root`) then becomes the user, who has DIRECTORY/data.

The server lives until the guardian's standard input ends: brimline closes it to stop the server, and the
kernel closes it when brimline dies, however that happens. The guardian then ends the server and removes
DIRECTORY. The word "keep" on standard input instead lets the server outlive brimline: from then on the guardian waits
for the server's own end, or for SIGTERM. When the guardian itself is killed, the kernel ends the server
(PR_SET_PDEATHSIG). Whatever processes a server leaves behind become the guardian's (PR_SET_CHILD_SUBREAPER) and are
killed.

Why a process: PR_SET_PDEATHSIG fires when the *thread* that forked ends, and brimline may be called from any
thread; the guardian has one thread. `preexec_fn` would run Python between fork and exec of a process with
threads, which can deadlock; here the fork happens in a process without threads. It sleeps in `poll` and costs
no CPU.

Standard library only, and no import of brimline: it starts in about 20 ms. Exit code: the server's own when
the server ended first (128 + signal when a signal ended it), 0 when it was stopped, 127 when the server can't
be executed. A command of `before` that fails ends all with its own.
"""

# pathlib would double the time to start.
# ruff: noqa: PTH104, PTH115, PTH118, PTH123, PTH208

import ctypes
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION = 0x20080522
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWIPC = 0x08000000
_EXEC_FAILED = 127
_STANDARD_INPUT = 0
_KEEP = b"keep"
_END_S = 5.0
_LOOK_S = 0.01

Options = Mapping[str, object]


def main(options: Options, directory: str, command: Sequence[str]) -> int:
    """Starts `command`, waits for the end of standard input or of the server; see the module."""
    # Loaded before the fork, so that the child does nothing that could fail or block.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    told_to_end = _sigterm()
    code = 0
    for each in [*_commands(options.get("before", ())), command]:
        server = _start(libc, options, directory, each)
        if not _ended_first(server, told_to_end):
            _end(server, options)
            _end_orphans()
            shutil.rmtree(directory, ignore_errors=True)
            return 0
        code = _wait(server)
        _end_orphans()
        if code != 0:
            break
    return code


def _commands(said: object) -> list[list[str]]:
    return [[str(word) for word in command] for command in said] if isinstance(said, list) else []


def _sigterm() -> int:
    """A descriptor that can be read when SIGTERM has come."""
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGTERM, lambda *_: None)
    return told


def _start(libc: ctypes.CDLL, options: Options, directory: str, command: Sequence[str]) -> int:
    guardian = os.getpid()
    may_start, allow_start = os.pipe()
    server = os.fork()
    if server == 0:
        os.close(allow_start)
        _become_server(libc, guardian, may_start, command, options, directory)
    os.close(may_start)
    # Written before the server executes anything, so that there is no instant in which a server runs
    # unrecorded.
    _write_state(directory, server, os.path.realpath(command[0]), options)
    os.close(allow_start)
    return server


def _become_server(
    libc: ctypes.CDLL, guardian: int, may_start: int, command: Sequence[str], options: Options, directory: str
) -> NoReturn:
    try:
        _enter_namespaces(libc, options.get("namespace"), directory)  # first: it takes the next line back
        libc.prctl(_PR_SET_PDEATHSIG, _end_signal(options))
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
            os.execve(command[0], list(command), environment)  # noqa: S606 (no shell is meant)
    except OSError as error:
        os.write(2, f"{error.filename or command[0]}: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(_EXEC_FAILED)


def _enter_namespaces(libc: ctypes.CDLL, wanted: object, directory: str) -> None:
    if not isinstance(wanted, dict):
        return
    user_id, group_id = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWIPC) != 0:
        if wanted["not_root"]:
            _become_user(libc, wanted["user"], os.path.join(directory, "data"))
        return
    for name, text in (
        ("uid_map", f"{wanted['user']} {user_id} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{wanted['user']} {group_id} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def _become_user(libc: ctypes.CDLL, user: int, data: str) -> None:
    """Keeps of root that a directory of root's may be passed through: capabilities(7)."""
    os.chown(data, user, user)
    libc.prctl(_PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    kept = (ctypes.c_uint32 * 6)(*([1 << _CAP_DAC_OVERRIDE] * 3), 0, 0, 0)
    if (
        libc.capset(header, kept) != 0
        or libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0) != 0
    ):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "capabilities")


def _ended_first(server: int, told_to_end: int) -> bool:
    """Whether the server ended before it was to end."""
    ended = os.pidfd_open(server)
    poller = select.poll()
    for descriptor in (_STANDARD_INPUT, ended, told_to_end):
        poller.register(descriptor, select.POLLIN)
    ready = {descriptor for descriptor, _ in poller.poll()}
    if _STANDARD_INPUT in ready and os.read(_STANDARD_INPUT, len(_KEEP)) == _KEEP:
        poller.unregister(_STANDARD_INPUT)
        ready = {descriptor for descriptor, _ in poller.poll()}
    os.close(ended)
    return ready == {ended}


def _end(server: int, options: Options) -> None:
    number = _end_signal(options)
    os.kill(server, number)
    if number != signal.SIGKILL:
        ended = os.pidfd_open(server)
        select.select([ended], [], [], _END_S)
        os.close(ended)
        os.kill(server, signal.SIGKILL)  # nothing to a process that waits to be reaped
    _wait(server)


def _end_signal(options: Options) -> int:
    return int(str(options.get("end_signal") or int(signal.SIGKILL)))


def _end_orphans() -> None:
    """Kills what servers have left behind, until nothing is."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        for pid in _children():
            os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_S)


def _children() -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
        if parent == os.getpid():
            found.append(int(name))
    return found


def _wait(server: int) -> int:
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    return code if code >= 0 else 128 - code


def _write_state(directory: str, server: int, executable: str, options: Options) -> None:
    guardian = os.getpid()
    state = {
        "process": {"pid": server, "start_ticks": _start_ticks(server), "executable": executable},
        "guardian": {
            "pid": guardian,
            "start_ticks": _start_ticks(guardian),
            "executable": os.readlink(f"/proc/{guardian}/exe"),
        },
        "end_signal": _end_signal(options),
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

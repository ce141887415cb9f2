"""Owns proving that a process listens on a TCP port of this machine, from /proc (proc(5))."""

import os
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_LISTEN = "0A"
_SERVER_NAMES = frozenset({"mongod", "mongos"})
_PASSING_ON = frozenset({"docker-proxy", "rootlessport", "ssh", "kubectl", "socat"})


def listens(pid: int, port: int) -> bool:
    """Whether process `pid` holds a listening TCP socket on `port`.

    The files of another user's process can't be read; its name must do then, while something listens on the
    port.
    """
    inodes = _listening_inodes(port)
    if not inodes:
        return False
    try:
        return any(socket in inodes for socket in _socket_inodes(pid))
    except PermissionError:
        return process_name(pid) in _SERVER_NAMES
    except OSError:
        return False


def server_on_port(port: int) -> int | None:
    """The pid of the mongod or mongos that listens on `port`; None where there is none that can be told."""
    inodes = _listening_inodes(port)
    if not inodes:
        return None
    pids = (int(each.name) for each in _PROC.iterdir() if each.name.isdigit())
    servers = (pid for pid in pids if process_name(pid) in _SERVER_NAMES)
    return next((pid for pid in servers if _holds(pid, inodes)), None)


def listening_process(port: int) -> int | None:
    """The pid of the process that listens on `port`, whatever it is; None where none can be told.

    Of several with the same socket, as the workers of a service have it, it is the one that started the others. One
    that only passes on what is sent to another place tells nothing of the server.
    """
    inodes = _listening_inodes(port)
    if not inodes:
        return None
    pids = [int(each.name) for each in _PROC.iterdir() if each.name.isdigit()]
    holders = {pid for pid in pids if _holds(pid, inodes)}
    oldest = sorted(pid for pid in holders if parent_of(pid) not in holders)
    return oldest[0] if oldest and process_name(oldest[0]) not in _PASSING_ON else None


def parent_of(pid: int) -> int | None:
    """The pid of a process' parent; None when it is gone."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def _holds(pid: int, inodes: frozenset[str]) -> bool:
    """As `listens`, but a process that can't be looked into is none: several servers of another user's would all be."""
    try:
        return not inodes.isdisjoint(_socket_inodes(pid))
    except OSError:
        return False


def _listening_inodes(port: int) -> frozenset[str]:
    found = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError), (_PROC / "net" / table).open(encoding="ascii") as rows:
            next(rows)
            for fields in map(str.split, rows):
                local_address, state, inode = fields[1], fields[3], fields[9]
                if state != _LISTEN:
                    # Those that listen come first. Behind them are all connections of the machine, of which the kernel
                    # makes text for 12 ms.
                    break
                if int(local_address.rpartition(":")[2], 16) == port:
                    found.add(inode)
    return frozenset(found)


def _socket_inodes(pid: int) -> list[str]:
    inodes, descriptors = [], f"{_PROC}/{pid}/fd"
    for descriptor in os.listdir(descriptors):  # noqa: PTH208 (names only; iterdir would stat nothing more)
        try:
            target = os.readlink(f"{descriptors}/{descriptor}")  # noqa: PTH115 (of hundreds; a Path takes ten times as long)
        except FileNotFoundError:
            continue  # closed meanwhile
        if target.startswith("socket:["):
            inodes.append(target[len("socket:[") : -1])
    return inodes


def process_name(pid: int) -> str:
    """What the kernel calls a process, 15 bytes at most; "" when it is gone."""
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""

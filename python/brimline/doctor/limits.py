"""Owns the checks of what the system lets one user have: open files and processes."""

import resource

from brimline.doctor.check import Check, graded
from brimline.plan.pacing import connections_text
from brimline.units import format_count

OPEN_FILES_MIN = 4096
OPEN_FILES_BESIDE = 128
"""Open files besides those of connections: the record, the control plane, the interpreter."""
PROCESSES_MIN = 1024
PROCESSES_BESIDE = 64
"""Processes and threads of one user besides those counted here."""

_UNLIMITED = resource.RLIM_INFINITY


def files_needed(connections: int, *, sockets: int = 1) -> int:
    """Open files of a run with so many connections, each to `sockets` servers."""
    return connections * sockets + OPEN_FILES_BESIDE


def connections_within(limit: int, *, sockets: int = 1) -> int:
    """The most connections for which so many open files are enough; below 1 where not even one has room."""
    return (limit - OPEN_FILES_BESIDE) // sockets


def open_files(*, connections: int | None = None, sockets: int = 1, limit: int | None = None) -> Check:
    """Each connection takes a file descriptor for each server that it leads to, at the generator and at that server.

    `limit` is the hard one: up to it brimline helps itself. `connections` are those of the workload, if there is one.
    """
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1] if limit is None else limit
    if limit == _UNLIMITED:
        return graded("open_files", "no limit", hint="", figures={"limit_files": None})
    needed = None if connections is None else files_needed(connections, sockets=sockets)
    each = "" if sockets == 1 else f", {sockets} sockets each,"
    planned = "" if needed is None else f"; the workload's {connections_text(connections or 0)}{each} need {needed}"
    return graded(
        "open_files",
        f"at most {format_count(limit)} open files{planned}",
        warn=limit < OPEN_FILES_MIN,
        fail=needed is not None and limit < needed,
        hint="ulimit -Hn 64000 as root, else at most "
        f"{connections_text(max(0, connections_within(limit, sockets=sockets)))} can be made",
        figures={"limit_files": limit, "needed_files": needed},
    )


def processes(
    *, connections: int | None = None, sockets: int = 1, threads: int | None = None, limit: int | None = None
) -> Check:
    """A server has a thread for each socket, and threads count as processes of their user (getrlimit(2))."""
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0] if limit is None else limit
    if limit == _UNLIMITED:
        return graded("processes", "no limit", hint="", figures={"limit_processes": None})
    needed = None if connections is None else connections * sockets + (threads or 1) + PROCESSES_BESIDE
    planned = "" if needed is None else f"; generator and a local server need {format_count(needed)}"
    return graded(
        "processes",
        f"at most {format_count(limit)} processes and threads{planned}",
        warn=limit < PROCESSES_MIN,
        fail=needed is not None and limit < needed,
        hint="ulimit -u 64000, or fewer connections",
        figures={"limit_processes": limit, "needed_processes": needed},
    )

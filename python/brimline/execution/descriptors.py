"""Owns the question whether this process may open as many files as a plan has connections."""

import resource

from brimline.doctor.limits import OPEN_FILES_BESIDE
from brimline.errors import UsageError
from brimline.plan import Plan


def allow_descriptors(plan: Plan, *, connections: int | None = None) -> None:
    """Raises the soft limit of open files where `plan` needs it; asked before anything is dropped or sent.

    `connections`: those of the largest of several runs on the same target; None: those of `plan`. Raises UsageError
    when the hard limit is too low.
    """
    if plan.target.kind in ("wire", "driver"):
        sockets = plan.target.sockets_per_connection if plan.target.kind == "wire" else 1
        allow_connections(plan.connections if connections is None else connections, sockets=sockets)


def allow_connections(connections: int, *, sockets: int = 1) -> None:
    """The same for so many connections of `sockets` sockets each. Raises UsageError."""
    wanted = connections * sockets + OPEN_FILES_BESIDE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise UsageError(
            f"a run of this plan needs {wanted} open files, and this process may have {hard}",
            hint="raise the limit (ulimit -n), or use fewer connections",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

"""Owns the question whether this process may open as many files as a plan has connections."""

import resource

from brimline.doctor import limits
from brimline.errors import UsageError
from brimline.execution.memory import allow_memory
from brimline.plan import NullTarget, Plan, SimulatedTarget, WireTarget
from brimline.spec.readers import CONNECTION_COUNT_MAX


def allow_descriptors(plan: Plan, *, connections: int | None = None) -> None:
    """Raises the soft limit of open files where `plan` needs it; asked before anything is dropped or sent.

    `connections`: those of the largest of several runs on the same target; None: those of `plan`. Raises UsageError
    when the hard limit is too low, ResourceError where there can't be the memory for the plan.
    """
    allow_memory(plan)
    if sockets := _sockets_per_connection(plan):
        allow_connections(plan.connections if connections is None else connections, sockets=sockets)


def connections_allowed(plan: Plan) -> int:
    """The most connections that a run on this plan's target may have here."""
    return connections_within(_sockets_per_connection(plan))


def connections_within(sockets: int) -> int:
    """The most connections of `sockets` sockets each that the hard limit of open files leaves room for."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if not sockets or hard == resource.RLIM_INFINITY:
        return CONNECTION_COUNT_MAX
    return max(1, min(CONNECTION_COUNT_MAX, limits.connections_within(hard, sockets=sockets)))


def _sockets_per_connection(plan: Plan) -> int:
    if isinstance(plan.target, WireTarget):
        return plan.target.sockets_per_connection
    return 0 if isinstance(plan.target, NullTarget | SimulatedTarget) else 1


def allow_connections(connections: int, *, sockets: int = 1) -> None:
    """The same for so many connections of `sockets` sockets each. Raises UsageError."""
    wanted = limits.files_needed(connections, sockets=sockets)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise UsageError(
            f"a run of this plan needs {wanted} open files, and this process may have {hard}",
            hint="raise the limit (ulimit -n), or use fewer connections",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

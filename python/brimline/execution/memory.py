"""Owns the question whether this process may have the memory that a plan needs, asked before anything is done."""

import resource

from brimline.errors import ResourceError
from brimline.plan import Plan
from brimline.units import format_bytes

ADDRESS_SPACE_BYTES = 650_000_000
"""What Python, its libraries and the analysis reserve; below it a run of one thread did not end well."""
_CONNECTION_BYTES = 64 * 1024
_STACK_BYTES = 8 * 1024 * 1024


def allow_memory(plan: Plan) -> None:
    """Raises ResourceError where the address space that this process may have (`ulimit -v`) is too small for `plan`."""
    allow_memory_of("this run", connections=plan.connections, threads=plan.threads)


def allow_memory_of(what: str, *, connections: int = 0, threads: int) -> None:
    """The same for other work, `what`, of so many connections and threads. Raises ResourceError."""
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed == resource.RLIM_INFINITY:
        return
    needed = ADDRESS_SPACE_BYTES + connections * _CONNECTION_BYTES + threads * _STACK_BYTES
    if allowed < needed:
        raise ResourceError.of_memory(
            f"this process may reserve {format_bytes(allowed)} (ulimit -v), and {what} needs {format_bytes(needed)}"
        )

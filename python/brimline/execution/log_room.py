"""Owns that a log of operations fits on its disk, as far as that is known before anything is sent."""

from pathlib import Path

from brimline.doctor.disk import free_below
from brimline.errors import UsageError
from brimline.plan import Plan
from brimline.plan.log import log_bytes, operations_at_most
from brimline.units import counted, format_bytes


def check_room_for_log(plan: Plan, directory: Path) -> None:
    """Raises UsageError where the log of `plan` can't fit in `directory`."""
    count = operations_at_most(plan)
    if plan.operation_log and count is not None:
        what = f"the log of {counted(count, 'operation')}"
        check_room(log_bytes(count), directory, what=what, or_else="plan fewer operations")


def check_room(needed_bytes: int, directory: Path, *, what: str, or_else: str = "") -> None:
    """Raises UsageError where fewer than `needed_bytes` are free in `directory`. `or_else`: what helps besides."""
    free_bytes = free_below(directory)
    if needed_bytes > free_bytes:
        last = f"choose another place, or {or_else}" if or_else else "or choose another place"
        raise UsageError(
            f"{what} takes {format_bytes(needed_bytes)}, and {format_bytes(free_bytes)} are free in {directory}",
            hint=f"free some space, {last}",
        )

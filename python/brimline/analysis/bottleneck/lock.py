"""Owns the candidate "lock or hot document": operations that exclude each other."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullest, fullness
from brimline.analysis.bottleneck.waiting import WAITING_SHARE_FULL, WAITING_SHARE_NEAR, waiting_share
from brimline.analysis.observation import Observation
from brimline.units import format_number, format_percentage
from brimline.wording import joined, message

CONFLICTS_PER_WRITE_FULL = 0.25
"""Write conflicts per write from which a fifth of all attempts is thrown away.

A conflict is an attempt on a document that another operation is writing; the server tries again. Measured on two
CPUs: 0.002 on 20 000 documents, 0.03 to 0.44 on a single one, where more connections and more CPUs no longer help.
"""
CONFLICTS_PER_WRITE_NEAR = 0.05
"""Conflicts per write from which writes visibly meet on the same documents."""


def lock(observation: Observation) -> Evidence:
    """Full when a fifth of the attempts to write collides, or when most operations wait for a lock."""
    use = observation.server_use
    conflicts = use.conflicts_per_write
    waiting = waiting_share(observation, use.lock_waiting)
    of_conflicts = fullness(conflicts, full=CONFLICTS_PER_WRITE_FULL, near=CONFLICTS_PER_WRITE_NEAR)
    of_locks = fullness(waiting, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR)
    seen = []
    if conflicts is not None:
        seen.append(message("{conflicts} write conflicts per write", conflicts=format_number(conflicts)))
    if waiting is not None:
        seen.append(message("{share} of the operations in flight waited for a lock", share=format_percentage(waiting)))
    if use.deadlocks_per_s:
        seen.append(message("{rate} deadlocks/s", rate=format_number(use.deadlocks_per_s)))
    of_what = seen[0] if of_conflicts is Fullness.FULL else seen[-1] if seen else ""
    return Evidence(
        kind=BottleneckKind.LOCK,
        standing=fullest(of_conflicts, of_locks),
        text=joined("; ", seen) if seen else "write conflicts and lock waits unknown, or nothing was written",
        verdict=message("a lock or hot document ({seen})", seen=of_what),
    )

"""Owns which members of a replica set take the reads: the connection string's read preference. Pure.

Source: the drivers' server selection specification. It is decided once, when the servers are found, and holds for
the whole run, so that a run measures one distribution and not a changing one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.errors import TargetError
from brimline.plan.model import Reads
from brimline.servers.discovery import Member, Topology

Mode = Literal["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"]
MODES: tuple[Mode, ...] = ("primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest")
MAX_STALENESS_S_MIN = 90
_HEARTBEAT_S = 10.0
"""How old the news of a server may be, by which the specification raises the estimate of its staleness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPreference:
    """Which members reads prefer. `tag_sets`: the first that fits a member counts; an empty one fits all."""

    mode: Mode
    tag_sets: tuple[Mapping[str, str], ...] = ()
    max_staleness_s: int | None = None


PRIMARY = ReadPreference(mode="primary")


def reads_of(topology: Topology, preference: ReadPreference) -> Reads | None:
    """Where reads go; None: where writes go, as without a preference.

    Raises TargetError when no member fits.
    """
    if preference.mode == "primary":
        return None
    addresses: tuple[str, ...] = ()
    if topology.primary.role == "primary" and preference.mode != "primaryPreferred":
        fitting = _fitting(topology, preference)
        if not fitting and preference.mode != "secondaryPreferred":
            raise TargetError(
                f"no member of the replica set takes reads of {preference.mode}: {_why(topology, preference)}",
                hint="check readPreference, readPreferenceTags and maxStalenessSeconds in the connection string",
            )
        addresses = tuple(sorted(member.address for member in fitting))
    return Reads(
        addresses=addresses,
        mode=preference.mode,
        tag_sets=tuple(dict(tags) for tags in preference.tag_sets),
        max_staleness_s=preference.max_staleness_s,
    )


def _fitting(topology: Topology, preference: ReadPreference) -> Sequence[Member]:
    members = [member for member in topology.secondaries if _is_fresh(member, topology.primary, preference)]
    if preference.mode == "nearest":
        members.append(topology.primary)
    for tags in preference.tag_sets or ({},):
        fitting = [member for member in members if tags.items() <= member.tags.items()]
        if fitting:
            return fitting
    return ()


def _is_fresh(member: Member, primary: Member, preference: ReadPreference) -> bool:
    if preference.max_staleness_s is None or member.last_write_s is None or primary.last_write_s is None:
        return True
    return primary.last_write_s - member.last_write_s + _HEARTBEAT_S <= preference.max_staleness_s


def _why(topology: Topology, preference: ReadPreference) -> str:
    if not topology.secondaries:
        return "it has no secondary that takes reads"
    fresh = [member for member in topology.secondaries if _is_fresh(member, topology.primary, preference)]
    if not fresh:
        return f"every secondary is more than {preference.max_staleness_s} s behind"
    return "no secondary has these tags"

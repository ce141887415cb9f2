"""Owns what each server of a deployment with several has counted and computed up to an instant.

Shares of the work are told by the difference of two readings, one on each side of a run.
"""

from dataclasses import asdict, dataclass
from typing import Any

from pymongo.errors import PyMongoError

from brimline.monitor.opcounters import KINDS, Opcounters
from brimline.servers.connecting import stays_refused
from brimline.servers.deployment import Deployment, control_client
from brimline.servers.parts import Part, parts_of
from brimline.units import NS_PER_US

_LOOK_TIMEOUT_S = 2.0
_CPU_TIMES = ("user_time_us", "system_time_us")
"""Of `serverStatus.extra_info`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCounts:
    """One server. `role`: primary, secondary, standalone, or "" of one that doesn't answer, which has no counts.

    `operations` by kind are those that clients sent it: what it replicates isn't among them. `cpu_ns` is that of its
    process, which Linux servers tell.
    """

    part: Part
    role: str = ""
    operations: dict[str, int] | None = None
    cpu_ns: int | None = None
    uptime_ms: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """For the record."""
        values = asdict(self)
        part: dict[str, Any] = values.pop("part")
        return part | values


def read_part_counts(deployment: Deployment) -> tuple[PartCounts, ...]:
    """Of now, shard by shard; none where one server holds all the data. Raises nothing."""
    return tuple(_counts(deployment, part) for part in parts_of(deployment))


def _counts(deployment: Deployment, part: Part) -> PartCounts:
    if stays_refused(part.address):
        return PartCounts(part=part)
    with control_client(
        part.address, access=deployment.access, purpose="monitor", connect_timeout_s=_LOOK_TIMEOUT_S
    ) as client:
        try:
            hello = client.admin.command("hello")
            sections = {"wiredTiger": 0, "metrics": 0, "locks": 0, "tcmalloc": 0}
            status = client.admin.command({"serverStatus": 1, **sections})
        except PyMongoError:
            return PartCounts(part=part)
    counters = Opcounters.from_status(status)
    role = "standalone" if "setName" not in hello else "primary" if hello.get("isWritablePrimary") else "secondary"
    extra = status.get("extra_info") or {}
    times_us = [int(extra[name]) for name in _CPU_TIMES if isinstance(extra.get(name), int)]
    return PartCounts(
        part=part,
        role=role,
        operations=None if counters is None else {kind: counters.count(kind) for kind in KINDS},
        cpu_ns=sum(times_us) * NS_PER_US if len(times_us) == len(_CPU_TIMES) else None,
        uptime_ms=None if counters is None else counters.uptime_ms,
    )

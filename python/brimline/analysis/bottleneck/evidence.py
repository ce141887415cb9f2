"""Owns the form of the evidence: what was looked at, what was seen, and whether it was full."""

from dataclasses import dataclass
from enum import StrEnum


class BottleneckKind(StrEnum):
    """Where a limit can be."""

    OUTAGE = "outage"
    GENERATOR = "generator"
    CONNECTIONS = "connections"
    NETWORK = "network"
    SERVER_CPU = "server_cpu"
    HOST = "host"
    TICKETS = "tickets"
    CACHE = "cache"
    DISK = "disk"
    JOURNAL = "journal"
    REPLICATION = "replication"
    LOCK = "lock"
    QUERY_PLAN = "query_plan"
    UNDETERMINED = "undetermined"


NAMES = {
    BottleneckKind.OUTAGE: "outage",
    BottleneckKind.GENERATOR: "generator",
    BottleneckKind.CONNECTIONS: "connections",
    BottleneckKind.NETWORK: "network",
    BottleneckKind.SERVER_CPU: "server CPU",
    BottleneckKind.HOST: "other programs on the host",
    BottleneckKind.TICKETS: "tickets and queues",
    BottleneckKind.CACHE: "cache",
    BottleneckKind.DISK: "disk",
    BottleneckKind.JOURNAL: "journal",
    BottleneckKind.REPLICATION: "replication",
    BottleneckKind.LOCK: "lock or hot document",
    BottleneckKind.QUERY_PLAN: "query plan",
    BottleneckKind.UNDETERMINED: "undetermined",
}
"""What each is called in a report."""


class Fullness(StrEnum):
    """How a candidate stood: at its limit, near it, well below it, or not seen."""

    FULL = "full"
    NEAR = "near"
    NOT = "not"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One candidate. `text`: what was seen, with its figures; `verdict`: the limit in a few words, should it be one."""

    kind: BottleneckKind
    standing: Fullness
    text: str
    verdict: str = ""

    @property
    def full(self) -> bool:
        """Whether it was at its limit."""
        return self.standing is Fullness.FULL


def fullness(value: float | None, *, full: float, near: float) -> Fullness:
    """Where `value` stands between its thresholds; unknown without one."""
    if value is None:
        return Fullness.UNKNOWN
    if value >= full:
        return Fullness.FULL
    return Fullness.NEAR if value >= near else Fullness.NOT


def fullest(*standings: Fullness) -> Fullness:
    """The most serious of several standings of one candidate; what isn't known says nothing beside what is."""
    order = (Fullness.FULL, Fullness.NEAR, Fullness.NOT)
    return next((each for each in order if each in standings), Fullness.UNKNOWN)

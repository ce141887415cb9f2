"""Owns what a lab is to be: topology, members, security, room. Checked before anything is started."""

import re
from dataclasses import dataclass
from typing import Literal

from brimline.errors import UsageError
from brimline.servers.bundled import CACHE_GB_MAX, CACHE_GB_MIN
from brimline.servers.lab.network import Network
from brimline.units import counted

System = Literal["mongodb", "mariadb", "postgres"]
IdGenerator = Literal["snowflake", "field-report"]
Topology = Literal["standalone", "replica set", "sharded cluster", "client-routed shards"]

CACHE_GB_DEFAULT = 0.25
"""Less than of a server alone: several share a machine."""
MEMBERS_MAX = 7
"""A replica set has at most 7 members that vote, and all of a lab's do unless they are hidden and delayed."""
SHARDS_MAX = 16
WORKERS_MAX = 64
WORKERS_DEFAULT = 2
CPU_SHARE_MIN = 0.02
CPU_SHARE_MAX = 4096.0
PRIORITY_MAX = 1000
NAME_DEFAULT = "lab"
ELECTION_TIMEOUT_MS_DEFAULT = 10_000
"""MongoDB's own."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """One member of a replica set. `delay_s`: it applies writes so much later. An arbiter holds no data."""

    priority: float = 1.0
    hidden: bool = False
    delay_s: int = 0
    arbiter: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSpec:
    """An order service. `id_generator`: "snowflake", or the one of a field report that fails under load."""

    workers: int = WORKERS_DEFAULT
    id_generator: IdGenerator = "snowflake"

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= WORKERS_MAX:
            raise UsageError(
                f"the order service can't have {counted(self.workers, 'worker')}",
                hint=f"give a number from 1 to {WORKERS_MAX}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSpec:
    """A lab.

    `system` is the kind of its servers; MariaDB and PostgreSQL are standalone, and always have access control.
    `service` is what stands before them.
    `members` are those of the replica set, or of each shard; none: servers of their own. `shard_count` is of the
    sharded cluster or of the client-routed shards, 0 otherwise. `cpus` are the processors that the servers may run on;
    none: all. `cpu_share` is how many CPUs each of them may use; None: any. `small`: small journal files and oplog,
    which change what a write costs: for tests of behaviour, not for measurements. `election_timeout_ms`: how long a
    primary may be silent before another one is elected. `network`: the line that connections go over; None: none.
    `disk_bytes`: the size of a disk of its own for each server; None: they share the machine's.
    """

    name: str = NAME_DEFAULT
    system: System = "mongodb"
    topology: Topology = "standalone"
    members: tuple[MemberSpec, ...] = ()
    shard_count: int = 0
    auth: bool = False
    tls: bool = False
    cache_gb: float = CACHE_GB_DEFAULT
    cpus: tuple[int, ...] = ()
    cpu_share: float | None = None
    small: bool = False
    election_timeout_ms: int = ELECTION_TIMEOUT_MS_DEFAULT
    network: Network | None = None
    disk_bytes: int | None = None
    service: ServiceSpec | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if not CACHE_GB_MIN <= self.cache_gb <= CACHE_GB_MAX:
            raise UsageError(
                f"a server's cache can't be {self.cache_gb:g} GB", hint=f"give {CACHE_GB_MIN:g} to {CACHE_GB_MAX:g} GB"
            )
        if len(self.members) > MEMBERS_MAX:
            raise UsageError(f"a set of {len(self.members)} members is too large", hint=f"give at most {MEMBERS_MAX}")
        if self.shard_count > SHARDS_MAX:
            raise UsageError(f"{self.shard_count} shards are too many for one machine", hint=f"at most {SHARDS_MAX}")
        if self.cpu_share is not None and not CPU_SHARE_MIN <= self.cpu_share <= CPU_SHARE_MAX:
            raise UsageError(
                f"a server's share of the processors can't be {self.cpu_share:g}",
                hint=f"give a number of CPUs from {CPU_SHARE_MIN:g} on, such as 0.5",
            )
        if not 100 <= self.election_timeout_ms <= 3_600_000:
            raise UsageError("the election timeout can't be that", hint="give 100ms to 1h")
        if self.network is not None and self.network.between == "members" and not self._has_members_apart:
            raise UsageError("there are no servers that speak with each other", hint="add --replica-set N")
        if self.members and not any(_can_lead(member) for member in self.members):
            raise UsageError(
                "no member of the set could become its primary",
                hint="leave one with data, a priority above 0, and neither hidden nor delayed",
            )

    @property
    def _has_members_apart(self) -> bool:
        return len(self.members) > 1 or self.topology == "sharded cluster"

    @property
    def set_count(self) -> int:
        """How many sets of `members`, or servers of their own, there are."""
        return max(1, self.shard_count)


def check_name(name: str) -> str:
    """`name`, which becomes that of a directory. Raises UsageError."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f'a lab can\'t be called "{name}"', hint="use up to 40 small letters, digits, dashes and underscores"
        )
    return name


def members_of(
    count: int,
    *,
    priorities: tuple[float, ...] = (),
    hidden: tuple[int, ...] = (),
    delays_s: dict[int, int] | None = None,
    arbiter: bool = False,
) -> tuple[MemberSpec, ...]:
    """`count` members with data, numbered from 1, and an arbiter after them if one is wanted.

    `priorities` are of the first ones; `hidden` and `delays_s` name members by number. A delayed member is hidden as
    well, and neither can be elected. Raises UsageError.
    """
    delays_s = delays_s or {}
    if count < 1:
        raise UsageError(f"a replica set can't have {counted(count, 'member')}", hint="give a number from 1 on")
    for number in (*hidden, *delays_s):
        if not 1 <= number <= count:
            raise UsageError(f"there is no member {number}", hint=f"members with data are numbered from 1 to {count}")
    if len(priorities) > count:
        raise UsageError(
            f"there are {len(priorities)} priorities for {counted(count, 'member')}", hint="one each, the first first"
        )
    for number, priority in enumerate(priorities, start=1):
        if not 0 <= priority <= PRIORITY_MAX:
            raise UsageError(f"priority {priority:g} is not allowed", hint=f"give 0 to {PRIORITY_MAX}")
        if priority and (number in hidden or number in delays_s):
            raise UsageError(
                f"member {number} can't be hidden or delayed with priority {priority:g}", hint="give it priority 0"
            )
    if any(not 1 <= delay_s <= 7 * 86_400 for delay_s in delays_s.values()):
        raise UsageError("a member's delay can't be that", hint="give whole seconds, from 1s to 7d")
    members = []
    for number in range(1, count + 1):
        aside = number in hidden or number in delays_s
        priority = priorities[number - 1] if number <= len(priorities) else 1.0
        members.append(MemberSpec(priority=0.0 if aside else priority, hidden=aside, delay_s=delays_s.get(number, 0)))
    return (*members, *([MemberSpec(priority=0.0, arbiter=True)] if arbiter else []))


def _can_lead(member: MemberSpec) -> bool:
    return member.priority > 0 and not member.arbiter and not member.hidden

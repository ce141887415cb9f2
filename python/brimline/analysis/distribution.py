"""Owns how data and work are distributed over shards and members, and whether the parts make up the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.units import format_count, sum_of_known
from brimline.wording import Verbatim, joined, message

PRIMARY_ROLES = ("primary", "standalone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPart:
    """What one server has of the data in the end, and did from before the run to its end. None: not known.

    `operations` are those that clients sent it, by kind; `shard` is "" where all servers have the same data.
    """

    shard: str
    address: str
    role: str
    documents: int | None = None
    data_bytes: int | None = None
    storage_bytes: int | None = None
    index_bytes: int | None = None
    files_bytes: int | None = None
    operations: Mapping[str, int] | None = None
    cpu_ns: int | None = None

    @property
    def operation_count(self) -> int | None:
        """Operations of all kinds."""
        return None if self.operations is None else sum(self.operations.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """All members of one shard: data are those of its primary, work is that of all of them."""

    name: str
    members: Sequence[ServerPart]

    @property
    def primary(self) -> ServerPart | None:
        """The member that takes writes, in the end. Where none tells its role, a router spoke for all of them."""
        if not any(each.role for each in self.members):
            return self.members[0]
        return next((each for each in self.members if each.role in PRIMARY_ROLES), None)

    @property
    def documents(self) -> int | None:
        """Documents in it."""
        return None if self.primary is None else self.primary.documents

    @property
    def operation_count(self) -> int | None:
        """Operations that its members were sent; None where one doesn't tell."""
        return sum_of_known([each.operation_count for each in self.members])

    @property
    def cpu_ns(self) -> int | None:
        """CPU time of its members; None where one doesn't tell."""
        return sum_of_known([each.cpu_ns for each in self.members])


def distribution(server_facts: Mapping[str, Any]) -> tuple[Shard, ...]:
    """Shard by shard, from `RunRecord.server_facts`; none where a single server has all the data."""
    before = {each.get("address"): each for each in (server_facts.get("before") or {}).get("parts", ())}
    after = (server_facts.get("after") or {}).get("parts", ())
    parts = [_part(each, before.get(each.get("address"))) for each in after]
    return tuple(
        Shard(name=name, members=tuple(members)) for name, members in groupby(parts, key=lambda each: each.shard)
    )


def work_together(runs: Sequence[Sequence[Shard]]) -> tuple[Shard, ...]:
    """Several runs on the same servers as one: work added up, data as of the last. None of other servers' runs."""
    if not runs or any(_servers(each) != _servers(runs[-1]) for each in runs):
        return ()
    by_place = zip(*([part for shard in shards for part in shard.members] for shards in runs), strict=True)
    parts = [_work_of(each) for each in by_place]
    return tuple(
        Shard(name=name, members=tuple(members)) for name, members in groupby(parts, key=lambda each: each.shard)
    )


def _servers(shards: Sequence[Shard]) -> list[str]:
    return [part.address for shard in shards for part in shard.members]


def _work_of(parts: Sequence[ServerPart]) -> ServerPart:
    told = [part.operations for part in parts if part.operations is not None]
    operations = {kind: sum(each.get(kind, 0) for each in told) for kind in told[0]} if told else None
    return replace(
        parts[-1],
        operations=operations if len(told) == len(parts) else None,
        cpu_ns=sum_of_known([part.cpu_ns for part in parts]),
    )


def distribution_finding(shards: Sequence[Shard], *, documents: int | None) -> list[Finding]:
    """Whether the shards' documents are those of the whole; nothing where there are no shards, or no whole is known."""
    if len(shards) < 2 or documents is None:
        return []
    counts = [shard.documents for shard in shards]
    total = sum_of_known(counts)
    if total is None:
        return [Finding("distribution", Standing.UNKNOWN, "not every shard says how many documents it has")]
    evidence = message(
        "{parts} documents on the shards are {total}, {whole} were counted",
        parts=joined(" + ", [format_count(count or 0) for count in counts]),
        total=format_count(total),
        whole=format_count(documents),
    )
    return [Finding("distribution", Standing.PASS if total == documents else Standing.FAIL, evidence)]


def shard_name(shard: Shard) -> str:
    """As reports name it."""
    return message("shard {name}", name=Verbatim(shard.name.removeprefix("shard "))) if shard.name else ""


def _part(after: Mapping[str, Any], before: Mapping[str, Any] | None) -> ServerPart:
    sizes = ("documents", "data_bytes", "storage_bytes", "index_bytes", "files_bytes")
    return ServerPart(
        shard=str(after.get("shard", "")),
        address=str(after.get("address", "")),
        role=str(after.get("role", "")),
        **{name: after.get(name) for name in sizes},
        **({} if before is None or _restarted(before, after) else _work(before, after)),
    )


def _restarted(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    then, now = before.get("uptime_ms"), after.get("uptime_ms")
    return then is None or now is None or now < then


def _work(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    then, now = before.get("operations"), after.get("operations")
    cpu_then, cpu_now = before.get("cpu_ns"), after.get("cpu_ns")
    return {
        "operations": None if not then or not now else {kind: now[kind] - then.get(kind, 0) for kind in now},
        "cpu_ns": None if cpu_then is None or cpu_now is None else cpu_now - cpu_then,
    }

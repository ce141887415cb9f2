"""Owns the counters of all servers that operations go to, read before and after a run."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from brimline.errors import TargetError
from brimline.monitor.opcounters import Opcounters, added, read_opcounters
from brimline.record.model import Opcounters as CountersAround
from brimline.servers.connecting import stays_refused
from brimline.servers.deployment import CONNECT_TIMEOUT_S, Deployment, control_client
from brimline.units import NS_PER_MS

_MEMBER_TIMEOUT_S = 1.0
"""How long a member is waited for that may be gone."""
_CLOCKS_APART_MS = 1000
"""What a server's time of running may fall behind ours without a restart: reading takes time, and clocks differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A server's counters, None where it has none, and when they were read, on this machine's monotonic clock."""

    counters: Opcounters | None
    at_ms: int

    def restarted_since(self, earlier: "Reading") -> bool:
        """Whether the server was started again in between: it has run for less than has passed.

        One that does not tell for how long it runs always tells the same.
        """
        if self.counters is None or earlier.counters is None:
            return False
        grown_ms = self.counters.uptime_ms - earlier.counters.uptime_ms
        return grown_ms != 0 and grown_ms < self.at_ms - earlier.at_ms - _CLOCKS_APART_MS


def read_counters(deployment: Deployment | None, commands: Collection[str] = ()) -> dict[str, Reading]:
    """The counters by address, those of `commands` by name included.

    A member of a followed set, or one of several routers, that is gone is left out.

    Raises:
        TargetError: a server that nothing replaces doesn't answer.
    """
    if deployment is None:
        return {}
    is_replaced = deployment.replica_set is not None or bool(deployment.routers)
    timeout_s = _MEMBER_TIMEOUT_S if is_replaced else CONNECT_TIMEOUT_S
    found = {}
    for address in deployment.addresses:
        if is_replaced and stays_refused(address):
            continue
        with control_client(address, access=deployment.access, connect_timeout_s=timeout_s) as client:
            try:
                found[address] = Reading(
                    counters=read_opcounters(client, commands), at_ms=time.monotonic_ns() // NS_PER_MS
                )
            except TargetError:
                if not is_replaced:
                    raise
    return found


def around(
    before: Mapping[str, Reading], after: Mapping[str, Reading], shards: Sequence[str] = ()
) -> CountersAround | None:
    """What all of them counted together; None where one tells nothing, came or went.

    A server that was started again makes the time of running 0, so that the sums read as of one that was. `shards` are
    the addresses of those whose own counts are told as well.
    """
    if before.keys() != after.keys():
        return None
    earlier = added([reading.counters for reading in before.values()])
    later = added([reading.counters for reading in after.values()])
    if earlier is None or later is None:
        return None
    if any(after[address].restarted_since(before[address]) for address in before):
        later = replace(later, uptime_ms=0)
    together: CountersAround = {"before": earlier.to_dict(), "after": later.to_dict()}
    if shards:
        together["shards"] = [
            {"address": address, "before": alone["before"], "after": alone["after"]}
            for address in shards
            if (alone := around({address: before[address]}, {address: after[address]})) is not None
        ]
    return together

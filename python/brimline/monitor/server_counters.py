"""Owns the counters of all servers that operations go to, read before and after a run."""

from collections.abc import Mapping
from dataclasses import replace

from brimline.errors import TargetError
from brimline.monitor.opcounters import Opcounters, added, read_opcounters
from brimline.record.model import Opcounters as CountersAround
from brimline.servers.deployment import CONNECT_TIMEOUT_S, Deployment, control_client

_MEMBER_TIMEOUT_S = 1.0
"""How long a member is waited for that may be gone."""


def read_counters(deployment: Deployment | None) -> dict[str, Opcounters | None]:
    """The counters by address; None of a server that has none. A member of a followed set that is gone is left out.

    Raises:
        TargetError: a server that nothing replaces doesn't answer.
    """
    if deployment is None:
        return {}
    is_replaced = deployment.replica_set is not None
    timeout_s = _MEMBER_TIMEOUT_S if is_replaced else CONNECT_TIMEOUT_S
    found = {}
    for address in deployment.addresses:
        with control_client(address, access=deployment.access, connect_timeout_s=timeout_s) as client:
            try:
                found[address] = read_opcounters(client)
            except TargetError:
                if not is_replaced:
                    raise
    return found


def around(before: Mapping[str, Opcounters | None], after: Mapping[str, Opcounters | None]) -> CountersAround | None:
    """What all of them counted together; None where one tells nothing, came or went.

    A server that was started again makes the time of running 0, so that the sums read as of one that was.
    """
    earlier, later = added(list(before.values())), added(list(after.values()))
    if earlier is None or later is None or before.keys() != after.keys():
        return None
    if any(_restarted(before[address], after[address]) for address in before):
        later = replace(later, uptime_ms=0)
    return {"before": earlier.to_dict(), "after": later.to_dict()}


def _restarted(before: Opcounters | None, after: Opcounters | None) -> bool:
    return before is not None and after is not None and after.restarted_since(before)

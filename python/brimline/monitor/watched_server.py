"""Owns which server is looked at: the one that was named, or, of a set that is followed, its primary, whoever that is.

That the primary has changed is learnt from the answers of the looks, which say what the server is, from a look that
fails, or from a process that has ended: another one may answer at its address. Only then are the members asked. A row
is never that of a member that is no primary.
"""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from brimline.monitor.absence import Absence
from brimline.monitor.look import ServerLook
from brimline.monitor.server_host import ServerHost
from brimline.servers.deployment import COMMAND_TIMEOUT_S, Client, Deployment, control_client
from brimline.servers.external import external_again, primary_now

NO_PRIMARY = "no primary"
"""The gap of a row that a followed set had nobody for."""

_CONNECT_TIMEOUT_S = 2.0
_SEARCH_TIMEOUT_S = 1.0
"""How long the members are asked who the primary is before a row is given up.

The next row asks again, and for twice as long each time up to the next constant: where servers have little of a
processor, none of them gets through a login in a second, however often it is begun.
"""
_FOLLOWED_TIMEOUT_S = 5.0
"""How long a followed primary may take to answer: one that fell silent is replaced by its set within seconds."""

FindPrimary = Callable[[Deployment, float], Deployment]
Connect = Callable[[Deployment], Client]


def find_primary(deployment: Deployment, timeout_s: float) -> Deployment:
    """The same set with its primary of now, asked what it is. Raises TargetError where there is none in time."""
    return external_again(primary_now(deployment, connect_timeout_s=timeout_s), connect_timeout_s=timeout_s)


def connect(deployment: Deployment) -> Client:
    """The monitor's own client of one server."""
    return control_client(
        deployment.address,
        access=deployment.access,
        purpose="monitor",
        connect_timeout_s=_CONNECT_TIMEOUT_S,
        command_timeout_s=COMMAND_TIMEOUT_S if deployment.replica_set is None else _FOLLOWED_TIMEOUT_S,
    )


class WatchedServer:
    """Looks at the server of `deployment`, or at who has taken its place. For one thread; a context manager."""

    def __init__(
        self, deployment: Deployment, *, find_primary: FindPrimary = find_primary, connect: Connect = connect
    ) -> None:
        self._deployment = deployment
        self._find_primary = find_primary
        self._connect = connect
        self._search_timeout_s = _SEARCH_TIMEOUT_S
        self._seen: set[str] = set()
        self._commands_before = 0
        self._cpu_before_ns = 0
        self._cpu_ns = 0
        self._client = connect(deployment)
        self._look = ServerLook(self._client, deployment, seen=self._seen)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def take(self, *, may_search: bool = True) -> dict[str, Any]:
        """The columns of a `ServerRow`, `at_ns` on the monotonic clock; what isn't known is missing. Raises nothing.

        `may_search`: the members are asked for the primary when the server that was it is none any more, or silent.
        """
        columns = self._take_once()
        is_lost = bool(columns.get("gap")) or self._look.process_ended
        if self._deployment.replica_set is None or not is_lost or not may_search:
            return columns
        return self._take_once() if self._search() else _of_nobody(columns)

    @property
    def command_count(self) -> int:
        """Commands that looks have sent; those that search for a primary are not among them."""
        return self._commands_before + self._look.command_count

    @property
    def host(self) -> ServerHost | None:
        """What is watched of the host of the server that is looked at now; None when that isn't this machine."""
        return self._look.host

    def absent(self) -> tuple[Absence, ...]:
        """The columns that no look has filled so far, and why."""
        return self._look.absent()

    def _take_once(self) -> dict[str, Any]:
        columns = self._look.take()
        if (cpu_ns := columns["monitor_server_cpu_ns"]) is not None:
            self._cpu_ns = cpu_ns
            columns["monitor_server_cpu_ns"] = self._cpu_before_ns + cpu_ns
        if self._look.is_primary is False:
            return _of_nobody(columns)
        return columns | {"server": self._deployment.address}

    def _search(self) -> bool:
        """Whether the set has a primary, which is looked at from now on."""
        try:
            found = self._find_primary(self._deployment, self._search_timeout_s)
            if (found.address, found.pid) != (self._deployment.address, self._deployment.pid):
                self._move_to(found)
        except Exception:  # nobody answers, or something unforeseen: neither must end the watching
            self._search_timeout_s = min(2 * self._search_timeout_s, _FOLLOWED_TIMEOUT_S)
            return False
        self._search_timeout_s = _SEARCH_TIMEOUT_S
        return True

    def _move_to(self, deployment: Deployment) -> None:
        """Nothing has changed where this raises."""
        client = self._connect(deployment)
        look = ServerLook(client, deployment, seen=self._seen)
        self._commands_before = self.command_count
        self._cpu_before_ns += self._cpu_ns
        self._cpu_ns = 0
        self._client.close()
        self._deployment, self._client, self._look = deployment, client, look


def _of_nobody(columns: dict[str, Any]) -> dict[str, Any]:
    """A row without a server: what watching cost is all that it holds."""
    kept = {name: columns[name] for name in ("round_trip_ns", "monitor_cpu_ns", "monitor_server_cpu_ns")}
    return {"at_ns": time.monotonic_ns(), "gap": NO_PRIMARY} | kept

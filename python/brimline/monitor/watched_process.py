"""Owns looking at a server that says nothing of itself: its process on this machine, those it started, and the host."""

import time
from types import TracebackType
from typing import Any, Self

from brimline.monitor.absence import Absence
from brimline.monitor.cpu_allowance import cpu_allowance
from brimline.monitor.server_host import ServerHost


class WatchedProcess:
    """Looks at process `pid`, which serves `address`; see `watched.Watched`."""

    command_count = 0
    """It is asked nothing."""

    def __init__(self, pid: int, *, address: str) -> None:
        self._address = address
        self._cpu_count = cpu_allowance(pid)
        self.host = ServerHost.of_process(pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was opened."""

    def take(self, *, may_search: bool = True) -> dict[str, Any]:  # noqa: ARG002 (there is no other to be found)
        """The columns of the process and its host."""
        columns = self.host.columns()
        return columns | {
            "at_ns": time.monotonic_ns(),
            "gap": "" if columns.get("server_cpu_ns") is not None else "the process has ended",
            "server": self._address,
            "round_trip_ns": 0,
            "server_cpu_count": self._cpu_count,
            "shared_host": True,
            "monitor_server_cpu_ns": 0,
            "monitor_cpu_ns": time.thread_time_ns(),
        }

    def absent(self) -> tuple[Absence, ...]:
        """None: nothing is expected of it that it doesn't show."""
        return ()

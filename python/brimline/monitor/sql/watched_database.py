"""Owns looking at an SQL database through one connection, and at its process where that is on this machine."""

import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from brimline.errors import TargetError
from brimline.monitor.absence import Absence
from brimline.monitor.cpu_allowance import cpu_allowance
from brimline.monitor.cpu_time import thread_cpu_ns
from brimline.monitor.server_host import ServerHost
from brimline.monitor.sql.dialect import MonitorDialect
from brimline.servers.deployment import Deployment
from brimline.servers.sql_client import SqlClient, SqlError, open_client
from brimline.servers.sql_reading import ConnectionLost

_NOT_TOLD = "this server doesn't tell, or not to this user"
_AGAIN_AFTER_S = 1.0


class WatchedDatabase:
    """Looks at the server of `deployment`, of which the load has one database; see `watched.Watched`."""

    def __init__(self, deployment: Deployment, dialect: MonitorDialect, *, database: str) -> None:
        assert deployment.of_uri is not None  # noqa: S101 - it was found by one
        self._target, self._dialect, self._database = deployment.of_uri, dialect, database
        self._address, self._pid = deployment.address, deployment.pid
        self._cpu_count = deployment.cpu_count if self._pid is None else cpu_allowance(self._pid)
        self._client: SqlClient | None = None
        self._thread: Path | None = None
        self._not_before_s = 0.0
        self._asked: set[str] = set()
        self._told: set[str] = set()
        self.command_count = 0
        self.host = (
            None if self._pid is None else ServerHost.of_process(self._pid, data_directory=deployment.data_directory)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def take(self, *, may_search: bool = True) -> dict[str, Any]:  # noqa: ARG002 (there is no other to be found)
        """The columns of the server and of its host."""
        sent_ns = time.monotonic_ns()
        columns: dict[str, Any] = {"gap": ""}
        try:
            columns |= self._look()
        except (SqlError, ConnectionLost, TargetError) as error:
            columns["gap"] = type(error).__name__
            self._close()
        except Exception as error:  # an answer of an unforeseen shape must not end the watching
            columns["gap"] = f"unreadable answer ({type(error).__name__})"
        done_ns = time.monotonic_ns()
        if self.host is not None:
            columns |= self.host.columns()
        return columns | {
            "at_ns": done_ns,
            "server": self._address,
            "round_trip_ns": done_ns - sent_ns,
            "server_cpu_count": self._cpu_count,
            "shared_host": self._pid is not None,
            "monitor_server_cpu_ns": None if self._thread is None else thread_cpu_ns(self._thread),
            "monitor_cpu_ns": time.thread_time_ns(),
        }

    def absent(self) -> tuple[Absence, ...]:
        """What the server was asked for and never told."""
        missing = tuple(sorted(self._asked - self._told))
        return (Absence(missing, _NOT_TOLD),) if missing else ()

    def _look(self) -> dict[str, Any]:
        client = self._connected()
        self.command_count += 1
        columns = self._dialect.look(client, self._database)
        self._asked |= columns.keys()
        self._told |= {name for name, value in columns.items() if value is not None}
        return columns

    def _connected(self) -> SqlClient:
        if self._client is None:
            now_s = time.monotonic()
            if now_s < self._not_before_s:
                raise ConnectionLost
            self._not_before_s = now_s + _AGAIN_AFTER_S
            client = self._opened()
            if self._pid is not None:
                self._thread = self._dialect.thread(client, self._pid)
            self._client = client
        return self._client

    def _opened(self) -> SqlClient:
        home = self._dialect.home
        try:
            return open_client(self._target, database=home or self._database)
        except TargetError:
            if home is None:
                raise
            return open_client(self._target, database=self._database)

    def _close(self) -> None:
        if self._client is not None:
            self._client.__exit__(None, None, None)
            self._client = self._thread = None

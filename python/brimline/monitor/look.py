"""Owns one look at a server: the commands that are sent for a row, and what is remembered between rows.

What the server refuses is not asked for again. `replSetGetStatus` is asked less often than each time when it takes
longer than `serverStatus` does, so that both together cost no more than twice the one.
"""

import time
from pathlib import Path
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from brimline.monitor import absence, replication, server_status
from brimline.monitor.absence import Absence, absences
from brimline.monitor.cpu_allowance import cpu_allowance
from brimline.monitor.cpu_time import connection_thread, thread_cpu_ns
from brimline.monitor.server_host import ServerHost
from brimline.servers.deployment import Client, Deployment
from brimline.servers.refusal import NOT_ALLOWED_CODES

REPLICATION_LOOKS_MAX = 30
"""Looks from one `replSetGetStatus` to the next, at most."""

_NOT_UNDERSTOOD = frozenset({59, 76, 115})
"""CommandNotFound, NoReplicationEnabled, CommandNotSupported."""


class ServerLook:
    """Looks at one server through one client, which no other thread may use meanwhile.

    `seen` are the columns that looks have filled so far, also looks at other servers; it is added to. `is_primary` is
    what the last answer said of a member of a followed set; None of any other server, and where it doesn't say.
    `process_ended`: a server of this machine was gone when its process was looked at, whoever answered before.
    """

    def __init__(self, client: Client, deployment: Deployment, *, seen: set[str] | None = None) -> None:
        self._client = client
        self._deployment = deployment
        self._follows = deployment.replica_set is not None
        self._is_plain = False
        self._refused: dict[str, str] = {}
        self._seen: set[str] = set() if seen is None else seen
        self._looks_to_replication = 0
        self._thread = _OwnThread(client, deployment.pid)
        self._cpu_count = _cpu_count(deployment)
        self.host = ServerHost.of(deployment, client)
        self.command_count = 0
        self.is_primary: bool | None = None
        self.process_ended = False

    def take(self) -> dict[str, Any]:
        """The columns of a `ServerRow`, `at_ns` on the monotonic clock; what isn't known is missing. Raises nothing."""
        sent_ns = time.monotonic_ns()
        columns: dict[str, Any] = {}
        self.is_primary = None
        try:
            columns |= self._status()
            status_ns = time.monotonic_ns() - sent_ns
            columns |= self._replication(status_ns)
        except PyMongoError as error:
            columns["gap"] = type(error).__name__
        except Exception as error:  # an answer of an unforeseen shape must not end the watching
            columns["gap"] = f"unreadable answer ({type(error).__name__})"
        done_ns = time.monotonic_ns()
        if self.host is not None:
            of_host = self.host.columns()
            self.process_ended = of_host["server_cpu_ns"] is None
            # A process that ended since it answered takes nothing back of what it said.
            columns |= {name: value for name, value in of_host.items() if value is not None}
        columns |= {
            "at_ns": done_ns,
            "round_trip_ns": done_ns - sent_ns,
            "server_cpu_count": self._cpu_count,
            "shared_host": self._deployment.local,
            "monitor_server_cpu_ns": self._thread.cpu_ns(connected="gap" not in columns),
            "monitor_cpu_ns": time.thread_time_ns(),
        }
        self._seen |= {name for name, value in columns.items() if value is not None}
        return columns

    def absent(self) -> tuple[Absence, ...]:
        """The columns that no look has filled so far, and why."""
        return absences(
            self._seen,
            deployment=self._deployment,
            refused=self._refused,
            disk=None if self.host is None else self.host.disk,
        )

    def _status(self) -> server_status.Columns:
        if "serverStatus" in self._refused:
            return self._role_alone()
        try:
            answer = self._ask("serverStatus", self._status_command())
        except OperationFailure:
            if self._is_plain:
                raise
            # It may be the leaving out of parts of a section that this server doesn't understand.
            self._is_plain = True
            answer = self._ask("serverStatus", self._status_command())
        if answer is None:
            return {}
        if self._follows:
            self.is_primary = server_status.is_primary(answer)
        return server_status.read_status(answer)

    def _status_command(self) -> server_status.Command:
        command = server_status.COMMAND_PLAIN if self._is_plain else server_status.COMMAND
        return server_status.with_role(command) if self._follows else command

    def _role_alone(self) -> server_status.Columns:
        """Of a server that shows nothing else: what `hello` tells everybody, in place of `serverStatus`."""
        if self._follows and "hello" not in self._refused:
            answer = self._ask("hello", {"hello": 1})
            self.is_primary = None if answer is None else server_status.is_primary({server_status.ROLE: answer})
        return {}

    def _replication(self, status_ns: int) -> server_status.Columns:
        if self._deployment.kind != "replica-set member" or "replSetGetStatus" in self._refused:
            return {}
        self._looks_to_replication -= 1
        if self._looks_to_replication > 0:
            return {}
        sent_ns = time.monotonic_ns()
        answer = self._ask("replSetGetStatus", replication.COMMAND)
        self._looks_to_replication = looks_between(status_ns, time.monotonic_ns() - sent_ns)
        return {} if answer is None else replication.read_replication(answer)

    def _ask(self, name: str, command: server_status.Command) -> dict[str, Any] | None:
        """The answer; None when it is refused, which is noted. Raises PyMongoError when there is no answer."""
        self.command_count += 1
        try:
            return self._client.admin.command(dict(command))
        except OperationFailure as error:
            if error.code in NOT_ALLOWED_CODES:
                self._refused[name] = absence.NOT_ALLOWED.format(command=name)
            elif error.code in _NOT_UNDERSTOOD:
                self._refused[name] = absence.NOT_UNDERSTOOD.format(command=name)
            else:
                raise
            return None


def _cpu_count(deployment: Deployment) -> float | None:
    """How many CPUs the server may use: what it says itself, and what can be seen of a process that is here."""
    seen = None if deployment.pid is None else cpu_allowance(deployment.pid)
    return min((count for count in (deployment.cpu_count, seen) if count is not None), default=None)


def looks_between(status_ns: int, replication_ns: int) -> int:
    """How many looks from one `replSetGetStatus` to the next, given what both commands took. Pure."""
    times_dearer = -(-replication_ns // max(status_ns, 1))
    return min(max(times_dearer, 1), REPLICATION_LOOKS_MAX)


class _OwnThread:
    """The server's thread that serves the monitor, and the CPU time of its predecessors: a connection can break."""

    def __init__(self, client: Client, pid: int | None) -> None:
        self._client = client
        self._pid = pid
        self._ended_ns = 0
        self._last_ns = 0
        self._place = self._find()

    def cpu_ns(self, *, connected: bool) -> int | None:
        """CPU time so far, of a thread that has ended as far as it was seen; None before one was found.

        Without a connection nobody is asked for a new one.
        """
        if self._place is None and connected:
            self._place = self._find()
        now_ns = None if self._place is None else thread_cpu_ns(self._place)
        if now_ns is None:
            self._ended_ns += self._last_ns
            self._last_ns = 0
            self._place = None
            return self._ended_ns or None
        self._last_ns = now_ns
        return self._ended_ns + now_ns

    def _find(self) -> Path | None:
        if self._pid is None:
            return None
        try:
            connection_id = self._client.admin.command("hello").get("connectionId")
        except PyMongoError:
            return None
        return connection_thread(self._pid, connection_id) if isinstance(connection_id, int) else None

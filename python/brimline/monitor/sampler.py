"""Owns looking at the server at a fixed interval during a run, from a thread and a connection of its own.

Trouble with the server is written down as a gap and never ends the run. What the looking itself costs is
measured: CPU time of the thread, commands sent, and the time the server took for them.
"""

import threading
import time
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from pymongo.errors import PyMongoError

from brimline.monitor import cpu_time
from brimline.monitor.row import ServerRow
from brimline.monitor.server_status import COMMAND, read_status
from brimline.servers.deployment import Client, Deployment, control_client

INTERVAL_S_DEFAULT = 1.0
ROW_COUNT_MAX = 100_000
"""Rows kept until they are taken: more than a day at one a second. The oldest go first."""

_CONNECT_TIMEOUT_S = 2.0
_STOP_DEADLINE_S = 35.0
"""Longer than a command may take, so that the thread has always ended when `stop` returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerCost:
    """What watching cost: CPU time of the sampler's thread, commands sent, total wait for their answers."""

    cpu_ns: int
    command_count: int
    round_trip_ns: int


class ServerSampler:
    """Takes a row every `interval_s` between `start` and `stop`; also a context manager.

    `origin_ns` is the zero of the run's clock as a `time.monotonic_ns()` value; rows before it have a
    negative `at_ns`. Give it with `set_origin` when it is known only after the start: rows are put on the
    clock when they are taken.
    """

    def __init__(
        self, deployment: Deployment, *, interval_s: float = INTERVAL_S_DEFAULT, origin_ns: int | None = None
    ) -> None:
        self._deployment = deployment
        self._interval_ns = max(1, round(interval_s * 1e9))
        self._origin_ns = time.monotonic_ns() if origin_ns is None else origin_ns
        self._rows: deque[dict[str, Any]] = deque(maxlen=ROW_COUNT_MAX)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._cpu_ns = 0
        self._command_count = 0
        self._round_trip_ns = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the thread. The first row is taken at once."""
        if self._thread is not None:
            raise RuntimeError("a sampler is started once")
        self._thread = threading.Thread(target=self._watch, name="brimline-monitor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Takes a last row and ends the thread. Idempotent; rows can still be taken."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(_STOP_DEADLINE_S)

    def set_origin(self, origin_ns: int) -> None:
        """Sets the zero of the run's clock, a `time.monotonic_ns()` value, for all rows not taken yet."""
        with self._lock:
            self._origin_ns = origin_ns

    def take_rows(self) -> list[ServerRow]:
        """Hands out the rows since the last call, in order."""
        with self._lock:
            taken = [ServerRow(**row | {"at_ns": row["at_ns"] - self._origin_ns}) for row in self._rows]
            self._rows.clear()
        return taken

    def cost(self) -> SamplerCost:
        """What the sampler has cost so far."""
        with self._lock:
            return SamplerCost(
                cpu_ns=self._cpu_ns, command_count=self._command_count, round_trip_ns=self._round_trip_ns
            )

    def _watch(self) -> None:
        with control_client(
            self._deployment.address, purpose="monitor", connect_timeout_s=_CONNECT_TIMEOUT_S
        ) as client:
            started_ns = time.monotonic_ns()
            tick = 0
            while not self._stopped.is_set():
                self._look(client)
                # A slow answer skips ticks; the others stay where they were.
                tick = max(tick + 1, -(-(time.monotonic_ns() - started_ns) // self._interval_ns))
                wait_ns = started_ns + tick * self._interval_ns - time.monotonic_ns()
                self._stopped.wait(max(0, wait_ns) / 1e9)
            self._look(client)

    def _look(self, client: Client) -> None:
        sent_ns = time.monotonic_ns()
        columns: dict[str, Any]
        try:
            columns = {**read_status(client.admin.command(dict(COMMAND)))}
        except PyMongoError as error:
            columns = {"gap": type(error).__name__}
        except Exception as error:  # an answer of an unforeseen shape must not end the watching
            columns = {"gap": f"unreadable answer ({type(error).__name__})"}
        done_ns = time.monotonic_ns()
        columns |= self._cpu_columns()
        columns["round_trip_ns"] = done_ns - sent_ns
        columns["at_ns"] = done_ns
        with self._lock:
            self._rows.append(columns)
            self._command_count += 1
            self._round_trip_ns += done_ns - sent_ns
            self._cpu_ns = time.thread_time_ns()

    def _cpu_columns(self) -> dict[str, int | bool | None]:
        """CPU of a server on this machine. Of another machine it can't be seen from here."""
        deployment = self._deployment
        columns: dict[str, int | bool | None] = {
            "server_cpu_count": deployment.cpu_count,
            "shared_host": deployment.local,
        }
        if deployment.pid is not None and (host := cpu_time.host_cpu()) is not None:
            columns["server_cpu_ns"] = cpu_time.process_cpu_ns(deployment.pid)
            columns["host_busy_ns"] = host.busy_ns
            columns["host_cpu_count"] = host.cpu_count
        return columns

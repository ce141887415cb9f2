"""Owns looking at the server at a fixed interval during a run, from a thread and a connection of its own.

Trouble with the server is written down as a gap and never ends the run. What the looking itself costs is measured: CPU
time of the thread and of the server's thread that serves it, commands sent, and how long their answers took. Of a set
that is followed, the rows are those of the primary of the time; see `watched_server.py`.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

from brimline.monitor.absence import Absence
from brimline.monitor.host import own_resident_bytes
from brimline.monitor.row import ServerRow
from brimline.monitor.server_host import ServerHost
from brimline.monitor.watched import Watched
from brimline.monitor.watched_server import WatchedServer
from brimline.servers.deployment import Deployment
from brimline.threads import Worker

INTERVAL_S_DEFAULT = 1.0
ROW_COUNT_MAX = 100_000
"""Rows kept until they are taken: more than a day at one a second. The oldest go first."""

_STOP_DEADLINE_S = 35.0
"""Longer than a command may take, so that the thread has always ended when `stop` returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerCost:
    """What watching cost: CPU time of the sampler's thread, commands sent, total wait for their answers.

    `server_cpu_ns` is CPU time of the server for the sampler's connection; None where it can't be seen.
    """

    cpu_ns: int
    server_cpu_ns: int | None
    command_count: int
    round_trip_ns: int


class ServerSampler:
    """Takes a row every `interval_s` between `start` and `stop`; also a context manager.

    `origin_ns` is the zero of the run's clock as a `time.monotonic_ns()` value; rows before it have a
    negative `at_ns`. Give it with `set_origin` when it is known only after the start: rows are put on the
    clock when they are taken. `watch` makes what looks at a server that isn't MongoDB; it is called in the thread.
    """

    def __init__(
        self,
        deployment: Deployment,
        *,
        interval_s: float = INTERVAL_S_DEFAULT,
        origin_ns: int | None = None,
        watch: Callable[[], Watched] | None = None,
    ) -> None:
        self._watch_it = watch or partial(WatchedServer, deployment)
        self._interval_ns = max(1, round(interval_s * 1e9))
        self._origin_ns = time.monotonic_ns() if origin_ns is None else origin_ns
        self._rows: deque[dict[str, Any]] = deque(maxlen=ROW_COUNT_MAX)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: Worker | None = None
        self._watched: Watched | None = None
        self._round_trip_ns = 0
        self._cost = SamplerCost(cpu_ns=0, server_cpu_ns=None, command_count=0, round_trip_ns=0)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the thread. The first row is taken at once. Raises ResourceError."""
        if self._thread is not None:
            raise RuntimeError("a sampler is started once")
        self._thread = Worker(self._watch, name="watching the server")
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
            return self._cost

    def absent(self) -> tuple[Absence, ...]:
        """Columns that no row has had a value in so far, and why; none before the first row."""
        watched = self._watched
        return () if watched is None else watched.absent()

    def host(self) -> ServerHost | None:
        """What is watched of the server's host; None when that isn't this machine, and before the first row."""
        watched = self._watched
        return None if watched is None else watched.host

    def _watch(self) -> None:
        with self._watch_it() as watched:
            started_ns = time.monotonic_ns()
            tick = 0
            while not self._stopped.is_set():
                self._take(watched)
                # A slow answer skips ticks; the others stay where they were.
                tick = max(tick + 1, -(-(time.monotonic_ns() - started_ns) // self._interval_ns))
                wait_ns = started_ns + tick * self._interval_ns - time.monotonic_ns()
                self._stopped.wait(max(0, wait_ns) / 1e9)
            self._take(watched)

    def _take(self, watched: Watched) -> None:
        # Once the run is over, nobody waits for a set to elect somebody.
        columns = watched.take(may_search=not self._stopped.is_set())
        columns["generator_resident_bytes"] = own_resident_bytes()
        with self._lock:
            self._watched = watched
            self._rows.append(columns)
            self._round_trip_ns += columns["round_trip_ns"]
            self._cost = SamplerCost(
                cpu_ns=columns["monitor_cpu_ns"],
                server_cpu_ns=columns["monitor_server_cpu_ns"] or self._cost.server_cpu_ns,
                command_count=watched.command_count,
                round_trip_ns=self._round_trip_ns,
            )

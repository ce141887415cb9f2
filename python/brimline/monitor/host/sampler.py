"""Owns looking at a server's host at a fixed interval during a run, from a thread of its own.

A host that says nothing is a row whose `gap` says why; it holds up neither the run nor the looks at the server.
"""

import threading
import time
from collections import deque
from types import TracebackType
from typing import Any, Self

from brimline.monitor.host.remote import Refused
from brimline.monitor.host.source import HOST_COLUMNS, NO_END, HostGone, HostSource, Reading
from brimline.threads import Worker

ROW_COUNT_MAX = 100_000
STOP_WITHIN_S = 5.0
"""Longer than one answer may take. Who takes longer is left behind: the thread ends with the program."""
REST_WITHIN_S = 60.0
"""What is only known at the end is read here: the file of a day takes some seconds."""

HostRow = dict[str, Any]
"""`at_ns` on the run's clock, `gap`, `server`, and the columns of a host."""


class HostSampler:
    """Takes readings between `start` and `stop`; also a context manager. `server`: the address whose host it is."""

    def __init__(
        self, source: HostSource, *, server: str, interval_s: float, stop_within_s: float = STOP_WITHIN_S
    ) -> None:
        self._stop_within_s = stop_within_s
        self._watch = source.watch()
        self._server = server
        self._interval_s = interval_s
        self._origin_ns: int | None = None
        self._started_ns = time.monotonic_ns()
        self._readings: deque[Reading] = deque(maxlen=ROW_COUNT_MAX)
        self._filled: set[str] = set()
        self._gaps: list[dict[str, Any]] = []
        self._unusable_since_ns: dict[str, int] = {}
        self._last_ns: int | None = None
        self._is_gone = False
        self._stopped, self._is_looked = threading.Event(), threading.Event()
        self._thread = Worker(self._look_on, name="watching the server's host")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Takes a last reading, and what is only known at the end. Idempotent."""
        if not self._stopped.is_set():
            self._stopped.set()
            is_over = self._thread.join(self._stop_within_s)
            if not is_over and not (self._is_looked.is_set() and self._thread.join(REST_WITHIN_S)):
                self._readings.append(Reading(at_ns=time.monotonic_ns(), gap=NO_END))

    def set_origin(self, origin_ns: int) -> None:
        """Sets the zero of the run's clock, a `time.monotonic_ns()` value."""
        self._origin_ns = origin_ns

    def take_rows(self) -> list[HostRow]:
        """The rows since the last call; none before the run's clock has its zero."""
        if self._origin_ns is None:
            return []
        taken = [self._readings.popleft() for _ in range(len(self._readings))]
        return [self._row(reading, self._origin_ns) for reading in taken]

    @property
    def filled(self) -> frozenset[str]:
        """The columns that a reading had a value for."""
        return frozenset(self._filled)

    def facts(self) -> dict[str, Any]:
        """For the run record: the source's; `gaps`: from when to when there was no reading, and why.

        `unusable_since_ns`: of columns of which something was told at times, when a reading first had nothing of use.
        """
        return {**self._watch.facts(), "gaps": self._gaps, "unusable_since_ns": self._unusable_since_ns}

    def _row(self, reading: Reading, origin_ns: int) -> HostRow:
        at_ns = reading.at_ns - origin_ns
        told = {name for name, value in reading.columns.items() if value is not None}
        if not reading.gap and at_ns >= 0:
            for name in reading.cant_be | (self._filled - told):
                self._unusable_since_ns.setdefault(name, at_ns)
        self._filled |= told
        self._note_gap(at_ns, reading.gap)
        columns = {name: _plain(reading.columns.get(name)) for name in HOST_COLUMNS}
        return {"at_ns": at_ns, "gap": reading.gap, "server": self._server, **columns}

    def _note_gap(self, at_ns: int, gap: str) -> None:
        """Nothing is known from the last reading before it to the first one behind it."""
        if gap and not self._is_gone:
            since_ns = at_ns if self._last_ns is None else self._last_ns
            self._gaps.append({"start_ns": since_ns, "end_ns": at_ns, "reason": gap})
        elif self._is_gone:
            self._gaps[-1]["end_ns"] = at_ns
        self._is_gone = bool(gap)
        if not gap:
            self._last_ns = at_ns

    def _look_on(self) -> None:
        try:
            tick = 0
            while not self._stopped.is_set():
                self._look()
                tick = max(tick + 1, int((time.monotonic_ns() - self._started_ns) / 1e9 / self._interval_s) + 1)
                due_ns = self._started_ns + round(tick * self._interval_s * 1e9)
                self._stopped.wait(max(0, due_ns - time.monotonic_ns()) / 1e9)
            self._look()
            self._is_looked.set()
            self._readings.extend(self._watch.rest(since_ns=self._started_ns, until_ns=time.monotonic_ns()))
        except Exception as error:  # nor must a file
            self._readings.append(_unreadable(error))
        finally:
            self._watch.close()

    def _look(self) -> None:
        try:
            reading = self._watch.read()
        except (HostGone, Refused) as error:
            reading = Reading(at_ns=time.monotonic_ns(), gap=str(error))
        except Exception as error:  # an answer of an unforeseen shape must not end the watching
            reading = _unreadable(error)
        if reading is not None:
            self._readings.append(reading)


def _unreadable(error: Exception) -> Reading:
    return Reading(at_ns=time.monotonic_ns(), gap=f"unreadable ({type(error).__name__})")


def _plain(value: int | float | str | None) -> int | float | str | None:
    """As a cell has it: a bool is 0 or 1."""
    return int(value) if isinstance(value, bool) else value

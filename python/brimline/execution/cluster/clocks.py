"""Owns how far the clock of another node is ahead of this one's: by round trips, of which the shortest tells most.

A node says what its monotonic clock shows between two looks at this node's. It is then ahead by the difference to their
middle, and by no more than half of the round trip more or less.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from brimline.monitor.host.clock import Exchange

ROUND_TRIPS = 20
"""How often a node is asked before and after a run; the shortest round trip counts."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A node's clock was ahead by `ahead_ns`, give or take `error_ns`, when this node's showed `at_ns`."""

    at_ns: int
    ahead_ns: int
    error_ns: int


def read_clock(ask: Callable[[], int], here: Callable[[], int], *, round_trips: int = ROUND_TRIPS) -> Reading:
    """The best of so many readings of the clock that `ask` says, by the clock `here`."""
    best = min((Exchange(here(), ask(), here()) for _ in range(round_trips)), key=lambda each: each.round_trip_ns)
    middle_ns = (best.sent_ns + best.received_ns) // 2
    return Reading(at_ns=middle_ns, ahead_ns=-best.offset_ns, error_ns=-(-best.round_trip_ns // 2))


class NodeClock:
    """What was read of a node's clock: `before` a run began, by which it began, and since. Of any length, as large."""

    def __init__(self, before: Reading) -> None:
        self.before = self.latest = before
        self._readings = 1
        self._least_ns = 0  # by which the clock was off at some reading, whatever that one's own error

    def add(self, reading: Reading) -> None:
        """Takes a later reading."""
        self.latest = reading
        self._readings += 1
        self._least_ns = max(self._least_ns, self._drifted_ns(reading) - reading.error_ns)

    def there(self, here_ns: int) -> int:
        """What the node's clock shows when this node's shows `here_ns`, as it was known before the run."""
        return here_ns + self.before.ahead_ns

    def facts(self) -> dict[str, Any]:
        """For the record: how far the node was ahead when the run began, how it drifted, and how far it may be off.

        `error_ns` is of the run's instants, which are told without the drift. It holds at the beginning, with that
        reading's own error, at the end, with the drift and the last one's error, and is never below what a reading
        between proves. The drift is in parts per million, with its error; None without a later reading.
        """
        before, last = self.before, self.latest
        facts: dict[str, Any] = {
            "ahead_ns": before.ahead_ns,
            "error_ns": max(before.error_ns, self._drifted_ns(last) + last.error_ns, self._least_ns),
            "readings": self._readings,
        }
        passed_ns = last.at_ns - before.at_ns
        if passed_ns <= 0:
            return {**facts, "drift_ppm": None, "drift_error_ppm": None}
        return {
            **facts,
            "drift_ppm": (last.ahead_ns - before.ahead_ns) / passed_ns * 1e6,
            "drift_error_ppm": (before.error_ns + last.error_ns) / passed_ns * 1e6,
        }

    def _drifted_ns(self, reading: Reading) -> int:
        return abs(reading.ahead_ns - self.before.ahead_ns)

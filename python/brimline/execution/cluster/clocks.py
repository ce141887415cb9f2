"""Owns how far the clock of another node is ahead of this one's: by round trips, of which the shortest tells most.

A node says what its monotonic clock shows between two looks at this node's. It is then ahead by the difference to their
middle, and by no more than half of the round trip more or less.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    readings = []
    for _ in range(round_trips):
        asked, there, answered = here(), ask(), here()
        middle = (asked + answered) // 2
        readings.append(Reading(at_ns=middle, ahead_ns=there - middle, error_ns=-(-(answered - asked) // 2)))
    return min(readings, key=lambda reading: reading.error_ns)


@dataclass(slots=True)
class NodeClock:
    """What was read of a node's clock: `before` a run began, by which it began, and since."""

    before: Reading
    since: list[Reading] = field(default_factory=list)

    def there(self, here_ns: int) -> int:
        """What the node's clock shows when this node's shows `here_ns`, as it was known before the run."""
        return here_ns + self.before.ahead_ns

    @property
    def latest(self) -> Reading:
        """The last reading."""
        return self.since[-1] if self.since else self.before

    def facts(self) -> dict[str, Any]:
        """For the record; see `clock_facts`."""
        return clock_facts(self.before, self.since)


def clock_facts(before: Reading, since: Sequence[Reading]) -> dict[str, Any]:
    """How far the node was ahead when the run began, how it drifted, and by how much its instants may be off.

    `error_ns` holds for every instant of the run: the reading's own error at its beginning, and at its end the drift,
    which isn't corrected, with that one's. The drift is in parts per million, with its error; None without a later
    reading.
    """
    facts: dict[str, Any] = {"ahead_ns": before.ahead_ns, "error_ns": before.error_ns, "readings": 1 + len(since)}
    last = since[-1] if since else None
    if last is None or last.at_ns <= before.at_ns:
        return {**facts, "drift_ppm": None, "drift_error_ppm": None}
    drifted_ns, passed_ns = last.ahead_ns - before.ahead_ns, last.at_ns - before.at_ns
    return {
        **facts,
        "error_ns": max(before.error_ns, abs(drifted_ns) + last.error_ns),
        "drift_ppm": drifted_ns / passed_ns * 1e6,
        "drift_error_ppm": (before.error_ns + last.error_ns) / passed_ns * 1e6,
    }

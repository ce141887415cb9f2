"""Owns the ids of orders: 63 bits that rise with time (41 of milliseconds, 10 of the worker, 12 of a sequence).

`Snowflake` is right; `OnePerMillisecond` is the generator of a field report, which fails under load.
"""

import time
from collections.abc import Callable
from typing import Protocol

EPOCH_MS = 1_735_689_600_000
"""2025-01-01 UTC: ids last until 2094."""
WORKER_BITS = 10
SEQUENCE_BITS = 12
WORKERS_MAX = 1 << WORKER_BITS
SEQUENCE_MAX = 1 << SEQUENCE_BITS

Clock = Callable[[], int]
"""Milliseconds since 1970."""


def wall_clock_ms() -> int:
    """The system's clock, which may be set back at any time."""
    return time.time_ns() // 1_000_000


class ClockMovedBackwardsError(Exception):
    """No id can be made. Under load that is said of a clock that merely didn't move on."""


class Ids(Protocol):
    """What makes ids."""

    def next(self) -> int:
        """The next id."""


class Snowflake:
    """Ids that are unique for one worker, whatever the clock does.

    Where the clock stands still or went back, time goes on from the latest id: first by the sequence, and where that is
    used up by a millisecond that is still to come. So an id is never made twice, and never waited for.

    `not_before_ms`: until when an earlier process with the same worker number may have made ids. `reserve` is told
    until when this one may, before it does.
    """

    def __init__(
        self,
        worker: int,
        *,
        clock: Clock = wall_clock_ms,
        not_before_ms: int = 0,
        reserve: Callable[[int], None] = lambda _: None,
        step_ms: int = 1000,
    ) -> None:
        if not 0 <= worker < WORKERS_MAX:
            raise ValueError(f"a worker's number is 0 to {WORKERS_MAX - 1}, not {worker}")
        self._worker, self._clock, self._reserve, self._step_ms = worker, clock, reserve, step_ms
        self._last_ms, self._sequence = not_before_ms, SEQUENCE_MAX - 1
        self._reserved_ms = not_before_ms

    def next(self) -> int:
        """The next id, above all before."""
        now_ms = self._clock()
        if now_ms > self._last_ms:
            self._last_ms, self._sequence = now_ms, 0
        elif self._sequence + 1 < SEQUENCE_MAX:
            self._sequence += 1
        else:
            self._last_ms, self._sequence = self._last_ms + 1, 0
        if self._last_ms > self._reserved_ms:
            self._reserved_ms = self._last_ms + self._step_ms
            self._reserve(self._reserved_ms)
        return joined(self._last_ms, self._worker, self._sequence)


class OnePerMillisecond:
    """The field report's generator: one id a millisecond, and an error for the second one.

    Not to be copied. Its author took a clock that shows the same millisecond for one that moved backwards.
    """

    def __init__(self, worker: int, *, clock: Clock = wall_clock_ms) -> None:
        self._worker, self._clock, self._last_ms = worker, clock, 0

    def next(self) -> int:
        """The next id. Raises ClockMovedBackwardsError for every further one of the same millisecond."""
        now_ms = self._clock()
        if now_ms <= self._last_ms:
            raise ClockMovedBackwardsError(
                f"clock moved backwards, refusing to generate an id for {self._last_ms - now_ms} ms"
            )
        self._last_ms = now_ms
        return joined(now_ms, self._worker, 0)


def joined(time_ms: int, worker: int, sequence: int) -> int:
    """The id of these parts."""
    return ((time_ms - EPOCH_MS) << (WORKER_BITS + SEQUENCE_BITS)) | (worker << SEQUENCE_BITS) | sequence


def parts(order_id: int) -> tuple[int, int, int]:
    """Time in milliseconds since 1970, worker and sequence of an id."""
    worker_and_sequence = order_id & ((1 << (WORKER_BITS + SEQUENCE_BITS)) - 1)
    return (
        (order_id >> (WORKER_BITS + SEQUENCE_BITS)) + EPOCH_MS,
        worker_and_sequence >> SEQUENCE_BITS,
        worker_and_sequence & (SEQUENCE_MAX - 1),
    )

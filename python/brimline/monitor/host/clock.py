"""Owns putting another machine's instants on this machine's clock, from requests and their answers. Pure.

An answer was made between the request and its arrival. The quickest of several round trips leaves least room, and half
of it is the most by which its middle can be wrong, however the way there and the way back differ (RFC 5905, section 8).
Two clocks drift apart meanwhile, so that an exchange of long ago is worth less than it was.
"""

from collections import deque
from dataclasses import dataclass
from itertools import islice
from math import ceil

EXCHANGES_KEPT = 64
"""Exchanges among which the best one counts."""
DRIFT_MAX = 50e-6
"""By how much of the time since an exchange its offset may have become wrong: quartz, and what corrects it."""
SLEWED_MAX = 0.1
"""By how much of the time a clock may go wrong that is being put right: chrony takes a twelfth at most."""
JUMPED = "its clock jumped"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer: sent and received by this clock, made at an instant of the other one. All in ns."""

    sent_ns: int
    theirs_ns: int
    received_ns: int

    @property
    def round_trip_ns(self) -> int:
        """From the question to the answer."""
        return self.received_ns - self.sent_ns

    @property
    def offset_ns(self) -> int:
        """What is added to an instant of the other clock, were the answer made half-way."""
        return (self.sent_ns + self.received_ns) // 2 - self.theirs_ns


class ClockOffset:
    """How far another clock is from this one, learnt from exchanges; its instants are told in steps of `grain_ns`."""

    def __init__(self, *, grain_ns: int = 0) -> None:
        self._exchanges: deque[Exchange] = deque(maxlen=EXCHANGES_KEPT)
        self._grain_ns = grain_ns
        self._placed_error_ns: int | None = None

    def learn(self, exchange: Exchange) -> bool:
        """Takes another exchange into account; whether the clock jumped before it, farther than one that is put right.

        What it gainsays is forgotten: the clock goes in another way now.
        """
        if not self._exchanges:
            self._exchanges.append(exchange)
            return False
        last = self._exchanges[-1]
        self._exchanges.append(exchange)
        best = min(islice(self._exchanges, len(self._exchanges) - 1), key=self._error_ns)
        if _apart_ns(best, exchange) > self._error_ns(best) + self._error_ns(exchange):
            self._exchanges.clear()
            self._exchanges.append(exchange)
        since_ns = exchange.received_ns - last.sent_ns
        least_ns = (last.round_trip_ns + exchange.round_trip_ns) / 2 + self._grain_ns
        return _apart_ns(last, exchange) > least_ns + since_ns * SLEWED_MAX

    def begin_anew(self) -> None:
        """Another clock has taken the place of this one."""
        self._exchanges.clear()

    @property
    def exchange_count(self) -> int:
        """From how many exchanges it is known."""
        return len(self._exchanges)

    @property
    def known(self) -> bool:
        """Whether there was an exchange."""
        return bool(self._exchanges)

    @property
    def offset_ns(self) -> int:
        """What is added to an instant of the other clock; that of the best exchange. Raises ValueError of none."""
        return min(self._exchanges, key=self._error_ns).offset_ns

    @property
    def error_ns(self) -> int:
        """The most by which `offset_ns` can be wrong at the time of the last exchange."""
        return min(map(self._error_ns, self._exchanges))

    @property
    def placed_error_ns(self) -> int | None:
        """The most by which an instant that was placed can be wrong; None of none."""
        return self._placed_error_ns

    def placed(self, exchange: Exchange) -> int:
        """When the answer of `exchange` was made, by this clock: never before it was asked or after it was there."""
        self._placed_error_ns = max(self._placed_error_ns or 0, self.error_ns)
        return min(max(exchange.theirs_ns + self.offset_ns, exchange.sent_ns), exchange.received_ns)

    def _error_ns(self, exchange: Exchange) -> int:
        """Of an exchange, as things are now."""
        age_ns = self._exchanges[-1].received_ns - exchange.received_ns
        return ceil((exchange.round_trip_ns + self._grain_ns) / 2 + age_ns * DRIFT_MAX)


def _apart_ns(one: Exchange, other: Exchange) -> int:
    return abs(one.offset_ns - other.offset_ns)

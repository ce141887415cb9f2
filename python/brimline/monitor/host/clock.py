"""Owns putting another machine's instants on this machine's clock, from requests and their answers. Pure.

An answer was made between the request and its arrival. The quickest of several round trips leaves least room, and half
of it is the most by which its middle can be wrong, however the way there and the way back differ (RFC 5905, section 8).
"""

from collections import deque
from dataclasses import dataclass

EXCHANGES_KEPT = 64
"""Exchanges of which the quickest counts: two clocks drift apart, so that an old one isn't worth its round trip."""


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
    """How far another clock is from this one, learnt from exchanges."""

    def __init__(self) -> None:
        self._exchanges: deque[Exchange] = deque(maxlen=EXCHANGES_KEPT)

    def learn(self, exchange: Exchange) -> None:
        """Takes another exchange into account."""
        self._exchanges.append(exchange)

    @property
    def known(self) -> bool:
        """Whether there was an exchange."""
        return bool(self._exchanges)

    @property
    def offset_ns(self) -> int:
        """What is added to an instant of the other clock; that of the quickest exchange. Raises ValueError of none."""
        return self._quickest.offset_ns

    @property
    def error_ns(self) -> int:
        """The most by which `offset_ns` can be wrong."""
        return -(-self._quickest.round_trip_ns // 2)

    def placed(self, exchange: Exchange) -> int:
        """When the answer of `exchange` was made, by this clock: never before it was asked or after it was there."""
        return min(max(exchange.theirs_ns + self.offset_ns, exchange.sent_ns), exchange.received_ns)

    @property
    def _quickest(self) -> Exchange:
        return min(self._exchanges, key=lambda each: each.round_trip_ns)

"""Owns what a search varies: the offered rate, the connections of a closed loop, or the threads of T-L-R."""

from dataclasses import dataclass
from enum import StrEnum

from brimline.experiments.trial import Probe
from brimline.plan.pacing import connections_text
from brimline.units import format_count, format_number, format_rate, round_significant
from brimline.wording import message

LOAD_DIGITS = 4
"""Significant digits of a load: what is offered is what is printed."""


class On(StrEnum):
    """What a search varies, as the command line calls it."""

    RATE = "rate"
    CONNECTIONS = "connections"
    THREADS = "threads"


@dataclass(frozen=True, slots=True)
class Axis:
    """The loads of a search: which ones can be offered, and how they are called.

    Rates have four significant digits; connections and threads are whole numbers from 1 on.
    """

    on: On

    @property
    def whole(self) -> bool:
        """Whether loads are whole numbers."""
        return self.on is not On.RATE

    @property
    def closed_loop(self) -> bool:
        """Whether operations wait for replies, so that the objective is on service time."""
        return self.on is not On.RATE

    @property
    def unit(self) -> str:
        """Unit of a load."""
        return "ops/s" if self.on is On.RATE else self.on.value

    def nearest(self, load: float) -> float:
        """The nearest load that can be offered."""
        rounded = float(round_significant(load, LOAD_DIGITS))
        return float(max(1, round(rounded))) if self.whole else rounded

    def load_of(self, probe: Probe) -> float:
        """The load that a probe offers."""
        return (probe.rate_ops_per_s or 0.0) if self.on is On.RATE else float(probe.connections)

    def text(self, load: float, *, digits: int = 3) -> str:
        """`9 430 ops/s`, `120 connections`, `T = 2 800`."""
        if self.on is On.RATE:
            return format_rate(load, digits=digits)
        if self.on is On.THREADS:
            return message("T = {count}", count=format_count(round(load)))
        return connections_text(round(load))

    def number(self, load: float) -> str:
        """The load without its unit, as it was offered."""
        return format_count(round(load)) if self.whole else format_number(load, digits=LOAD_DIGITS)

    def label(self, load: float) -> str:
        """The load as part of a file name."""
        return f"{load:.10g}-per-s" if self.on is On.RATE else f"{load:.0f}-{self.on}"

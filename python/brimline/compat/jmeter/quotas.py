"""Owns Throughput Controllers: in which of its turns one comes, counted out as JMeter does."""

import math
from dataclasses import dataclass

from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.variables import Variables


@dataclass(frozen=True, slots=True)
class Quota:
    """A percentage of turns, or a number of them; of each thread, or of all together."""

    percent: float | None
    number: float
    each_thread: bool

    def comes(self, visit: int, threads: int, loops: int | None) -> bool | None:
        """Whether it comes in a thread's turn; None where a thread alone can't say so."""
        if self.percent is not None:
            if not 0 < self.percent < 100:
                return self.percent >= 100
            if loops is None or not (self.each_thread or threads * self._count(loops) == self._count(threads * loops)):
                return None
            return self._count(visit + 1) > self._count(visit)
        if self.each_thread:
            return visit < self.number
        return visit < self.number // threads if self.number % threads == 0 else None

    def _count(self, turns: int) -> int:
        """How often a percentage comes in so many turns: in each while (100 times + 50) / turns is below it."""
        return max(0, math.ceil((self.percent or 0.0) * turns / 100 - 0.5))

    def share(self, threads: int, loops: int | None) -> float | None:
        """In which share of all turns it comes; None where these have no end."""
        if self.percent is not None:
            return self.percent / 100
        if loops is None:
            return None
        return self.number / (loops * (1 if self.each_thread else threads))


def quota_of(element: Element, variables: Variables) -> Quota | None:
    """The quota of a Throughput Controller; None where it isn't known beforehand."""
    each_thread = element.flag("ThroughputController.perThread")
    if element.text("ThroughputController.style", "1") != "0":
        percent = variables.number(element.text("ThroughputController.percentThroughput", "100"))
        return Quota(percent, 0.0, each_thread) if percent is not None and math.isfinite(percent) else None
    number = variables.number(element.text("ThroughputController.maxThroughput", "1"))
    return Quota(None, number, each_thread) if number is not None and math.isfinite(number) else None

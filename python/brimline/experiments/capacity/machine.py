"""Owns how much the machine itself moved while a search ran: its reference load, repeated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from brimline.experiments.trial import Trial
from brimline.units import format_percentage, format_rate
from brimline.wording import message

RUNS_MIN = 2
"""Reference runs below which nothing is said."""


@dataclass(frozen=True, slots=True)
class Movement:
    """Throughput of one and the same closed-loop load at different times of a search."""

    runs: int
    low_ops_per_s: float
    high_ops_per_s: float
    spread: float  # standard deviation, as a share of the mean

    @property
    def share(self) -> float:
        """How far the runs lie apart, as a share of the lowest."""
        return self.high_ops_per_s / self.low_ops_per_s - 1 if self.low_ops_per_s else 1.0

    @property
    def text(self) -> str:
        """`the machine moved by 3.1 %: one load, repeated 4 times, reached 16 100 ops/s to 16 600 ops/s`."""
        return message(
            "the machine moved by {share}: one load, repeated {runs} times, reached {low} to {high}",
            share=format_percentage(self.share, digits=2),
            runs=self.runs,
            low=format_rate(self.low_ops_per_s),
            high=format_rate(self.high_ops_per_s),
        )


def movement(references: Sequence[Trial]) -> Movement | None:
    """What the runs of the reference load show; None with fewer than two that answered."""
    rates = _rates(references)
    if len(rates) < RUNS_MIN:
        return None
    return Movement(len(rates), min(rates), max(rates), float(np.std(rates, ddof=1) / np.mean(rates)))


def drift(references: Sequence[Trial], spread: float) -> float:
    """How far a machine that becomes steadily faster or slower is from its middle, relative (root mean square).

    A line through the runs of the reference load tells that, less what such a line has by chance where windows differ
    by `spread`. The drift is a part of what they differ by, so that it is never more.
    """
    log_rates = np.log(_rates(references))
    if len(log_rates) < RUNS_MIN:
        return 0.0
    at = np.linspace(-1, 1, len(log_rates))
    slope, by_chance = float(at @ log_rates) / float(at @ at), spread / math.sqrt(at @ at)
    return min(math.sqrt(max(slope**2 - by_chance**2, 0.0) / 3), spread)


def _rates(references: Sequence[Trial]) -> list[float]:
    return [each.observation.throughput_ops_per_s for each in references if each.observation.throughput_ops_per_s > 0]

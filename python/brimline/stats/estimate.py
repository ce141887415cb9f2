"""Owns the figure that is quoted: a value that never travels without its interval."""

import math
from dataclasses import dataclass

CONFIDENCE = 0.95
"""Confidence of every interval unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`value` in `unit` with its interval `[low, high]`, which contains the value."""

    value: float
    low: float
    high: float
    unit: str
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"interval {self.low} to {self.high} does not contain {self.value}")

    @property
    def relative_width(self) -> float:
        """Width of the interval as a share of the value; infinite for a value of 0."""
        return (self.high - self.low) / abs(self.value) if self.value else math.inf

    def __str__(self) -> str:
        """For example `9 400 ops/s (95 % CI 9 100–9 700)`."""
        digits = _decimals(self.high - self.low)
        value, low, high = (_rounded(each, digits) for each in (self.value, self.low, self.high))
        return f"{value} {self.unit} ({self.confidence * 100:g} % CI {low}–{high})"


def _rounded(value: float, decimals: int) -> str:
    """`value` rounded to `decimals` places (negative: to tens, hundreds …), thousands apart: `14 320`."""
    return f"{round(value, decimals):,.{max(decimals, 0)}f}".replace(",", " ")


def _decimals(width: float) -> int:
    """Decimal places that show an interval of this width with two digits; more would pretend to knowledge."""
    if not math.isfinite(width) or width <= 0:
        return 0
    return 1 - math.floor(math.log10(width))

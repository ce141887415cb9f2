"""Owns the figure that is quoted: a value that never travels without its interval."""

import math
from dataclasses import dataclass

from brimline.units import Quantity
from brimline.wording import Message, message

CONFIDENCE = 0.95
"""Confidence of every interval unless said otherwise."""
NORMAL_HALF_WIDTH = 1.96
"""Standard deviations from the mean to either end of the central 95 % of a normal law."""
_TELLING_SPAN_MAX = 100.0
"""Ratio of the ends of a positive figure's interval from which it tells nothing of its size."""


def interval_tells(value: float, low: float, high: float) -> bool:
    """Whether an interval says how large a positive figure is: its ends are no decades apart.

    One that begins at 0 is a bound: its end is held against the figure.
    """
    return value <= 0 or high < _TELLING_SPAN_MAX * (low if low > 0 else value)


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

    @property
    def value_text(self) -> Quantity:
        """The value with as many digits as its interval allows: `9 400`."""
        return rounded_to(self.value, decimals_between(self.value, self.low, self.high))

    @property
    def interval_text(self) -> Message:
        """The interval: `95 % CI 9 100–9 700`."""
        decimals = decimals_between(self.value, self.low, self.high)
        return message(
            "{confidence:g} % CI {low}–{high}",
            confidence=self.confidence * 100,
            low=rounded_to(self.low, decimals),
            high=rounded_to(self.high, decimals),
        )

    @property
    def text(self) -> Message:
        """For example `9 400 ops/s (95 % CI 9 100–9 700)`."""
        return message(
            "{value} {unit} ({interval})", value=self.value_text, unit=self.unit, interval=self.interval_text
        )

    def __str__(self) -> str:
        return self.text


def rounded_to(value: float, decimals: int) -> Quantity:
    """`value` rounded to `decimals` places (negative: to tens, hundreds …), thousands apart: `14 320`."""
    rounded = round(value, decimals)
    text = f"{rounded:,.{max(decimals, 0)}f}".replace(",", " ")
    whole_digits = math.floor(math.log10(abs(rounded))) + 1 if rounded else 1
    return Quantity(text, kind="number", value=rounded, digits=max(whole_digits + decimals, 1))


def decimals_between(value: float, low: float, high: float) -> int:
    """Decimal places of a figure and its interval: as many as the interval tells, and the figure's own first digit."""
    decimals = decimals_that_tell(high - low)
    return max(decimals, -math.floor(math.log10(abs(value)))) if value else decimals


def decimals_that_tell(width: float) -> int:
    """Decimal places that show an interval of this width with two digits; more would pretend to knowledge."""
    if not math.isfinite(width) or width <= 0:
        return 0
    return 1 - math.floor(math.log10(width))

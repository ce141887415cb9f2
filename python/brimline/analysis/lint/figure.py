"""Owns figures as they are printed: a value and how far its last digit can be off; and their comparison."""

import math
from dataclasses import dataclass

from brimline.analysis.finding import Standing
from brimline.units import format_count, format_number
from brimline.wording import message

SMALL_GAP = 0.02
"""Gap, as a share and beyond what rounding explains, up to which a figure is a little off and not wrong."""
_FACTOR_TOLERANCE = 0.05
_FACTORS = {
    10.0: "ten times",
    100.0: "a hundred times",
    1e3: "a thousand times, as when one unit is taken for the next",
    1e6: "a million times, as when µs are taken for s",
    60.0: "60 times, as when minutes are taken for seconds",
    8.0: "8 times, as when bits are taken for bytes",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in base units (ns, operations per second, bytes, shares of 1).

    `tolerance`: half a unit of the last digit that was printed; 0 for what was counted.
    """

    value: float
    tolerance: float = 0.0

    def __add__(self, other: "Figure") -> "Figure":
        return Figure(self.value + other.value, self.tolerance + other.tolerance)

    def __mul__(self, other: "Figure") -> "Figure":
        """The product; relative tolerances add up."""
        value = self.value * other.value
        return Figure(value, abs(value) * (self._relative + other._relative))

    def __truediv__(self, other: "Figure") -> "Figure":
        """The quotient. Raises ZeroDivisionError."""
        value = self.value / other.value
        return Figure(value, abs(value) * (self._relative + other._relative))

    def times(self, factor: float) -> "Figure":
        """In another unit."""
        return Figure(self.value * factor, self.tolerance * abs(factor))

    @property
    def _relative(self) -> float:
        return self.tolerance / abs(self.value) if self.value else 0.0


def quotient(dividend: Figure | None, divisor: Figure | None) -> Figure | None:
    """The quotient; None where one of them isn't known, or nothing can be divided by it."""
    return None if dividend is None or divisor is None or divisor.value <= 0 else dividend / divisor


def product(one: Figure | None, other: Figure | None) -> Figure | None:
    """The product; None where one of them isn't known."""
    return None if one is None or other is None else one * other


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a claimed figure stands to the recomputed one. `remark` is "" or what the gap looks like."""

    standing: Standing
    remark: str = ""


def compare(claimed: Figure, recomputed: Figure) -> Comparison:
    """Pass when rounding explains the gap, warn up to `SMALL_GAP`, fail beyond it."""
    allowed = claimed.tolerance + recomputed.tolerance + 1e-9 * max(abs(claimed.value), abs(recomputed.value))
    gap = abs(claimed.value - recomputed.value) - allowed
    if gap <= 0:
        return Comparison(Standing.PASS)
    share = gap / abs(recomputed.value) if recomputed.value else math.inf
    if share <= SMALL_GAP:
        return Comparison(Standing.WARN)
    return Comparison(Standing.FAIL, factor_remark(claimed.value, recomputed.value))


def factor_remark(claimed: float, recomputed: float) -> str:
    """What a lost digit or a wrong unit would look like: "; it is ten times too large"; "" where neither fits."""
    if claimed <= 0 or recomputed <= 0:
        return ""
    ratio = claimed / recomputed
    for factor, words in _FACTORS.items():
        if math.isclose(ratio, factor, rel_tol=_FACTOR_TOLERANCE):
            return message("; it is {times} too large", times=words)
        if math.isclose(ratio, 1 / factor, rel_tol=_FACTOR_TOLERANCE):
            return message("; it is {times} too small", times=words)
    return ""


def number_text(value: float) -> str:
    """A number in a finding: enough digits to tell two close ones apart, whole when it is whole or large."""
    if 1000 <= abs(value) < 1e15 or value == int(value):
        return format_count(round(value))
    return format_number(value, digits=4)

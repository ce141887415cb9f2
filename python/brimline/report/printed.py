"""Owns reading back what a report prints: a cell or a headline as a figure with the digits that it shows."""

import math
import re

from brimline.analysis.lint import Figure

_PRINTED = re.compile(r"(?P<whole>[0-9 ]+)(?:\.(?P<decimals>[0-9]+))?")


def printed_figure(text: str, *, factor: float = 1.0) -> Figure | None:
    """What "1 543.50" says, 1543.5 ± 0.005, times `factor`; None for a dash, a bound, or anything else."""
    match = _PRINTED.fullmatch(text.strip())
    if match is None:
        return None
    value = float(text.replace(" ", ""))
    return Figure(value, 0.5 * 10.0 ** -len(match["decimals"] or "")).times(factor)


def significant(value: float, *, digits: int) -> Figure:
    """A figure that was rounded to so many significant digits."""
    exponent = math.floor(math.log10(abs(value))) if value else 0
    return Figure(value, 0.5 * 10.0 ** (exponent - digits + 1))

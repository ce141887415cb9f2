"""Owns where a series leaves its warm-up: the truncation point of MSER-5."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BATCH_LENGTH = 5
"""Values per batch, the 5 of MSER-5."""
SHARE_MAX = 0.5
"""Share of a series that may be warm-up; where more would be, the rest is too short to be called steady."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """Where the warm-up ends: `index` values are warm-up.

    `at_limit`: the best point is the last one that was allowed, so the warm-up may well go on after it.
    """

    index: int
    at_limit: bool


def mser5(series: Sequence[float], *, share_max: float = SHARE_MAX) -> Truncation:
    """The truncation point that makes the mean of the remaining values most certain.

    White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC 2000: of
    the means of batches of 5 values, leave out the first d, with the d that minimises (sum of squared deviations of
    the remaining batches from their mean) / (their number)². On a tie the smallest d. d is looked for in the first
    `share_max` of the batches; White et al. call a point in the second half a sign of too short a run. The values
    of an incomplete batch at the end are not looked at. Raises ValueError for fewer than two batches.
    """
    count = len(series) // BATCH_LENGTH
    if count < 2:
        raise ValueError(f"MSER-5 needs at least {2 * BATCH_LENGTH} values")
    batches = np.asarray(series[: count * BATCH_LENGTH], dtype=float).reshape(count, BATCH_LENGTH).mean(axis=1)
    last = min(int(count * share_max), count - 1)
    errors = np.array([_squared_error(batches[cut:]) for cut in range(last + 1)])
    # Sums of squares of equal values differ by rounding; a cut has to gain more than that.
    best = int(np.argmax(errors <= errors.min() * (1 + 1e-9) + 1e-24 * float(np.max(batches**2))))
    return Truncation(index=best * BATCH_LENGTH, at_limit=0 < best == last)


def _squared_error(remaining: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    """The square of the remaining mean's standard error, were the batches independent."""
    return float(remaining.var() / len(remaining))

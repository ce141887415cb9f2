"""Owns how fast a series rises or falls per time, and how surely: a line, and the noise around it as it is.

Values that follow each other depend on each other, so the line is put through batch means, and these count at their
effective number (`stats.batch_means`). The interval is Student's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brimline.stats.batch_means import autocorrelation_time
from brimline.stats.estimate import CONFIDENCE
from brimline.stats.stationarity import BATCH_COUNT_MIN, VALUE_COUNT_MIN

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """`rate` per unit of time between `low` and `high`, and the probability of as much by chance where nothing drifts.

    `begin` and `end`: where the line is at the first and the last instant.
    """

    rate: float
    low: float
    high: float
    p_value: float
    begin: float
    end: float


def slope(times: Sequence[float] | Values, values: Sequence[float] | Values) -> Slope:
    """The line through a series. Raises ValueError below `VALUE_COUNT_MIN` values."""
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtr, stdtrit

    if len(values) < VALUE_COUNT_MIN or len(times) != len(values):
        raise ValueError(f"a slope needs at least {VALUE_COUNT_MIN} values")
    every, (x, y) = np.asarray(times, dtype=float), (batched(times), batched(values))
    centre, squares = x.mean(), float(((x - x.mean()) ** 2).sum())
    rate = float(((x - centre) * (y - y.mean())).sum()) / squares
    rest = y - y.mean() - rate * (x - centre)
    dependence = autocorrelation_time(rest.tolist())
    freedom = max(len(x) / dependence - 2, 1.0)
    error = math.sqrt(float((rest**2).sum()) / max(len(x) - 2, 1) * dependence / squares)
    half = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    is_exact = error <= 1e-12 * max(float(np.abs(y).max()), 1e-300) / max(float(np.ptp(x)), 1e-300)
    sureness = (0.0 if abs(rate) > error else 1.0) if is_exact else 2 * float(stdtr(freedom, -abs(rate) / error))
    at = [float(y.mean() + rate * (instant - centre)) for instant in (every[0], every[-1])]
    return Slope(rate=rate, low=rate - half, high=rate + half, p_value=sureness, begin=at[0], end=at[1])


def batched(values: Sequence[float] | Values, count_min: int = BATCH_COUNT_MIN) -> Values:
    """Means of at least `count_min` batches of equal length; what doesn't fill one is left out at the beginning."""
    array = np.asarray(values, dtype=float)
    length = max(1, len(array) // count_min)
    count = len(array) // length
    means: Values = array[len(array) - count * length :].reshape(count, length).mean(axis=1)
    return means

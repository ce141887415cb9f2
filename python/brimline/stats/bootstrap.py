"""Owns resampling of run-level values. The unit is the run: resampling requests pretends to knowledge."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from brimline.stats.estimate import CONFIDENCE

Statistic = Callable[[NDArray[np.float64]], float]


def bootstrap_interval(
    values: Sequence[float],
    statistic: Statistic,
    *,
    seed: int,
    method: Literal["percentile", "bca"] = "bca",
    resample_count: int = 2000,
    confidence: float = CONFIDENCE,
) -> tuple[float, float]:
    """Interval of `statistic` over independent `values`, at least 2.

    Percentile and BCa as in Efron and Tibshirani 1993, chapters 13 and 14.

    With fewer than about 5 values any bootstrap interval is too narrow; the caller says how many there were.
    """
    data = np.asarray(values, dtype=float)
    if len(data) < 2:
        raise ValueError("resampling needs at least 2 values")
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(data), size=(resample_count, len(data)))
    resampled = np.array([statistic(data[pick]) for pick in picks])
    tail = (1 - confidence) / 2
    levels = np.array([tail, 1 - tail])
    if method == "bca":
        levels = _bca_levels(data, statistic, resampled, levels)
    low, high = np.quantile(resampled, levels)
    return float(low), float(high)


def _bca_levels(
    data: NDArray[np.float64],
    statistic: Statistic,
    resampled: NDArray[np.float64],
    levels: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Levels corrected for bias and skewness; unchanged where the statistic doesn't vary."""
    observed = statistic(data)
    share_below = float(np.mean(resampled < observed) + np.mean(resampled == observed) / 2)
    left_out = np.array([statistic(np.delete(data, index)) for index in range(len(data))])
    deviation = left_out.mean() - left_out
    spread = float(np.sum(deviation**2) ** 1.5)
    if not 0 < share_below < 1 or spread == 0:
        return levels
    bias = norm.ppf(share_below)
    acceleration = float(np.sum(deviation**3)) / (6 * spread)
    shifted = bias + norm.ppf(levels)
    return np.asarray(norm.cdf(bias + shifted / (1 - acceleration * shifted)), dtype=float)

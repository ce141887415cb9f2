"""Owns the question whether a series stays as it is: its level, its slope and its spread.

Each test has two answers, how much and how surely. Values that follow each other depend on each other, so the tests
look at batch means, and count those at their effective number (`stats.batch_means`); a test that takes every value for
a new one finds a change in most series of a server that is merely busy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brimline.stats.batch_means import autocorrelation_time
from brimline.stats.estimate import NORMAL_HALF_WIDTH

BATCH_COUNT_MIN = 30
"""Batches into which a series is cut, up to 59: enough to see a change in the last quarter of it."""
VALUE_COUNT_MIN = 12
"""Values below which a test says nothing."""

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How far something changed, and the probability of as much or more by chance where nothing changes."""

    amount: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange(Change):
    """`amount` is the mean after the change minus the mean before it; `at`: the value of the series it begins with."""

    at: int


def level_change(series: Sequence[float]) -> LevelChange:
    """The point at which the level of a series changes most, and whether it changes there at all.

    Pettitt's test on batch means ("A non-parametric approach to the change-point problem", Applied Statistics 28,
    1979): wherever the change is, it is found; two halves or thirds that are compared miss one that lies across their
    border. The square of its statistic is divided by the factor of Hamed and Rao, as in `slope_change`, of what is left
    when both levels are taken off. A few values far off in a row are no other level. Raises ValueError below
    `VALUE_COUNT_MIN` values.
    """
    batches = batch_means(series)
    count = len(batches)
    signs = np.sign(batches[:, None] - batches[None, :])
    scores = np.abs([signs[:cut, cut:].sum() for cut in range(1, count)])
    cut = int(np.argmax(scores)) + 1
    before, after = batches[:cut], batches[cut:]
    dependence = _dependence(np.concatenate([before - before.mean(), after - after.mean()]))
    exponent = 6 * float(scores[cut - 1]) ** 2 / (count**3 + count**2) / dependence
    return LevelChange(
        amount=float(after.mean() - before.mean()),
        p_value=min(1.0, 2 * math.exp(-exponent)),
        at=len(series) - len(after) * (len(series) // count),
    )


def level_difference(part: Sequence[float], rest: Sequence[float]) -> Change:
    """The mean of `part` minus that of `rest`, and whether noise like that of `rest` would make as much of it.

    Student's test on batch means of the same length. The noise is that of `rest` alone: a part that isn't like the rest
    often has two levels of its own, and would hide itself behind their distance. Raises ValueError for an empty part,
    or below `VALUE_COUNT_MIN` values of the rest.
    """
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtr

    if not len(part):
        raise ValueError("an empty part has no level")
    length = min(_batch_length(len(part) + len(rest)), len(part))
    part_batches, rest_batches = _batched(part, length), _batched(_checked(rest), length)
    amount = float(part_batches.mean() - rest_batches.mean())
    worth = 1 / autocorrelation_time(rest_batches.tolist())
    freedom = max(len(rest_batches) * worth - 1, 1.0)
    squared = float(rest_batches.var(ddof=1)) / worth * (1 / len(part_batches) + 1 / len(rest_batches))
    if _is_rounding(squared, rest_batches):
        return Change(amount=amount, p_value=1.0 if _is_rounding(amount**2, rest_batches) else 0.0)
    return Change(amount=amount, p_value=2 * float(stdtr(freedom, -abs(amount) / math.sqrt(squared))))


def slope_change(series: Sequence[float]) -> Change:
    """What the series' slope makes over its whole length, and whether the series goes up or down at all.

    Theil and Sen's slope, the median of the slopes between all pairs of batch means, times the length. The test is
    Kendall's in the form of Mann, its variance corrected for dependence by the autocorrelation of the ranks (Hamed and
    Rao, "A modified Mann-Kendall trend test for autocorrelated data", J. Hydrology 204, 1998). Raises ValueError
    below `VALUE_COUNT_MIN` values.
    """
    batches = batch_means(series)
    count = len(batches)
    first, second = np.triu_indices(count, 1)
    rises = batches[second] - batches[first]
    slope = float(np.median(rises / (second - first)))
    score = float(np.sign(rises).sum())
    variance = count * (count - 1) * (2 * count + 5) / 18 * _dependence(batches - slope * np.arange(count))
    z = math.copysign(max(abs(score) - 1, 0.0), score) / math.sqrt(variance)
    return Change(amount=slope * count, p_value=math.erfc(abs(z) / math.sqrt(2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadChange:
    """The spread of the second half against that of the first.

    `ratio` is of variances, and infinite where the first half has none; `larger` is the mean distance from the median
    in the half where it is larger, in units of the series.
    """

    ratio: float
    larger: float
    p_value: float


def spread_change(series: Sequence[float]) -> SpreadChange:
    """Whether the values of one half lie further apart than those of the other.

    The distances from each half's own median, compared by Welch's test on their batch means (Brown and Forsythe,
    "Robust tests for the equality of variances", JASA 69, 1974): latencies are skewed, and tests for normal values
    see changes in them that aren't there. Raises ValueError below `VALUE_COUNT_MIN` values.
    """
    values = _checked(series)
    half = len(values) // 2
    halves = (values[:half], values[-half:])
    before, after = (np.abs(each - np.median(each)) for each in halves)
    length = _batch_length(len(values))
    tested = _difference(_batched(before, length), _batched(after, length))
    first, second = float(before.mean()), float(after.mean())
    return SpreadChange(
        ratio=(second / first) ** 2 if first else (math.inf if second else 1.0),
        larger=max(first, second),
        p_value=tested.p_value,
    )


def batch_means(series: Sequence[float]) -> Values:
    """Means of at least `BATCH_COUNT_MIN` batches of equal length, or the values themselves where those are fewer.

    What doesn't fill a batch is left out at the beginning. Raises ValueError below `VALUE_COUNT_MIN` values.
    """
    values = _checked(series)
    return _batched(values, _batch_length(len(values)))


def _checked(series: Sequence[float]) -> Values:
    if len(series) < VALUE_COUNT_MIN:
        raise ValueError(f"a test for change needs at least {VALUE_COUNT_MIN} values")
    return np.asarray(series, dtype=float)


def _batch_length(count: int) -> int:
    return max(1, count // BATCH_COUNT_MIN)


def _batched(values: Sequence[float] | Values, length: int) -> Values:
    count = len(values) // length
    used = np.asarray(values, dtype=float)[len(values) - count * length :]
    means: Values = used.reshape(count, length).mean(axis=1)
    return means


def _difference(before: Values, after: Values) -> Change:
    """Welch's test, both parts counted at what they are worth; their dependence is estimated from both together."""
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtr

    amount = float(after.mean() - before.mean())
    worth = 1 / autocorrelation_time([*(before - before.mean()), *(after - after.mean())])
    counts = [max(len(each) * worth, 2.0) for each in (before, after)]
    errors = [float(each.var(ddof=1)) / count for each, count in zip((before, after), counts, strict=True)]
    squared = sum(errors)
    if _is_rounding(squared, before):
        return Change(amount=amount, p_value=1.0 if _is_rounding(amount**2, before) else 0.0)
    freedom = squared**2 / sum(error**2 / (count - 1) for error, count in zip(errors, counts, strict=True))
    return Change(amount=amount, p_value=2 * float(stdtr(freedom, -abs(amount) / math.sqrt(squared))))


def _is_rounding(squared: float, values: Values) -> bool:
    """Whether a squared difference of such values is none, but for the arithmetic."""
    return squared <= (1e-9 * float(np.abs(values).max())) ** 2


def _dependence(residuals: Values) -> float:
    """By how much dependence widens the variance of Kendall's score; at least 1.

    Hamed and Rao's factor from the ranks' autocorrelations that chance alone would rarely make (95 %), over the first
    third of the lags: the estimates of later ones rest on too few pairs.
    """
    count = len(residuals)
    ranks = residuals.argsort().argsort().astype(float)
    ranks -= ranks.mean()
    total = float(ranks @ ranks)
    factor = 0.0
    for lag in range(1, count // 3 + 1):
        correlation = float(ranks[:-lag] @ ranks[lag:]) / total
        if abs(correlation) > NORMAL_HALF_WIDTH / math.sqrt(count):
            factor += (count - lag) * (count - lag - 1) * (count - lag - 2) * correlation
    return max(1.0, 1 + 2 * factor / (count * (count - 1) * (count - 2)))

"""Owns the ratio of figures that carry an interval of their own: searches, slopes, and whatever else is no bare number.

On the log scale, direction by direction, as MOVER does (Donner and Zou 2012, "Closed-form confidence intervals for
functions of the normal mean and standard deviation"): the end of the ratio's interval is as far away as the ends of
both figures on that side are together, so that a lopsided interval stays lopsided and a missing end stays missing.

Several figures a side are compared as runs are, by Welch over their logarithms, and never as if they were better known
than their own intervals say: two searches that happen to end at the same rate have no spread and are not exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from brimline.stats.change import EQUIVALENCE_CONFIDENCE, NO_SPREAD, Change
from brimline.stats.estimate import CONFIDENCE

Interval = tuple[float, float | None, float | None]
"""A positive figure with the ends of its interval at `CONFIDENCE`; None where an end isn't known. A bound has itself
as its known end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """B as a multiple of A.

    `low` to `high` is its interval at `CONFIDENCE`, the inner one that at `EQUIVALENCE_CONFIDENCE`; an end that isn't
    known is 0 or infinite. `p_value` is two-sided against 1.
    """

    value: float
    low: float
    high: float
    inner_low: float
    inner_high: float
    p_value: float

    def change(self, *, a_count: int = 1, b_count: int = 1) -> Change:
        """The ratio as a share of A that B has more, of so many figures a side.

        A bound is where the windows of a search ended, and no end of an interval: how sure it is, nobody knows. So a
        ratio without an end shows how far the figures are apart at least, and no difference is claimed from it.
        """
        is_bound = self.low <= 0 or math.isinf(self.high)
        return Change(
            value=self.value - 1,
            low=self.low - 1,
            high=self.high - 1,
            inner_low=self.inner_low - 1,
            inner_high=self.inner_high - 1,
            p_value=1.0 if is_bound else self.p_value,
            a_count=a_count,
            b_count=b_count,
        )


@dataclass(frozen=True, slots=True)
class _Error:
    """How far a side's mean logarithm may be off in one direction: its variance and degrees of freedom."""

    variance: float
    freedom: float


def interval_ratio(a: Interval, b: Interval) -> Ratio:
    """The ratio of `b` to `a`, each with its interval, independent of each other."""
    return intervals_ratio([a], [b])


def intervals_ratio(a: Sequence[Interval], b: Sequence[Interval]) -> Ratio:
    """The ratio of the geometric means of `b` and `a`, at least one figure a side.

    Of one figure its own interval counts, of several their spread where it is wider. Raises ValueError where a figure
    isn't positive or lies outside its interval.
    """
    for value, low, high in (*a, *b):
        if value <= 0 or (low is not None and low > value) or (high is not None and high < value):
            raise ValueError(f"no positive figure with an interval around it: {value}, {low} to {high}")
    distance = _mean_log(b) - _mean_log(a)
    if abs(distance) <= NO_SPREAD:
        distance = 0.0
    below, above = (_Side(_error(b, down=down), _error(a, down=not down)) for down in (True, False))
    return Ratio(
        value=math.exp(distance),
        low=_end(distance - below.reach(CONFIDENCE)),
        high=_end(distance + above.reach(CONFIDENCE)),
        inner_low=_end(distance - below.reach(EQUIVALENCE_CONFIDENCE)),
        inner_high=_end(distance + above.reach(EQUIVALENCE_CONFIDENCE)),
        p_value=(below if distance > 0 else above).p_value(abs(distance)),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One direction of the ratio's interval: what B may be off by, and A against it."""

    b: _Error
    a: _Error

    @property
    def _variance(self) -> float:
        return self.a.variance + self.b.variance

    @property
    def _freedom(self) -> float:
        shares = sum(each.variance**2 / each.freedom for each in (self.a, self.b) if math.isfinite(each.freedom))
        return self._variance**2 / shares if shares > 0 else math.inf

    def reach(self, confidence: float) -> float:
        """How far the interval goes this way on the log scale."""
        if self._variance == 0 or math.isinf(self._variance):
            return self._variance
        return _student_quantile((1 + confidence) / 2, self._freedom) * math.sqrt(self._variance)

    def p_value(self, distance: float) -> float:
        """Two-sided, of a ratio that is so far from 1, which lies this way."""
        if math.isinf(self._variance) or distance == 0:
            return 1.0
        return 0.0 if self._variance == 0 else 2 * _student_tail(distance / math.sqrt(self._variance), self._freedom)


def _error(figures: Sequence[Interval], *, down: bool) -> _Error:
    """Of the mean logarithm of `figures`, downwards or upwards."""
    own = sum(_deviation(each, down=down) ** 2 for each in figures) / len(figures) ** 2
    if len(figures) == 1:
        return _Error(own, math.inf)
    mean = _mean_log(figures)
    spread = sum((math.log(value) - mean) ** 2 for value, *_ in figures) / (len(figures) - 1) / len(figures)
    # Figures without an interval have a spread all the same.
    if math.sqrt(spread) <= NO_SPREAD:
        spread = 0.0
    return _Error(spread, len(figures) - 1) if math.isinf(own) or spread > own else _Error(own, math.inf)


def _mean_log(figures: Sequence[Interval]) -> float:
    return sum(math.log(value) for value, *_ in figures) / len(figures)


def _deviation(figure: Interval, *, down: bool) -> float:
    """One standard deviation of the figure's logarithm this way, as its interval gives it; infinite without an end."""
    value, low, high = figure
    end = low if down else high
    if end is None or end <= 0 or math.isinf(end):
        return math.inf
    return abs(math.log(end / value)) / _student_quantile((1 + CONFIDENCE) / 2, math.inf)


def _end(logarithm: float) -> float:
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf


def _student_quantile(share: float, freedom: float) -> float:
    from scipy.special import ndtri, stdtrit  # 15 MB, which a run has no use for before its load is over

    return float(ndtri(share) if math.isinf(freedom) else stdtrit(freedom, share))


def _student_tail(distance: float, freedom: float) -> float:
    from scipy.special import ndtr, stdtr

    return float(ndtr(-distance) if math.isinf(freedom) else stdtr(freedom, -distance))

"""Owns the change of a figure between two sets of runs: its size, its interval, and how likely it is by chance.

The unit is the run, never the request: requests of one run share its weather, and tests over them call 85 of 100
pairs of equal systems different. A run gives one value; the interval is Welch's over the logarithms of the values,
so that it is one of a ratio and needs no equal spread of both sets (Welch 1947, "The generalization of 'Student's'
problem when several different population variances are involved").

Chosen by simulated coverage with 3, 5 and 10 interleaved runs a side, over normal, heavy-tailed, autocorrelated,
drifting, outlier-ridden and skewed values (nominal 95 %): Welch 95-99 %; Student on pairs 94-97 %, but wider by up to
a quarter at 3 and 5 runs; bootstrap of runs 77-97 %, Bayesian bootstrap 71-96 %; a rank test of 3 runs has no
interval at all. Where something drifts and the runs are not interleaved, none of them covers more than 34-76 %.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from brimline.stats.estimate import CONFIDENCE

EQUIVALENCE_CONFIDENCE = 0.90
"""Two one-sided tests at 5 % are one interval of 90 % (Schuirmann 1987)."""
RUNS_MIN = 2
"""Runs a side below which their spread, and so an interval, is unknown."""
TELLING_SPAN_MAX = 10.0
"""Ratio of an interval's ends from which it tells nothing where it holds "no change": -68 % to +216 % and further."""
NO_SPREAD = 1e-12
"""Standard deviation of a mean logarithm that is rounding alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What B has more than A: a share of A's value (0.05: 5 % more), or a difference where `absolute`.

    `low` to `high` is the interval at `CONFIDENCE`, the inner one that at `EQUIVALENCE_CONFIDENCE`; `p_value` is
    two-sided against "no change". `a_count` and `b_count` are the runs behind it.
    """

    value: float
    low: float
    high: float
    inner_low: float
    inner_high: float
    p_value: float
    a_count: int
    b_count: int
    absolute: bool = False

    @property
    def tells_nothing(self) -> bool:
        """Whether the interval holds "no change" and reaches so far that it rules out nothing anybody asks about."""
        if not self.low < 0 < self.high:
            return False
        return self.high - self.low >= 1 if self.absolute else 1 + self.high >= TELLING_SPAN_MAX * (1 + self.low)

    @property
    def reversed(self) -> "Change":
        """The change with its sign turned."""
        return replace(
            self,
            value=-self.value,
            low=-self.high,
            high=-self.low,
            inner_low=-self.inner_high,
            inner_high=-self.inner_low,
        )

    def within(self, margin: float) -> bool:
        """Whether the change is surely smaller than `margin` on either side."""
        return -margin < self.inner_low and self.inner_high < margin

    @property
    def reach(self) -> float:
        """The largest change, up or down, that the interval holds."""
        return max(abs(self.low), abs(self.high))


def relative_change(a: Sequence[float], b: Sequence[float]) -> Change:
    """Change of the geometric mean from the runs of A to those of B, at least `RUNS_MIN` values each, all positive."""
    if min(*a, *b) <= 0:
        raise ValueError("a ratio needs positive values")
    return _welch(np.log(a), np.log(b), shown=math.expm1, absolute=False)


def absolute_change(a: Sequence[float], b: Sequence[float]) -> Change:
    """Change of the mean, in the values' own unit; for figures that may be 0, such as a share of errors."""
    return _welch(np.asarray(a, dtype=float), np.asarray(b, dtype=float), shown=float, absolute=True)


def geometric_mean(values: Sequence[float]) -> float:
    """The value whose ratio `relative_change` is of; 0 when one of them is."""
    return 0.0 if min(values) <= 0 else float(np.exp(np.mean(np.log(values))))


def _welch(
    a: NDArray[np.float64], b: NDArray[np.float64], *, shown: Callable[[float], float], absolute: bool
) -> Change:
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtr, stdtrit

    if min(len(a), len(b)) < RUNS_MIN:
        raise ValueError(f"an interval needs at least {RUNS_MIN} runs on either side")
    difference = float(b.mean() - a.mean())
    variances = [float(each.var(ddof=1)) / len(each) for each in (a, b)]
    error = math.sqrt(sum(variances))
    if error <= NO_SPREAD:
        # Values that are all the same, such as a rate that was offered and met: what differs, differs for certain.
        p_value = 1.0 if abs(difference) <= NO_SPREAD else 0.0
        outer = inner = 0.0
    else:
        shares = [variance**2 / (len(each) - 1) for variance, each in zip(variances, (a, b), strict=True)]
        freedom = sum(variances) ** 2 / sum(shares)
        p_value = float(2 * stdtr(freedom, -abs(difference) / error))
        outer = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
        inner = float(stdtrit(freedom, (1 + EQUIVALENCE_CONFIDENCE) / 2)) * error
    return Change(
        value=shown(difference),
        low=_bounded(shown, difference - outer),
        high=_bounded(shown, difference + outer),
        inner_low=_bounded(shown, difference - inner),
        inner_high=_bounded(shown, difference + inner),
        p_value=p_value,
        a_count=len(a),
        b_count=len(b),
        absolute=absolute,
    )


def _bounded(shown: Callable[[float], float], value: float) -> float:
    """Two runs a side can have an interval of many powers of ten, beyond what a float holds."""
    try:
        return shown(value)
    except OverflowError:
        return math.inf

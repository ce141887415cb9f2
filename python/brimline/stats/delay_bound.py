"""Owns what a quantile of sums would be at least without one of the two terms, however the two belong together.

Of n values t = x + d are known the histograms of t and of d, and not which d is in which t. At most k of the d are
above the (n - k)-th, so that at least n - r + 1 of the x are no smaller than the (r - k)-th t less the (n - k)-th d. So
the r-th x isn't either, for any k (Makarov 1981; Frank, Nelsen and Schweizer 1987).
"""

from brimline.stats.quantile_interval import Ranked

_STEPS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Tried for k, as parts of the values above the quantile."""


def least_without(total: Ranked, delay: Ranked, rank: int) -> int:
    """What the value of `rank` (from 1) of `total` is at least without the delay, in the unit of both and not below 0.

    There are at least as many delays as totals.
    """
    above = total.count - rank
    skipped = {min(round(step * above), rank - 1, delay.count - 1) for step in _STEPS}
    return max(0, *(total.value_at(rank - k) - delay.value_at(delay.count - k) for k in skipped))

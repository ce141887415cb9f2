"""Owns the shift of a whole distribution: how far each of its quantiles moved from the runs of A to those of B.

The shift function (Doksum 1974; Wilcox 1995) with an interval over runs at each quantile: a tail that got slower
while the median got faster shows as such, where one figure would show nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline.stats.change import RUNS_MIN, Change, relative_change
from brimline.stats.multiple import holm
from brimline.stats.quantile_interval import Buckets, merge_buckets, quantile_of

QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
TAIL_COUNT_MIN = 10
"""Values of every run that must lie above a quantile: with fewer it is the run's maximum under another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileShift:
    """One quantile: its value in all runs of A and of B together, and its change over runs.

    `change` and `adjusted_p` (Holm, over all quantiles shown) are None where a side has too few runs.
    """

    quantile: float
    a_ns: int
    b_ns: int
    change: Change | None
    adjusted_p: float | None


def shift_function(
    a: Sequence[Buckets], b: Sequence[Buckets], *, quantiles: Sequence[float] = QUANTILES
) -> tuple[QuantileShift, ...]:
    """The shift at each of `quantiles` that every run has enough values for; a histogram per run, none empty."""
    fewest = min(sum(count for _, count in buckets) for buckets in (*a, *b))
    shown = [each for each in quantiles if fewest * (1 - each) >= TAIL_COUNT_MIN]
    merged_a, merged_b = merge_buckets(a), merge_buckets(b)
    changes = [_change(a, b, each) for each in shown]
    known = holm([change.p_value for change in changes if change is not None])
    adjusted = iter(known)
    return tuple(
        QuantileShift(
            quantile=quantile,
            a_ns=quantile_of(merged_a, quantile),
            b_ns=quantile_of(merged_b, quantile),
            change=change,
            adjusted_p=None if change is None else next(adjusted),
        )
        for quantile, change in zip(shown, changes, strict=True)
    )


def _change(a: Sequence[Buckets], b: Sequence[Buckets], quantile: float) -> Change | None:
    if min(len(a), len(b)) < RUNS_MIN:
        return None
    # A clock with whole nanoseconds can show 0, which has no logarithm.
    values = [[max(quantile_of(each, quantile), 1) for each in side] for side in (a, b)]
    return relative_change(*values)

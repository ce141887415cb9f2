"""Owns the shift of a whole distribution: how far each of its quantiles moved from the runs of A to those of B.

The shift function (Doksum 1974; Wilcox 1995) with an interval over runs at each quantile: a tail that got slower
while the median got faster shows as such, where one figure would show nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline.stats.change import RUNS_MIN, Change, geometric_mean, relative_change
from brimline.stats.quantile_interval import Buckets, known_quantile, quantile_of

QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
TAIL_COUNT_MIN = 10
"""Values of every run that must lie above a quantile: with fewer it is the run's maximum under another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileShift:
    """One quantile: its value in a typical run of A and of B, and its change over runs.

    `a_ns` and `b_ns` are geometric means over runs, so that `change` is their ratio: values of all runs together may
    move the other way than the runs do. `change` is None where a side has too few runs.
    """

    quantile: float
    a_ns: int
    b_ns: int
    change: Change | None


def shift_function(
    a: Sequence[Buckets], b: Sequence[Buckets], *, quantiles: Sequence[float] = QUANTILES
) -> tuple[QuantileShift, ...]:
    """The shift at each of `quantiles` that every run has enough values for; a histogram per run, none empty.

    A quantile that lies in some run among what never completed has no value to be compared.
    """
    fewest = min(sum(count for _, count in buckets) for buckets in (*a, *b))
    enough = [each for each in quantiles if fewest * (1 - each) >= TAIL_COUNT_MIN]
    shown = [each for each in enough if all(known_quantile(run, each) is not None for run in (*a, *b))]
    values = [(_values(a, each), _values(b, each)) for each in shown]
    return tuple(
        QuantileShift(
            quantile=quantile,
            a_ns=round(geometric_mean(values_a)),
            b_ns=round(geometric_mean(values_b)),
            change=_change(values_a, values_b),
        )
        for quantile, (values_a, values_b) in zip(shown, values, strict=True)
    )


def _values(runs: Sequence[Buckets], quantile: float) -> list[int]:
    """A value per run. A clock with whole nanoseconds can show 0, which has no logarithm."""
    return [max(quantile_of(each, quantile), 1) for each in runs]


def _change(a: Sequence[int], b: Sequence[int]) -> Change | None:
    return None if min(len(a), len(b)) < RUNS_MIN else relative_change(a, b)

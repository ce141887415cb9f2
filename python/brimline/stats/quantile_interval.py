"""Owns quantiles of histograms and how far they can be trusted.

Two intervals, each blind where the other sees: binomial ranks are exact for independent values and know how
few values the tail holds; the bootstrap over batches of time knows that slow operations come in bursts.
`quantile_intervals` takes the hull of both, and sees to it that a higher quantile is nowhere said to be lower.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from brimline.stats.estimate import CONFIDENCE

Buckets: TypeAlias = Sequence[tuple[int, int]]
"""A histogram: (value in ns, count), ascending by value."""

NEVER_NS = 1 << 62
"""The value of what was due and never completed: later than any other, though nobody knows how much."""
TAIL_COUNT_MIN = 100
"""Values that must lie above a quantile before it is printed as a figure and not as a bound."""
BATCH_COUNT_MIN = 8
"""Batches of time below which resampling them says nothing."""
RESAMPLE_COUNT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileInterval:
    """A quantile in ns, or the mean (`quantile` None), with its interval. A bound is None where nothing gives one.

    `never` of the `count` values never completed. `value_ns` is `NEVER_NS` where the quantile lies among these;
    `high_ns` is None then. Where it is no figure, `low_ns` is the bound that is printed.
    """

    quantile: float | None
    value_ns: int
    low_ns: int | None
    high_ns: int | None
    count: int
    never: int = 0

    @property
    def never_share(self) -> float:
        """Share of the values that never completed."""
        return self.never / self.count

    @property
    def is_open(self) -> bool:
        """Whether the upper end lies among those that never completed."""
        return self.high_ns is None and self.never > 0

    @property
    def known_ns(self) -> int | None:
        """The value; None where it lies among those that never completed."""
        return None if self.value_ns == NEVER_NS else self.value_ns

    @property
    def enough(self) -> bool:
        """Whether enough values lie beyond the quantile to print it as a figure; a mean needs an interval."""
        if self.quantile is None:
            return self.low_ns is not None and self.high_ns is not None
        tail_count = round(self.count * (1 - self.quantile), 6)
        return tail_count >= TAIL_COUNT_MIN and self.low_ns is not None and self.high_ns is not None

    @property
    def is_figure(self) -> bool:
        """Whether it is printed as a figure and not as a bound: a median always is, as long as it is known."""
        return self.enough or ((self.quantile or 0.0) <= 0.5 and self.known_ns is not None)

    @property
    def printed_ns(self) -> int | None:
        """The figure, or the bound: what every report prints."""
        return self.value_ns if self.is_figure else self.low_ns


def merge_buckets(histograms: Sequence[Buckets]) -> list[tuple[int, int]]:
    """The histogram of all values of all `histograms`."""
    merged: dict[int, int] = {}
    for buckets in histograms:
        for value_ns, count in buckets:
            merged[value_ns] = merged.get(value_ns, 0) + count
    return sorted(merged.items())


def with_never(buckets: Buckets, count: int) -> Buckets:
    """`buckets` and `count` values that are `NEVER_NS`."""
    return merge_buckets([buckets, [(NEVER_NS, count)]]) if count else buckets


def without_never(buckets: Buckets) -> Buckets:
    """What completed."""
    return buckets[:-1] if buckets and buckets[-1][0] == NEVER_NS else buckets


def quantile_of(buckets: Buckets, quantile: float) -> int:
    """The smallest value that at least `quantile` of all values don't exceed. Raises ValueError if empty."""
    return _value_at_rank(buckets, rank_of(_count(buckets), quantile))


def rank_of(count: int, quantile: float) -> int:
    """The rank, from 1, of the smallest value that at least `quantile` of `count` values don't exceed."""
    return max(1, math.ceil(round(quantile * count, 6)))


def known_quantile(buckets: Buckets, quantile: float) -> int | None:
    """The same; None where it lies among those that never completed."""
    value_ns = quantile_of(buckets, quantile)
    return None if value_ns == NEVER_NS else value_ns


def binomial_ranks(count: int, quantile: float, *, confidence: float = CONFIDENCE) -> tuple[int | None, int | None]:
    """Ranks (from 1) of the order statistics that enclose the quantile of `count` independent values.

    Exact and distribution-free: P(X₍l₎ ≤ x_q ≤ X₍u₎) ≥ confidence, with at most half of the rest on either
    side (David and Nagaraja, Order Statistics, §7.1). None: that many values bound the quantile on this side
    not at all.
    """
    tail = (1 - confidence) / 2
    low = _binomial_quantile(tail, count, quantile)
    high = _binomial_quantile(1 - tail, count, quantile) + 1
    return (low if low >= 1 else None), (high if high <= count else None)


def _binomial_quantile(probability: float, count: int, share: float) -> int:
    """The smallest k with P(K ≤ k) ≥ probability for K of the binomial law; `scipy.stats` takes a second to import."""
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import bdtr, bdtrik

    nearest = math.ceil(bdtrik(probability, count, share))
    return nearest - 1 if nearest > 0 and bdtr(nearest - 1, count, share) >= probability else nearest


def quantile_interval(
    buckets: Buckets, quantile: float, *, batches: Sequence[Buckets] = (), waited: Buckets = (), seed: int = 0
) -> QuantileInterval:
    """One of `quantile_intervals`."""
    return quantile_intervals(buckets, [quantile], batches=batches, waited=waited, seed=seed)[quantile]


def quantile_intervals(
    buckets: Buckets,
    quantiles: Sequence[float],
    *,
    batches: Sequence[Buckets] = (),
    waited: Buckets = (),
    seed: int = 0,
) -> dict[float, QuantileInterval]:
    """Quantiles of `buckets` with their intervals, ascending.

    `batches` are the values of what completed, cut by time, for example by sample interval. What never completed is
    taken for later than all else above, and below for what it has `waited` at least: without that for sooner than all
    else, since nobody knows. Raises ValueError without values.
    """
    wanted = sorted(set(quantiles))
    completed = without_never(buckets)
    count, completed_count = _count(buckets), _count(completed)
    never = count - completed_count
    unknown = never - _count(waited)
    soonest = Ranked(merge_buckets([completed, waited, [(0, unknown)]]) if never else buckets)
    latest = Ranked(buckets)
    resampled = _resampled(batches, wanted, never=never, waited=waited, seed=seed)
    found = []
    for place, quantile in enumerate(wanted):
        low_rank, high_rank = binomial_ranks(count, quantile)
        low = None if low_rank is None or low_rank <= unknown else soonest.value_at(low_rank)
        high = None if high_rank is None or high_rank > completed_count else latest.value_at(high_rank)
        if resampled is not None:
            low = None if low is None else min(low, resampled[0][place])
            high = None if high is None else max(high, resampled[1][place])
        value = latest.value_at(rank_of(count, quantile))
        found.append(
            QuantileInterval(
                quantile=quantile,
                value_ns=value,
                low_ns=low,
                high_ns=None if high == NEVER_NS else high,
                count=count,
                never=never,
            )
        )
    return dict(zip(wanted, ascending(found), strict=True))


def ascending(intervals: Sequence[QuantileInterval]) -> list[QuantileInterval]:
    """The same, by rising quantile, without an end or a bound below what is said of a lower quantile.

    What bounds a quantile from below bounds all higher ones. The bound of a thin tail is the lower end of an interval,
    and may lie below the figure of a quantile that has more operations above it: then it is that figure.
    """
    raised: list[QuantileInterval] = []
    low_ns, printed_ns = 0, 0
    for each in intervals:
        least_ns = low_ns if each.is_figure else printed_ns
        known = [ns for ns in (each.low_ns, least_ns) if ns]
        one = replace(each, low_ns=min(max(known), each.value_ns) if known else each.low_ns)
        low_ns, printed_ns = max(low_ns, one.low_ns or 0), max(printed_ns, one.printed_ns or 0)
        raised.append(one)
    lowered: list[QuantileInterval] = []
    high_ns: int | None = None
    for one in reversed(raised):
        high_ns = one.high_ns if high_ns is None else high_ns if one.high_ns is None else min(high_ns, one.high_ns)
        lowered.append(one if one.high_ns is None else replace(one, high_ns=high_ns))
    return lowered[::-1]


def whole_between(
    whole: Mapping[float, QuantileInterval], parts: Sequence[Mapping[float, QuantileInterval]]
) -> dict[float, QuantileInterval]:
    """`whole` with each bound as high at least as the lowest of what its `parts` print: the whole is no faster."""
    raised = []
    for quantile in sorted(whole):
        each = whole[quantile]
        known = [part[quantile].printed_ns for part in parts if quantile in part]
        if not each.is_figure and len(known) == len(parts) and None not in known:
            least_ns = max(min(ns for ns in known if ns is not None), each.low_ns or 0)
            each = replace(each, low_ns=min(least_ns, each.value_ns))
        raised.append(each)
    return dict(zip(sorted(whole), ascending(raised), strict=True))


def _count(buckets: Buckets) -> int:
    return sum(map(itemgetter(1), buckets))


class Ranked:
    """A histogram whose values are asked for by rank many times."""

    def __init__(self, buckets: Buckets) -> None:
        table = _table(buckets)
        self._values, self._seen = table[:, 0], np.cumsum(table[:, 1])

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self._seen[-1]) if len(self._seen) else 0

    def value_at(self, rank: int) -> int:
        """The value of this rank, from 1. Raises ValueError where there are fewer."""
        place = int(np.searchsorted(self._seen, rank))
        if place == len(self._values):
            raise ValueError("a histogram without values has no quantile")
        return int(self._values[place])


def _value_at_rank(buckets: Buckets, rank: int) -> int:
    seen = 0
    for value_ns, count in buckets:
        seen += count
        if seen >= rank:
            return value_ns
    raise ValueError("a histogram without values has no quantile")


def _resampled(
    batches: Sequence[Buckets], quantiles: Sequence[float], *, never: int, waited: Buckets, seed: int
) -> tuple[list[int], list[int]] | None:
    """Lower and upper ends by bootstrap over whole batches, so that values which belong together stay together.

    What never completed belongs to no batch, and is in every resample. None with too few batches.
    """
    if len(batches) < BATCH_COUNT_MIN:
        return None
    soonest = merge_buckets([waited, [(0, never - _count(waited))]])
    low, high = _batch_bounds(batches, soonest, quantiles, seed=seed)
    if never:  # where all completed both are one, which is resampled once: nothing else here takes as long
        high = _batch_bounds(batches, [(NEVER_NS, never)], quantiles, seed=seed)[1]
    return low, high


def _batch_bounds(
    batches: Sequence[Buckets], beside: Buckets, quantiles: Sequence[float], *, seed: int
) -> tuple[list[int], list[int]]:
    values, seen = _cumulated([*batches, beside])
    rng = np.random.default_rng(seed)
    batch_count = len(batches)
    weights = np.ones((RESAMPLE_COUNT, batch_count + 1))  # what is beside the batches is in each resample once
    weights[:, :-1] = rng.multinomial(batch_count, np.full(batch_count, 1 / batch_count), size=RESAMPLE_COUNT)
    found = np.sort([_resampled_quantiles(values, seen, weights, quantile) for quantile in quantiles])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail], axis=1, method="closest_observation")
    return [int(each) for each in low], [int(each) for each in high]


def _resampled_quantiles(
    values: NDArray[np.int64], seen: NDArray[np.float64], weights: NDArray[np.float64], quantile: float
) -> NDArray[np.int64]:
    """The quantile of each resample; `weights[resample, batch]` say how often each batch is in it.

    All resamples are bisected at once: a look adds up the batches at one value each, not at all of them.
    """
    ranks = np.maximum(np.round(np.einsum("rb,b->r", weights, seen[-1]) * quantile, 6), 1)
    low, high = np.zeros(len(weights), dtype=np.int64), np.full(len(weights), len(values) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        reached = np.einsum("rb,rb->r", weights, seen[middle]) >= ranks
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    found: NDArray[np.int64] = values[low]
    return found


def _cumulated(batches: Sequence[Buckets]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All values ascending, and seen[value, batch]: how many of the batch don't exceed it.

    Floating point numbers hold counts exactly up to 2^53, and are multiplied ten times as fast as integers.
    """
    tables = [_table(batch) for batch in batches]
    values = np.unique(np.concatenate([table[:, 0] for table in tables]))
    counts = np.zeros((len(values), len(tables)))
    for place, table in enumerate(tables):
        counts[np.searchsorted(values, table[:, 0]), place] = table[:, 1]
    return values, np.cumsum(counts, axis=0, out=counts)


def _table(buckets: Buckets) -> NDArray[np.int64]:
    """Buckets as [bucket, value or count]; `np.array` takes twice as long."""
    return np.fromiter(chain.from_iterable(buckets), np.int64, count=2 * len(buckets)).reshape(-1, 2)

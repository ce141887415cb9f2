"""Owns quantiles of histograms and how far they can be trusted.

Two intervals, each blind where the other sees: binomial ranks are exact for independent values and know how
few values the tail holds; the bootstrap over batches of time knows that slow operations come in bursts.
`quantile_interval` takes the hull of both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
RESAMPLES_AT_ONCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileInterval:
    """A quantile in ns with its interval. A bound is None where the values are too few to give one.

    `never` of the `count` values never completed. `value_ns` is `NEVER_NS` where the quantile lies among these;
    `high_ns` is None then.
    """

    quantile: float
    value_ns: int
    low_ns: int | None
    high_ns: int | None
    count: int
    never: int = 0
    confidence: float = CONFIDENCE

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
        """Whether enough values lie beyond the quantile to print it as a figure."""
        tail_count = self.count * (1 - self.quantile)
        return tail_count >= TAIL_COUNT_MIN and self.low_ns is not None and self.high_ns is not None


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
    count = sum(each for _, each in buckets)
    return _value_at_rank(buckets, max(1, math.ceil(round(quantile * count, 6))))


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
    buckets: Buckets,
    quantile: float,
    *,
    batches: Sequence[Buckets] = (),
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> QuantileInterval:
    """The quantile of `buckets` with its interval.

    `batches` are the values of what completed, cut by time, for example by sample interval. What never completed is
    taken for later than all else above, and below for sooner, since nobody knows. Raises ValueError without values.
    """
    count = sum(each for _, each in buckets)
    completed = sum(each for _, each in without_never(buckets))
    never = count - completed
    low_rank, high_rank = binomial_ranks(count, quantile, confidence=confidence)
    low = None if low_rank is None or low_rank <= never else _value_at_rank(buckets, low_rank - never)
    high = None if high_rank is None or high_rank > completed else _value_at_rank(buckets, high_rank)
    if len(batches) >= BATCH_COUNT_MIN:
        below, above = quantile, quantile
        if never:
            below, above = (quantile * count - never) / completed, quantile * count / completed
        # Where all completed both are one, which is resampled once: nothing else here takes as long.
        bounds = {each: _batch_bounds(batches, each, seed=seed, confidence=confidence) for each in {below, above}}
        low = None if low is None else min(low, bounds[below][0])
        high = None if high is None else max(high, bounds[above][1])
    value = quantile_of(buckets, quantile)
    return QuantileInterval(
        quantile=quantile,
        value_ns=value,
        low_ns=low,
        high_ns=high,
        count=count,
        never=never,
        confidence=confidence,
    )


def _value_at_rank(buckets: Buckets, rank: int) -> int:
    seen = 0
    for value_ns, count in buckets:
        seen += count
        if seen >= rank:
            return value_ns
    raise ValueError("a histogram without values has no quantile")


def _batch_bounds(batches: Sequence[Buckets], quantile: float, *, seed: int, confidence: float) -> tuple[int, int]:
    """Bootstrap over whole batches, so that values which belong together stay together."""
    values, counts = _matrix(batches)
    rng = np.random.default_rng(seed)
    batch_count = len(batches)
    drawn = rng.multinomial(batch_count, np.full(batch_count, 1 / batch_count), size=RESAMPLE_COUNT)
    # Floating point numbers, which hold counts exactly up to 2^53, are multiplied ten times as fast as integers.
    weights = drawn.astype(np.float64)
    # A few at a time: all of them at once take a hundred megabytes.
    chunks = np.array_split(weights, RESAMPLE_COUNT // RESAMPLES_AT_ONCE)
    quantiles = np.sort(np.concatenate([_quantiles(values, chunk @ counts, quantile) for chunk in chunks]))
    tail = (1 - confidence) / 2
    low, high = np.quantile(quantiles, [tail, 1 - tail], method="closest_observation")
    return int(low), int(high)


def _quantiles(values: NDArray[np.int64], counts: NDArray[np.float64], quantile: float) -> NDArray[np.int64]:
    """The quantile of each row of counts[resample, value]."""
    cumulated = np.cumsum(counts, axis=1)
    reached = cumulated >= np.maximum(quantile * cumulated[:, -1:], 1)
    found: NDArray[np.int64] = values[np.argmax(reached, axis=1)]
    return found


def _matrix(batches: Sequence[Buckets]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All values ascending, and counts[batch, value]."""
    tables = [np.array(batch, dtype=np.int64).reshape(-1, 2) for batch in batches]
    values = np.unique(np.concatenate([table[:, 0] for table in tables]))
    counts = np.zeros((len(tables), len(values)), dtype=np.float64)
    for row, table in enumerate(tables):
        counts[row, np.searchsorted(values, table[:, 0])] = table[:, 1]
    return values, counts

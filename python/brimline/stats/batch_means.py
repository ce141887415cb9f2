"""Owns means of series whose values depend on each other: effective sample size and interval."""

from collections.abc import Sequence

import numpy as np

from brimline.stats.estimate import CONFIDENCE, Estimate

BATCHES_MIN = 5
"""Batches of time below which a mean gets no interval."""


def autocorrelation_time(series: Sequence[float]) -> float:
    """How many successive values are worth one independent value; at least 1.

    Batch means: with batches of about √n values, n_batch · var(batch means) / var(values) (Flegal and Jones
    2010). Fewer than 4 values can't show dependence and give 1.
    """
    values = np.asarray(series, dtype=float)
    if len(values) < 4:
        return 1.0
    batch_length = int(np.sqrt(len(values)))
    batch_count = len(values) // batch_length
    used = values[-batch_count * batch_length :]
    if np.ptp(used) == 0:
        return 1.0
    means = used.reshape(batch_count, batch_length).mean(axis=1)
    return max(1.0, float(batch_length * means.var(ddof=1) / used.var(ddof=1)))


def effective_sample_size(series: Sequence[float]) -> float:
    """Number of independent values that would tell as much about the mean as `series` does."""
    return len(series) / autocorrelation_time(series)


def mean_interval(
    series: Sequence[float], *, unit: str, independent: bool = False, confidence: float = CONFIDENCE
) -> Estimate:
    """Mean of a stationary series with Student's interval at its effective sample size.

    `independent`: the values don't depend on each other, such as those of separate runs, so that all of them
    count. A single value, or a series worth less than two, gets an infinite interval. Raises ValueError when
    empty.
    """
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtrit

    values = np.asarray(series, dtype=float)
    if not len(values):
        raise ValueError("no values, no mean")
    mean = float(values.mean())
    effective = len(values) if independent else effective_sample_size(series)
    if effective < 2:
        half = np.inf
    else:
        half = float(stdtrit(effective - 1, (1 + confidence) / 2) * values.std(ddof=1) / np.sqrt(effective))
    return Estimate(value=mean, low=mean - half, high=mean + half, unit=unit, confidence=confidence)


def ratio_interval(sums: Sequence[float], counts: Sequence[int], *, unit: str) -> Estimate | None:
    """The mean of values that were added up batch by batch, with Student's interval over batches of time.

    Batches hold different numbers of values, so that the mean is a ratio of two sums, and its error that of the
    residuals `sum - mean · count` (Cochran, "Sampling Techniques", 6.3), at their effective sample size. None below
    `BATCHES_MIN` batches, and where they hang together so much that they are worth fewer than two.
    """
    if len(sums) < BATCHES_MIN or not sum(counts):
        return None
    mean = sum(sums) / sum(counts)
    residuals = [total - mean * count for total, count in zip(sums, counts, strict=True)]
    spread = mean_interval(residuals, unit=unit)
    half = (spread.high - spread.low) / 2 * len(counts) / sum(counts)
    if not np.isfinite(half):
        return None
    return Estimate(value=mean, low=max(mean - half, 0.0), high=mean + half, unit=unit)

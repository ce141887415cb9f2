"""Owns the question whether something grows, such as a backlog."""

from collections.abc import Sequence

import numpy as np

from brimline.stats.estimate import CONFIDENCE, Estimate


def growth_rate(
    times_s: Sequence[float], levels: Sequence[float], *, unit: str, confidence: float = CONFIDENCE
) -> Estimate:
    """How fast a level grows per second, with its interval; `times_s` strictly ascending, at least 3 points.

    A queue's length is a sum of what came minus what went, so the points on its curve depend on each other,
    and the interval of a fitted line is far too narrow: it finds trends in random walks. The increments
    between the points are nearly independent; their mean is the growth, and Student's interval over them
    holds. A level that only fluctuates has increments that take each other back, which makes the interval too
    wide, never too narrow.
    """
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtrit

    if len(times_s) != len(levels) or len(times_s) < 3:
        raise ValueError("growth needs at least 3 points")
    lengths = np.diff(np.asarray(times_s, dtype=float))
    increments = np.diff(np.asarray(levels, dtype=float))
    rate = float(increments.sum() / lengths.sum())
    # Increments over unequal lengths: each deviates from rate · length, with variance in proportion to its
    # length.
    variance = float(np.mean((increments - rate * lengths) ** 2 / lengths) * len(lengths) / (len(lengths) - 1))
    half = float(stdtrit(len(lengths) - 1, (1 + confidence) / 2) * np.sqrt(variance / lengths.sum()))
    return Estimate(value=rate, low=rate - half, high=rate + half, unit=unit, confidence=confidence)

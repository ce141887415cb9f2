"""Owns shares with their interval: how many of so many."""

import math

from brimline.stats.estimate import CONFIDENCE


def share_interval(count: int, total: int, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of the probability behind `count` of `total` independent events.

    Exact (Clopper and Pearson 1934), so that it holds for the rarest events. Raises ValueError without events.
    """
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import betaincinv

    if not 0 <= count <= total or total == 0:
        raise ValueError(f"{count} of {total} is no share")
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, tail))
    high = 1.0 if count == total else float(betaincinv(count + 1, total - count, 1 - tail))
    return low, high


def events_needed(share_max: float, *, confidence: float = CONFIDENCE) -> int:
    """How many events without a single count put the interval's upper end at `share_max`, which is above 0 and below 1.

    The closed form of `share_interval` for none: about 3.7 / `share_max` at 95 %.
    """
    return math.ceil(math.log((1 - confidence) / 2) / math.log1p(-share_max))

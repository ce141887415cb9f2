"""Owns where a series of runs changed its level: E-divisive with a floor under what counts.

Matteson and James 2014, "A nonparametric approach for multiple change point analysis of multivariate data": the
split that sets two stretches of the series furthest apart by their energy distance, taken when random orders of the
same values set nothing as far apart; then each part again. Few points and single spikes make splits that mean
nothing, so the weakest are taken back until each change that is left holds up between its neighbours: it is
significant by Welch's test and at least `floor` large (the weak-then-strong order of Hunter, Fleming et al. 2023).
Where values carry intervals of their own, a stretch is known no better than these say (`stats.ratio`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brimline.stats.change import Change
from brimline.stats.ratio import Interval, intervals_ratio

SEGMENT_MIN = 3
"""Runs on either side of a change: fewer are a spike."""
SERIES_MIN = 2 * SEGMENT_MIN
SERIES_MAX = 400
"""Values that are looked at, the newest: the work grows with their square."""
ALPHA_SPLIT = 0.05
"""Of the permutation test by which a split is considered."""
ALPHA_KEPT = 0.01
"""Of the test that it must pass between its neighbours to be kept. Simulated series of 12 to 60 runs without a change
have one in 0-3 % at 1 %, in up to 6 % at 5 %; a step of 5 % among runs that vary by 1.5 % is found at either."""
MAGNITUDE_FLOOR = 0.03
"""Share by which a level must change to be reported; smaller ones are real at times and never worth an alarm."""
PERMUTATION_COUNT = 199


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """The first index of the new level, the stretch before it and after it, and the change between the two."""

    index: int
    first: int
    end: int
    change: Change


def change_points(
    series: Sequence[Interval], *, floor: float = MAGNITUDE_FLOOR, alpha: float = ALPHA_KEPT, seed: int = 0
) -> tuple[ChangePoint, ...]:
    """Changes of level in `series`, positive and in the order of time; none in fewer than `SERIES_MIN`.

    Of more than `SERIES_MAX` values only the newest are looked at; indices are those of `series`.
    """
    if any(value <= 0 for value, *_ in series):
        raise ValueError("a ratio needs positive values")
    offset = max(0, len(series) - SERIES_MAX)
    looked_at = list(series)[offset:]
    logs = np.log(np.asarray([value for value, *_ in looked_at], dtype=float))
    found = _merged(looked_at, _splits(logs, np.random.default_rng(seed)), floor=floor, alpha=alpha)
    return tuple(
        ChangePoint(index=each.index + offset, first=each.first + offset, end=each.end + offset, change=each.change)
        for each in found
    )


def _splits(values: NDArray[np.float64], rng: np.random.Generator) -> list[int]:
    """Where the series falls apart, ascending; each split by the permutation test within its stretch."""
    found: list[int] = []
    stretches = [(0, len(values))]
    while stretches:
        start, end = stretches.pop()
        split = _split(values[start:end], rng)
        if split is not None:
            found.append(start + split)
            stretches += [(start, start + split), (start + split, end)]
    return sorted(found)


def _split(values: NDArray[np.float64], rng: np.random.Generator) -> int | None:
    """The best split of one stretch, None when chance does as well."""
    if len(values) < SERIES_MIN or np.ptp(values) == 0:
        return None
    distances = np.abs(values[:, None] - values[None, :])
    best, where = _energy(distances)
    as_good = 0
    for _ in range(PERMUTATION_COUNT):
        order = rng.permutation(len(values))
        as_good += _energy(distances[np.ix_(order, order)])[0] >= best
        if as_good + 1 > ALPHA_SPLIT * (PERMUTATION_COUNT + 1):
            return None
    return where


def _energy(distances: NDArray[np.float64]) -> tuple[float, int]:
    """The largest statistic Q over stretches 0 … τ and τ … κ, and its τ.

    Q = mn/(m+n) · (2·mean|x-y| - mean|x-x'| - mean|y-y'|), from sums over blocks of the matrix of distances.
    κ moves too, so that a level which came and went is found.
    """
    count = len(distances)
    sums = np.zeros((count + 1, count + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    diagonal = np.diagonal(sums)
    tau = np.arange(SEGMENT_MIN, count - SEGMENT_MIN + 1)[:, None]
    kappa = np.arange(2 * SEGMENT_MIN, count + 1)[None, :]
    left, right = tau, kappa - tau
    within_left = diagonal[tau]
    across = sums[tau, kappa] - within_left
    within_right = diagonal[kappa] - 2 * sums[tau, kappa] + within_left
    allowed = right >= SEGMENT_MIN
    right = np.where(allowed, right, SEGMENT_MIN)
    distance = 2 * across / (left * right) - within_left / (left * (left - 1)) - within_right / (right * (right - 1))
    statistic = np.where(allowed, left * right / (left + right) * distance, -np.inf)
    best = int(np.argmax(statistic))
    return float(statistic.flat[best]), int(tau[best // statistic.shape[1], 0])


def _merged(values: Sequence[Interval], splits: Sequence[int], *, floor: float, alpha: float) -> list[ChangePoint]:
    """The splits that hold up: the weakest is taken back until all do."""
    kept = list(splits)
    while True:
        points = [_point(values, kept, place) for place in range(len(kept))]
        weak = [
            place
            for place, point in enumerate(points)
            if point.change.p_value > alpha or not abs(point.change.value) >= floor
        ]
        if not weak:
            return points
        weakest = max(weak, key=lambda place: (points[place].change.p_value, -abs(points[place].change.value)))
        del kept[weakest]


def _point(values: Sequence[Interval], splits: Sequence[int], place: int) -> ChangePoint:
    first = splits[place - 1] if place else 0
    end = splits[place + 1] if place + 1 < len(splits) else len(values)
    index = splits[place]
    before, after = values[first:index], values[index:end]
    change = intervals_ratio(before, after).change(a_count=len(before), b_count=len(after))
    return ChangePoint(index=index, first=first, end=end, change=change)

"""Owns the volume at which a figure changes its course: regression with one break, its interval, a test against none.

A figure y over a volume x, both positive, follows ln y = a + b ln x up to the break ψ, and beyond it
a + b ln x + c · r(x; ψ), where r is 0 up to ψ and rises from there in one of four ways:

- `linear`, x/ψ - 1: the figure goes on as a steeper exponential, as with queues;
- `logarithmic`, ln(x/ψ): as a steeper power of the volume;
- `saturating`, 1 - ψ/x: the share of uniformly drawn records that a cache of size ψ does not hold, so that
  the figure approaches what a miss costs;
- `step`, 1: all at once, a cliff between two volumes.

All have their kink at ψ, and a kink stays where it is under any smooth change of y: the logarithm makes noise
in proportion to the level even, and a ratio of levels is what a break is about. For a given ψ and r least squares are
linear, so that the sum of squares is searched over a grid of ψ (Hudson 1966, "Fitting segmented curves whose join
points have to be estimated"; Muggeo 2003, "Estimating regression models with unknown break-points").

The break's interval holds every ψ whose sum of squares, with the best r, is not significantly above the smallest: the
profile likelihood with F(1, n - p) in place of its limit (Seber and Wild 1989, "Nonlinear regression", 5.9; for
thresholds Hansen 2000). The test against no break takes the largest gain over all ψ and r, as ψ doesn't exist without
a break (Davies 1987; Andrews 1993), and has its distribution from permuted residuals of the fit without one (Freedman
and Lane 1983; Anderson and Robinson 2001), which needs no normal noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from brimline.stats.estimate import CONFIDENCE, Estimate

ALPHA = 0.01
"""Chance of a break where there is none, with independent noise."""
RATIO_MIN = 1.10
"""Ratio to the course without a break, at the last volume, below which a break is not worth the name."""
SIDE_MIN = 3
"""Volumes on either side of a break: fewer can't show a course."""
VOLUMES_MIN = 2 * SIDE_MIN + 1
PERMUTATION_COUNT = 999
_GRID_COUNT = 161
_PARAMETER_COUNT = 4
_NO_SPREAD = 1e-20

_Vector = NDArray[np.float64]


class Course(StrEnum):
    """How the figure goes on beyond the break."""

    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    SATURATING = "saturating"
    STEP = "step"


class Direction(StrEnum):
    """What is looked for: a figure that becomes larger beyond the break, or smaller."""

    RISE = "rise"
    FALL = "fall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """Where the course changes. `ratio` is the figure at the last volume divided by what it would be without it."""

    position: Estimate
    course: Course
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Segmented:
    """What a series shows: a break or none, the chance of seeing as much where there is none, and the fitted course.

    `too_few`: there were too few volumes to look. `fitted` has one value per volume, ascending without repeats.
    """

    found: Break | None
    p_value: float
    volumes: tuple[float, ...]
    fitted: tuple[float, ...]
    too_few: bool = False


def find_break(
    volumes: Sequence[float],
    values: Sequence[float],
    *,
    unit: str,
    direction: Direction = Direction.RISE,
    alpha: float = ALPHA,
    ratio_min: float = RATIO_MIN,
    seed: int = 0,
) -> Segmented:
    """The break of `values` over `volumes`, both positive; several values of one volume count one by one.

    `unit` is that of the volumes. A break is found when no break explains the values badly enough (`alpha`) and the
    last volume lies by `ratio_min` off the course before. Raises ValueError for values that aren't positive.
    """
    x, y = np.asarray(volumes, dtype=float), np.asarray(values, dtype=float)
    if len(x) != len(y) or (len(x) and min(x.min(), y.min()) <= 0):
        raise ValueError("a course needs a positive value for each positive volume")
    levels = np.unique(x)
    if len(levels) < VOLUMES_MIN:
        return Segmented(found=None, p_value=1.0, volumes=tuple(levels), fitted=(), too_few=True)
    logs = np.log(y)
    base = _base(x)
    positions = np.geomspace(levels[SIDE_MIN - 1], levels[-SIDE_MIN], _GRID_COUNT)
    sign = 1.0 if direction is Direction.RISE else -1.0
    directions, kinds, places = _candidates(x, base, positions)
    residuals = logs - base @ (base.T @ logs)
    whole = float(residuals @ residuals)
    if whole < _NO_SPREAD:
        return Segmented(found=None, p_value=1.0, volumes=tuple(levels), fitted=_course(x, logs, levels))
    gains = _gains(directions, residuals[None, :], sign)[0]
    p_value = _chance(directions, residuals, base, sign, float(gains.max()) / whole, np.random.default_rng(seed))
    best = int(np.argmax(gains))
    kind, position = list(Course)[kinds[best]], positions[places[best]]
    fitted, ratio = _broken_course(x, logs, levels, kind, position)
    strong_enough = (ratio if direction is Direction.RISE else 1 / ratio) >= ratio_min
    if p_value > alpha or not strong_enough:
        return Segmented(found=None, p_value=p_value, volumes=tuple(levels), fitted=_course(x, logs, levels))
    low, high = _interval(whole - gains, places, positions, len(x))
    estimate = Estimate(value=float(position), low=low, high=high, unit=unit)
    return Segmented(
        found=Break(position=estimate, course=kind, ratio=ratio),
        p_value=p_value,
        volumes=tuple(levels),
        fitted=fitted,
    )


def _rise(kind: Course, x: _Vector, position: float) -> _Vector:
    """r(x; ψ): 0 up to the break."""
    relative = np.maximum(x / position, 1.0)
    match kind:
        case Course.LINEAR:
            return relative - 1
        case Course.LOGARITHMIC:
            return np.log(relative)
        case Course.SATURATING:
            return 1 - 1 / relative
        case Course.STEP:
            return (relative > 1).astype(float)


def _base(x: _Vector) -> _Vector:
    """Orthonormal columns that span the courses without a break."""
    return np.linalg.qr(np.column_stack([np.ones_like(x), np.log(x)]))[0]


def _candidates(x: _Vector, base: _Vector, positions: _Vector) -> tuple[_Vector, NDArray[np.intp], NDArray[np.intp]]:
    """For each course and position the direction in which it bends the values, of length 1 and free of the base."""
    rows, kinds, places = [], [], []
    for number, kind in enumerate(Course):
        for place, position in enumerate(positions):
            rise = _rise(kind, x, position)
            bent = rise - base @ (base.T @ rise)
            length = float(np.linalg.norm(bent))
            if length > 1e-9 * max(float(np.linalg.norm(rise)), 1.0):
                rows.append(bent / length)
                kinds.append(number)
                places.append(place)
    return np.array(rows), np.array(kinds), np.array(places)


def _gains(directions: _Vector, residuals: _Vector, sign: float) -> _Vector:
    """By how much each candidate lowers the sum of squares, per row of residuals; 0 where it bends the other way."""
    return np.square(np.maximum(sign * (residuals @ directions.T), 0.0))


def _chance(
    directions: _Vector, residuals: _Vector, base: _Vector, sign: float, seen: float, rng: np.random.Generator
) -> float:
    """How often permuted residuals show a gain as large as the one that was seen, as a share of what is unexplained."""
    shuffled = rng.permuted(np.tile(residuals, (PERMUTATION_COUNT, 1)), axis=1)
    shuffled -= (shuffled @ base) @ base.T
    totals = np.square(shuffled).sum(axis=1)
    gains = _gains(directions, shuffled, sign).max(axis=1)
    return float((1 + np.count_nonzero(gains >= seen * totals)) / (PERMUTATION_COUNT + 1))


def _interval(squares: _Vector, places: NDArray[np.intp], positions: _Vector, count: int) -> tuple[float, float]:
    """The positions that explain the values nearly as well as the best, each with its best course."""
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import fdtri

    profile = np.full(len(positions), np.inf)
    np.minimum.at(profile, places, squares)
    freedom = count - _PARAMETER_COUNT
    limit = float(profile.min()) * (1 + float(fdtri(1, freedom, CONFIDENCE)) / freedom)
    inside = np.flatnonzero(profile <= limit)
    first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(positions) - 1)
    return float(positions[first]), float(positions[last])


def _course(x: _Vector, logs: _Vector, levels: _Vector) -> tuple[float, ...]:
    """The fitted values without a break."""
    slope, level = np.polyfit(np.log(x), logs, 1)
    return tuple(np.exp(level + slope * np.log(levels)))


def _broken_course(
    x: _Vector, logs: _Vector, levels: _Vector, kind: Course, position: float
) -> tuple[tuple[float, ...], float]:
    """The fitted values with a break, and the ratio at the last volume to the course without it."""
    design = np.column_stack([np.ones_like(x), np.log(x), _rise(kind, x, position)])
    (level, slope, bend), *_ = np.linalg.lstsq(design, logs, rcond=None)
    rise = bend * _rise(kind, levels, position)
    return tuple(np.exp(level + slope * np.log(levels) + rise)), float(np.exp(rise[-1]))

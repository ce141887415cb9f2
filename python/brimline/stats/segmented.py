"""Owns the volume at which a figure changes its course: regression with one break, its interval, a test against none.

A figure y over a volume x, both positive, follows y = e^a · x^b up to the break ψ, and beyond it is larger by the
factor 1 + κ r(x; ψ), or smaller by it. r is 0 up to ψ and rises from there in one of three ways:

- `linear`, x/ψ - 1: as where work grows with the volume;
- `logarithmic`, ln(x/ψ);
- `saturating`, 1 - ψ/x: the share of uniformly drawn records that a cache of size ψ does not hold, so that κ is what
  a miss costs more than a hit, as a multiple of a hit. A κ of 1000, a disk behind the cache, makes it a cliff.

Fitted are logarithms, because noise is mostly in proportion to the level. For a given ψ, r and κ least squares are
linear in a and b, so that ψ and κ are searched over a grid and κ is refined by Gauss and Newton (Hudson 1966, "Fitting
segmented curves whose join points have to be estimated"; Muggeo 2003, "Estimating regression models with unknown
break-points").

The interval holds every ψ whose sum of squares, with the best r and κ, is not significantly above the smallest:
the profile likelihood with F(1, n - p) in place of its limit (Seber and Wild 1989, "Nonlinear regression", 5.9; for
thresholds Hansen 2000). The test against no break takes the largest gain over the grid, as ψ doesn't exist without
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
_POSITION_COUNT = 121
_FACTORS = np.geomspace(0.03, 3000.0, 32)
_REFINEMENTS = 4
_COARSE = 3
"""The test looks at each third place of the grid: it is the same search on the values and on their permutations."""
_PARAMETER_COUNT = 4
_NO_SPREAD = 1e-20
_ROUNDING = 1e-9
"""Of the first and the last place of the grid, which are volumes."""

_Vector = NDArray[np.float64]


class Course(StrEnum):
    """How the figure goes on beyond the break."""

    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    SATURATING = "saturating"


class Direction(StrEnum):
    """What is looked for: a figure that becomes larger beyond the break, or smaller."""

    RISE = "rise"
    FALL = "fall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """Where the course changes.

    `ratio` is the figure at the last volume, as it was seen, divided by what the course of the volumes up to the break
    comes to there: what anybody can work out from the values. The fit beyond the break only finds the place.
    """

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
    sign = 1.0 if direction is Direction.RISE else -1.0
    problem = _Problem(x, sign * np.log(y), levels)
    if problem.squares < _NO_SPREAD:
        return Segmented(found=None, p_value=1.0, volumes=tuple(levels), fitted=problem.course(sign))
    p_value = problem.chance(np.random.default_rng(seed))
    without = Segmented(found=None, p_value=p_value, volumes=tuple(levels), fitted=problem.course(sign))
    if p_value > alpha:
        return without
    fits = problem.fits()
    best = min(fits, key=lambda fit: fit.squares)
    factor = problem.factor(best.position)
    if min(factor, problem.fitted_factor(best)) < ratio_min:
        return without
    low, high = problem.interval(fits)
    estimate = Estimate(value=best.position, low=min(low, best.position), high=max(high, best.position), unit=unit)
    return Segmented(
        found=Break(position=estimate, course=best.course, ratio=factor**sign),
        p_value=p_value,
        volumes=tuple(levels),
        fitted=problem.course(sign, best),
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """The best κ for one course and position, and what remains unexplained."""

    course: Course
    position: float
    factor: float
    squares: float


class _Problem:
    """Logarithms over volumes in which a rise is looked for; a fall is one of their negatives."""

    def __init__(self, x: _Vector, logs: _Vector, levels: _Vector) -> None:
        self._x, self._logs, self._levels = x, logs, levels
        # Orthonormal columns that span the courses without a break.
        self._base: _Vector = np.linalg.qr(np.column_stack([np.ones_like(x), np.log(x)]))[0]
        self._residuals = self._free(logs)
        self._positions: _Vector = np.geomspace(levels[SIDE_MIN - 1], levels[-SIDE_MIN], _POSITION_COUNT)
        self.squares = float(self._residuals @ self._residuals)

    def chance(self, rng: np.random.Generator) -> float:
        """How often permuted residuals gain as much by a break as these do, as a share of what is unexplained."""
        shuffled = rng.permuted(np.tile(self._residuals, (PERMUTATION_COUNT, 1)), axis=1)
        tried = np.vstack([self._residuals, self._free(shuffled)])
        gains = np.zeros(len(tried))
        for course in Course:
            rises = self._rises(course)[::_COARSE]
            for factor in _FACTORS[::_COARSE]:
                bends = self._free(np.log1p(factor * rises))
                # Not `@`: the threads of a BLAS spin over products this small, ten times as long on a busy machine.
                gain = 2 * np.einsum("ij,kj->ik", tried, bends) - np.square(bends).sum(axis=1)
                gains = np.maximum(gains, gain.max(axis=1))
        shares = gains / np.square(tried).sum(axis=1)
        return float(np.count_nonzero(shares >= shares[0]) / len(shares))

    def fits(self) -> list[_Fit]:
        """For each course and position the best κ, from the grid and refined."""
        found = []
        for course in Course:
            rises = self._rises(course)
            factors = self._best_factors(rises)
            for _ in range(_REFINEMENTS):
                factors = self._refined(rises, factors)
            squares = self._squares(rises, factors)
            found += [
                _Fit(course, float(position), float(factor), float(square))
                for position, factor, square in zip(self._positions, factors, squares, strict=True)
            ]
        return found

    def interval(self, fits: Sequence[_Fit]) -> tuple[float, float]:
        """The positions that explain the values nearly as well as the best, each with its best course."""
        # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
        from scipy.special import fdtri

        squares = np.array([fit.squares for fit in fits]).reshape(len(Course), -1).min(axis=0)
        freedom = len(self._x) - _PARAMETER_COUNT
        limit = float(squares.min()) * (1 + float(fdtri(1, freedom, CONFIDENCE)) / freedom)
        inside = np.flatnonzero(squares <= limit)
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(squares) - 1)
        return float(self._positions[first]), float(self._positions[last])

    def factor(self, position: float) -> float:
        """By how much the last volume lies off the course of the volumes up to a break."""
        before = self._x <= position * (1 + _ROUNDING)
        slope, level = np.polyfit(np.log(self._x[before]), self._logs[before], 1)
        last = self._logs[self._x == self._levels[-1]].mean()
        return float(np.exp(last - level - slope * np.log(self._levels[-1])))

    def fitted_factor(self, fit: _Fit) -> float:
        """The same by the fit."""
        return float(1 + fit.factor * _rise(fit.course, self._levels[-1:], fit.position)[0])

    def course(self, sign: float, fit: _Fit | None = None) -> tuple[float, ...]:
        """The fitted figures at each volume, with a break or without one."""
        before = after = np.zeros(1)
        if fit is not None:
            before = np.log1p(fit.factor * _rise(fit.course, self._x, fit.position))
            after = np.log1p(fit.factor * _rise(fit.course, self._levels, fit.position))
        slope, level = np.polyfit(np.log(self._x), self._logs - before, 1)
        return tuple(np.exp(sign * (level + slope * np.log(self._levels) + after)))

    def _free(self, values: _Vector) -> _Vector:
        """Rows without what a course without a break explains."""
        free: _Vector = values - (values @ self._base) @ self._base.T
        return free

    def _rises(self, course: Course) -> _Vector:
        return np.array([_rise(course, self._x, position) for position in self._positions])

    def _squares(self, rises: _Vector, factors: _Vector) -> _Vector:
        left = self._residuals - self._free(np.log1p(factors[:, None] * rises))
        squares: _Vector = np.square(left).sum(axis=1)
        return squares

    def _best_factors(self, rises: _Vector) -> _Vector:
        squares = np.array([self._squares(rises, np.full(len(rises), factor)) for factor in _FACTORS])
        best: _Vector = _FACTORS[squares.argmin(axis=0)]
        return best

    def _refined(self, rises: _Vector, factors: _Vector) -> _Vector:
        """A step of Gauss and Newton in ln κ, kept where it explains more."""
        scaled = factors[:, None] * rises
        left = self._residuals - self._free(np.log1p(scaled))
        slopes = self._free(scaled / (1 + scaled))
        steps = (left * slopes).sum(axis=1) / np.maximum(np.square(slopes).sum(axis=1), _NO_SPREAD)
        moved: _Vector = factors * np.exp(np.clip(steps, -1.0, 1.0))
        better = self._squares(rises, moved) < self._squares(rises, factors)
        return np.where(better, moved, factors)


def _rise(course: Course, x: _Vector, position: float) -> _Vector:
    """r(x; ψ): 0 up to the break."""
    relative = np.maximum(x / position, 1.0)
    match course:
        case Course.LINEAR:
            return relative - 1
        case Course.LOGARITHMIC:
            return np.log(relative)
        case Course.SATURATING:
            return 1 - 1 / relative

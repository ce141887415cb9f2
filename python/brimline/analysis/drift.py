"""Owns what becomes of figures over hours: which drift, which changed their level, and what runs full when. Pure.

A figure is a series of values over time. A `flow` is what happens in a time, such as a rate or a latency: a line
through batch means tells its drift (`stats.slope`), and change points tell a new level. Where levels explain the series
better than a line, it changed; else it drifts. A `level` is what is there at an instant, such as memory: it is a sum of
what came and went, so its increments tell its growth (`stats.trend`); a line would find growth where there is none. It
has a new level where one increment is unlike all others, and what came with it stays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from brimline.stats.change_points import SEGMENT_MIN, SERIES_MIN, change_points
from brimline.stats.estimate import CONFIDENCE
from brimline.stats.multiple import holm
from brimline.stats.slope import batched, slope
from brimline.stats.stationarity import VALUE_COUNT_MIN
from brimline.stats.trend import growth_rate

ALPHA = 0.01
"""How often anything at all is found of a server that stays as it is, over all its figures together."""
ALPHA_OF_LEVELS = 1e-4
"""Of the test that each new level passes. Its place is the best of all, so that chance passes the test more often than
this says: of a hundred soaks of a level server on a virtual clock 4 had a new level at 0.01, and 1 has at 0.0001."""
FLOW_CHANGE_MIN = 0.005
"""Share of its first value by which a flow has to move over the whole time to be told: less is nobody's trouble."""
LEVEL_CHANGE_MIN = 0.02
"""Likewise of a level, which nobody reads to the byte."""
JUMP_MIN = 0.05
"""Share by which a level has to change at once to be a new one: what is allocated comes in pieces."""
JUMPS_MAX, MOVE_MAX = 6, 3
"""Increments of a level that are held to be unlike all others at the most, of some forty; and those of one change."""
LEVELS_BATCHES = 40
"""Stretches of time that change points are looked for in: a level lasts three of them at least, else it is a burst."""
SECONDS_PER_HOUR = 3600.0

Values = NDArray[np.float64]
Kind = Literal["flow", "level"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A figure over time, in s since the beginning; without gaps. `unit` as of a `Figure`.

    `full_at`: the value at which it is full, of a level that can be; it may be 0, of what is left.
    """

    key: str
    label: str
    unit: str
    kind: Kind
    times_s: Values
    values: Values
    full_at: float | None = None
    higher_is_better: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A new level from `at_s` on, which is known to lie between `from_s` and `to_s`: its change as a share."""

    at_s: float
    from_s: float
    to_s: float
    before: float
    after: float
    change: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """When a level is full if it goes on as in the second half, in s from the end; `latest_s` None: maybe never."""

    in_s: float
    earliest_s: float
    latest_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What became of one figure: `begin` and `end`, its change per hour with interval, and what was found.

    `found`: it drifts, beside all that was looked at. `p_value` is of the drift alone, `adjusted_p` beside the others.
    """

    series: Series
    begin: float
    end: float
    per_hour: float
    low: float
    high: float
    p_value: float
    adjusted_p: float = 1.0
    found: bool = False
    changes: tuple[ChangePoint, ...] = ()
    full: Full | None = None

    @property
    def share_per_hour(self) -> float | None:
        """The drift as a share of the first value; None where that is 0."""
        return self.per_hour / self.begin if self.begin else None

    @property
    def seen_s(self) -> float:
        """How long it was seen. A value stands for the time about it, so that this is more than from first to last."""
        times_s = self.series.times_s
        return float(times_s[-1] - times_s[0] + np.median(np.diff(times_s)))

    @property
    def is_worse(self) -> bool:
        """Whether it drifts in the direction that nobody wants."""
        return self.found and (self.per_hour > 0) is not self.series.higher_is_better


def drifts(series: Sequence[Series], *, alpha: float = ALPHA) -> tuple[Drift, ...]:
    """What became of each figure; those with fewer than `VALUE_COUNT_MIN` values are left out."""
    known = [_flow(each) if each.kind == "flow" else _level(each) for each in series
             if len(each.values) >= VALUE_COUNT_MIN]  # fmt: skip
    adjusted = holm([each.p_value for each in known])
    return tuple(_judged(each, p, alpha) for each, p in zip(known, adjusted, strict=True))


def _judged(drift: Drift, adjusted_p: float, alpha: float) -> Drift:
    least, times_s = FLOW_CHANGE_MIN if drift.series.kind == "flow" else LEVEL_CHANGE_MIN, drift.series.times_s
    # From the first value to the last is more where a new level came between, which is no drift.
    moved = abs(drift.per_hour) * float(times_s[-1] - times_s[0]) / SECONDS_PER_HOUR
    found = adjusted_p <= alpha and moved >= least * abs(drift.begin)
    return replace(drift, adjusted_p=adjusted_p, found=found, full=drift.full if found else None)


def _flow(series: Series) -> Drift:
    """A line, or levels, whichever explains more for what it takes; then the drift is that within the levels."""
    line = slope(series.times_s, series.values)
    changes = _changes(series)
    values = series.values
    if changes:
        levels = _levels(series, changes)
        fitted = line.begin + line.rate * (series.times_s - series.times_s[0])
        if _information(values - levels, 2 * len(changes) + 1) < _information(values - fitted, 2):
            within = slope(series.times_s, values - levels + float(values.mean()))
            return _drift(series, begin=float(levels[0]), end=float(levels[-1]), rate=within.rate, low=within.low,
                          high=within.high, p_value=within.p_value, changes=changes)  # fmt: skip
        straight = replace(series, values=values - fitted + float(values.mean()))
        changes = _changes(straight)
    return _drift(series, begin=line.begin, end=line.end, rate=line.rate, low=line.low, high=line.high,
                  p_value=line.p_value, changes=changes)  # fmt: skip


def _drift(
    series: Series, *, begin: float, end: float, rate: float, low: float, high: float, p_value: float,
    changes: tuple[ChangePoint, ...],
) -> Drift:  # fmt: skip
    hour = SECONDS_PER_HOUR
    return Drift(series=series, begin=begin, end=end, per_hour=rate * hour, low=low * hour, high=high * hour,
                 p_value=p_value, changes=changes)  # fmt: skip


def _level(series: Series) -> Drift:
    """The growth within its levels. What is left is what is there at the end, whatever came at once before."""
    times, values = series.times_s, series.values
    changes = _jumps(series)
    settled = values.copy()
    for each in changes:
        settled[times > each.to_s] -= each.change * each.before
        inside = (times > each.from_s) & (times <= each.to_s)
        settled[inside] = settled[times <= each.from_s][-1]
    rate, low, high, p_value = _growth(times, settled)
    drift = _drift(series, begin=float(values[0]), end=float(values[-1]), rate=rate, low=low, high=high,
                   p_value=p_value, changes=changes)  # fmt: skip
    return replace(drift, full=_full(replace(series, values=settled + (values[-1] - settled[-1]))))


def _jumps(series: Series) -> tuple[ChangePoint, ...]:
    """The increments of a level that are unlike all others, each from the end of one stretch of time to the next one's.

    Neighbours are one change. What is gone again within three stretches is a burst. What comes in many of them, as a
    cache fills, and what goes by and by, as the teeth of a saw do, is no new level.
    """
    from scipy.special import stdtr, stdtrit

    length = max(1, len(series.values) // LEVELS_BATCHES)
    times, values = series.times_s[length - 1 :: length], series.values[length - 1 :: length]
    if len(values) < SERIES_MIN + JUMPS_MAX or not float(values.min()) > 0:
        return ()
    grown = np.diff(values)
    unlike = _unlike(grown)
    rest = np.delete(grown, unlike)
    off, spread = grown - rest.mean(), _spread(rest)
    half = float(stdtrit(len(rest) - 1, (1 + CONFIDENCE) / 2)) * spread
    found = []
    moves = _moves(unlike)
    edges = [-1, *(move[-1] for move in moves)], [*(move[0] for move in moves[1:]), len(grown)]
    for earlier, move, later in zip(edges[0], moves, edges[1], strict=False):
        first, last = move[0], move[-1]
        jump, before = float(off[first : last + 1].sum()), float(values[first])
        if abs(jump) < JUMP_MIN * before or not _stays(values, earlier + 1, first + 1, last + 1, later + 1, jump):
            continue
        beside = [*off[max(first - 1, 0) : first], *off[last + 1 : last + 2]]
        if len(move) > MOVE_MAX or max(abs(float(each)) for each in beside) > abs(jump) / 2:
            continue
        wide = math.sqrt(len(move))
        distance = abs(jump) / spread / wide if spread else math.inf
        begin_s, end_s = float(times[first]), float(times[last + 1])
        found.append(ChangePoint(
            at_s=_placed(series, begin_s, end_s),
            from_s=begin_s,
            to_s=end_s,
            before=before,
            after=float(values[last + 1]),
            change=jump / before,
            low=(jump - half * wide) / before,
            high=(jump + half * wide) / before,
            p_value=min(1.0, 2 * float(stdtr(len(rest) - 1, -distance)) * (len(rest) + 1)),
        ))  # fmt: skip
    return tuple(found)


def _unlike(grown: Values) -> list[int]:
    """Places of the increments that are unlike all others; none where chance makes as much.

    The generalised ESD test (Rosner 1983, "Percentage points for a generalized ESD many-outlier procedure"): several
    that are as large as each other don't hide each other.
    """
    from scipy.special import stdtr

    order = np.argsort(-np.abs(grown - np.median(grown)))
    for count in range(JUMPS_MAX, 0, -1):
        rest = grown[order[count:]]
        spread, least = _spread(rest), abs(float(grown[order[count - 1]] - rest.mean()))
        chance = 2 * float(stdtr(len(rest) - 1, -least / spread)) if spread > 1e-12 * least else 0.0
        if least > 0 and chance * (len(rest) + 1) <= ALPHA_OF_LEVELS:
            return sorted(order[:count].tolist())
    return []


def _spread(rest: Values) -> float:
    """Standard deviation of one more increment about the mean of the `rest`."""
    return float(rest.std(ddof=1)) * math.sqrt(1 + 1 / len(rest))


def _moves(places: Sequence[int]) -> list[list[int]]:
    """Increments that follow each other, as one; the places are in order."""
    moves: list[list[int]] = []
    for place in places:
        if moves and place == moves[-1][-1] + 1:
            moves[-1].append(place)
        else:
            moves.append([place])
    return moves


def _stays(values: Values, begin: int, last: int, first: int, end: int, jump: float) -> bool:
    """Whether what came between `last` (of before) and `first` stays, beside all that was there, and for long."""
    before, after = values[begin:last], values[first:end]
    if min(last, len(values) - first) < SEGMENT_MIN:
        return False
    near = values[last - SEGMENT_MIN : last], values[first : first + SEGMENT_MIN]
    return all((b.mean() - a.mean()) / jump >= 0.5 for a, b in ((before, after), near))


def _growth(times: Values, values: Values) -> tuple[float, float, float, float]:
    """Per second: the growth, its interval, and its p value."""
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtr, stdtrit

    found = growth_rate(times.tolist(), values.tolist(), unit="")
    freedom = len(values) - 2
    error = (found.high - found.low) / 2 / float(stdtrit(freedom, (1 + found.confidence) / 2))
    if error <= 1e-12 * abs(found.value):  # the same growth at every look, or none at all
        return found.value, found.low, found.high, 0.0 if found.value else 1.0
    return found.value, found.low, found.high, 2 * float(stdtr(freedom, -abs(found.value) / error))


def _full(series: Series) -> Full | None:
    """When it is full, by how it grew in the second half: what filled up once at the beginning is no growth."""
    half = len(series.values) // 2
    if series.full_at is None or len(series.values) - half < VALUE_COUNT_MIN:
        return None
    left = series.full_at - float(series.values[-1])
    direction = 1.0 if left > 0 else -1.0
    rates = sorted(direction * each for each in _growth(series.times_s[half:], series.values[half:])[:3])
    slowest, rate, fastest = rates
    if rate <= 0 or fastest <= 0 or slowest <= 0:
        return None
    return Full(in_s=abs(left) / rate, earliest_s=abs(left) / fastest, latest_s=abs(left) / slowest)


def _changes(series: Series) -> tuple[ChangePoint, ...]:
    """Where its level changed; the instants are known to half a stretch."""
    count = min(LEVELS_BATCHES, len(series.values))
    times, values = batched(series.times_s, count), batched(series.values, count)
    if len(values) < SERIES_MIN or not float(values.min()) > 0:
        return ()
    batch_s = float(np.median(np.diff(times)))
    found = change_points([(float(value), None, None) for value in values], alpha=ALPHA_OF_LEVELS)
    return tuple(
        ChangePoint(
            at_s=(at_s := _placed(series, float(times[each.index - 1]), float(times[each.index]))),
            from_s=at_s - batch_s / 2,
            to_s=at_s + batch_s / 2,
            before=float(values[each.first : each.index].mean()),
            after=float(values[each.index : each.end].mean()),
            change=each.change.value,
            low=each.change.low,
            high=each.change.high,
            p_value=each.change.p_value,
        )
        for each in found
    )


def _placed(series: Series, begin_s: float, end_s: float) -> float:
    """The instant between the middles of two stretches at which two levels explain most of what lies around it."""
    near = (series.times_s >= 2 * begin_s - end_s) & (series.times_s <= 2 * end_s - begin_s)
    times, values = series.times_s[near], series.values[near]
    places = [place for place in range(1, len(times)) if begin_s <= times[place] <= end_s]
    if not places:
        return (begin_s + end_s) / 2

    def left_over(place: int) -> float:
        return float(values[:place].var() * place + values[place:].var() * (len(values) - place))

    best = min(places, key=left_over)
    return float(times[best - 1] + times[best]) / 2


def _levels(series: Series, changes: Sequence[ChangePoint]) -> Values:
    """The mean of each stretch between changes, at each instant."""
    levels = np.empty(len(series.values))
    edges = [-math.inf, *(each.at_s for each in changes), math.inf]
    for begin, end in pairwise(edges):
        within = (series.times_s >= begin) & (series.times_s < end)
        if within.any():
            levels[within] = series.values[within].mean()
    return levels


def _information(rest: Values, parameters: int) -> float:
    """Schwarz's criterion of what is left over: the lower, the more is explained for what it takes."""
    count = len(rest)
    return count * math.log(max(float((rest**2).mean()), 1e-300)) + parameters * math.log(count)

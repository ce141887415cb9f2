"""Owns stalls: stretches in which a server was far slower than usual, whether they come periodically, and with what.

Pure. An interval belongs to a stall when its slowest operation took far longer than that of most intervals, or when
nothing was answered in it. A period is looked for by the phases of the stalls: where they come every P seconds, all
have nearly one phase of P, which chance makes with a probability that Rayleigh's test gives (Mardia and Jupp 2000,
"Directional Statistics", 6.3). A server that stands still for 60 ms every ten seconds may have many stalls of 2 ms in
between. So the slowest stalls are looked at alone too, from several sizes on. What a stall comes with is what the
server's own figures show more often in stalls than in as much of any other time: it comes with it, which is a sign and
no proof of a cause.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from brimline.stats.estimate import CONFIDENCE
from brimline.stats.multiple import holm
from brimline.units import NS_PER_S

SLOW_FACTOR_MIN = 2.0
"""How many times as slow as usual the slowest operation of a stall is at least."""
SLOW_DEVIATIONS_MIN = 6.0
"""And how many standard deviations beyond it, on a logarithmic scale, by the median deviation."""
STALLS_MIN = 4
"""Stalls below which nothing is said of a period."""
ALPHA_PERIOD = 0.01
"""Of Rayleigh's test, beside all periods and sizes that were tried."""
PERIOD_INTERVALS_MIN = 4
"""Intervals that a period has at least: a shorter one can't be told from every interval being like that."""
KEPT_SHARE_MIN = 0.6
"""Share of the periods in which a stall did come."""
PHASE_WIDTH = 0.1
"""How far from its time a stall may come, as a share of the period, to be one of those."""
LENGTH_SHARE_MIN = 0.75
"""How much of the best period's common phase a longer one has, of which the best may be a fraction."""
PERIODS_MAX = 3
SIZE_STEP = 2.0
"""How many times as slow the slowest stalls are from one size to the next at which they are looked at alone."""
ALPHA_WITH = 0.01
WITH_SHARE_MIN = 0.5
"""Share of the stalls that something is seen in, to be named."""
UNUSUAL_SHARE = 0.95
"""A figure that is always there is unusual above so much of its values."""

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """From `at_s` for `length_s`, as far as intervals tell; `slowest_ns` of what was answered."""

    at_s: float
    length_s: float
    slowest_ns: float

    @property
    def size_ns(self) -> float:
        """How slow it was: of one in which nothing was answered, how long it took."""
        return self.slowest_ns or self.length_s * NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Something of a server over time: `values` at the looks at `at_s`; NaN where a look didn't tell.

    `happens`: a value above 0 says that it happened since the look before. Else it is always there, and high values are
    what counts.
    """

    name: str
    at_s: Values
    values: Values
    happens: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class With:
    """What stalls come with: seen in `share` of them, and in `usual` of as long stretches of any time."""

    name: str
    share: float
    usual: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Periodic:
    """Stalls that come every `period_s` (95 % interval `low_s` to `high_s`), from `first_s` on.

    `count` of `expected` came. `length_s` and `slowest_ns` are those of the middle one.
    """

    period_s: float
    low_s: float
    high_s: float
    first_s: float
    count: int
    expected: int
    length_s: float
    slowest_ns: float
    p_value: float
    comes_with: tuple[With, ...] = ()
    stalls: tuple[Stall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """All of them, those that come periodically, and what the others come with. `usual_ns`: of most intervals."""

    every: tuple[Stall, ...]
    periodic: tuple[Periodic, ...]
    others: tuple[Stall, ...]
    others_with: tuple[With, ...]
    usual_ns: float


def find_stalls(
    starts_s: Values, ends_s: Values, slowest_ns: Values, answered: Values, seen: Sequence[Seen] = ()
) -> Stalls:
    """Those in intervals of equal length: of each the slowest operation, and how many were answered."""
    every = _stalls(starts_s, ends_s, slowest_ns, answered)
    usual_ns = float(np.median(slowest_ns)) if len(slowest_ns) else 0.0
    rest = list(every)
    periodic: list[Periodic] = []
    others_with: tuple[With, ...] = ()
    if every:
        span, interval_s = (float(starts_s[0]), float(ends_s[-1])), float(np.median(ends_s - starts_s))
        while len(periodic) < PERIODS_MAX and (found := _periodic(rest, span, interval_s)) is not None:
            periodic.append(replace(found, comes_with=_comes_with(found.stalls, seen, span, interval_s)))
            rest = [each for each in rest if each not in found.stalls]
        others_with = _comes_with(rest, seen, span, interval_s)
    return Stalls(
        every=tuple(every),
        periodic=tuple(periodic),
        others=tuple(rest),
        others_with=others_with,
        usual_ns=usual_ns,
    )


def _stalls(starts_s: Values, ends_s: Values, slowest_ns: Values, answered: Values) -> list[Stall]:
    known = slowest_ns > 0
    if not known.any():
        return []
    logs = np.log(np.where(known, slowest_ns, 1.0))
    middle = float(np.median(logs[known]))
    deviation = 1.4826 * float(np.median(np.abs(logs[known] - middle)))
    limit = middle + max(math.log(SLOW_FACTOR_MIN), SLOW_DEVIATIONS_MIN * deviation)
    empty = (answered == 0) if float(np.median(answered)) >= 1 else np.zeros(len(answered), dtype=bool)
    places = np.flatnonzero((known & (logs > limit)) | empty)
    # One that is answered in an interval after it began in another is one stall.
    groups = np.split(places, np.flatnonzero(np.diff(places) > 2) + 1) if len(places) else []
    return [
        Stall(
            at_s=float(starts_s[group[0]]),
            length_s=float(ends_s[group[-1]] - starts_s[group[0]]),
            slowest_ns=float(slowest_ns[group].max()),
        )
        for group in groups
    ]


def _periodic(stalls: Sequence[Stall], span: tuple[float, float], interval_s: float) -> Periodic | None:
    """The period of all stalls, else of as many of the slowest as have one; None where chance would do as well."""
    by_size = _by_size(stalls)
    found = (_period_of(some, span, interval_s, sizes=len(by_size)) for some in by_size)
    return next((each for each in found if each is not None), None)


def _by_size(stalls: Sequence[Stall]) -> list[Sequence[Stall]]:
    """All of them, and those that are at least `SIZE_STEP` times as slow as the least, and so on; each lot once."""
    lots: list[Sequence[Stall]] = []
    size_ns = min((each.size_ns for each in stalls), default=0.0)
    while size_ns > 0:
        lot = [each for each in stalls if each.size_ns >= size_ns]
        if len(lot) < STALLS_MIN:
            break
        if not lots or len(lot) < len(lots[-1]):
            lots.append(lot)
        size_ns *= SIZE_STEP
    return lots


def _period_of(stalls: Sequence[Stall], span: tuple[float, float], interval_s: float, *, sizes: int) -> Periodic | None:
    """The longest period that explains most of them, which are one of so many `sizes`."""
    times = np.asarray([each.at_s for each in stalls])
    candidates = _candidates(times, span, interval_s)
    if not len(candidates):
        return None
    lengths = np.abs(np.exp(2j * np.pi * times[None, :] / candidates[:, None]).mean(axis=1))
    # Of a period its fractions have the same phases, and nearly as much of one: the longest is meant.
    for place in np.flatnonzero(lengths >= LENGTH_SHARE_MIN * lengths.max())[::-1]:
        chance = math.exp(-len(times) * float(lengths[place]) ** 2) * len(candidates) * sizes
        if chance <= ALPHA_PERIOD:
            found = _fitted(stalls, times, float(candidates[place]), span, interval_s, p_value=min(1.0, chance))
            if found is not None:
                return found
    return None


def _candidates(times: Values, span: tuple[float, float], interval_s: float) -> Values:
    """The times between stalls that are near each other: a period is among them, unless most stalls are missing."""
    gaps = np.concatenate([times[lag:] - times[:-lag] for lag in range(1, min(4, len(times)))])
    longest = (span[1] - span[0]) / (STALLS_MIN - 1)
    gaps = gaps[(gaps >= PERIOD_INTERVALS_MIN * interval_s) & (gaps <= longest)]
    candidates: Values = np.unique(np.round(gaps / (interval_s / 2)) * interval_s / 2)
    return candidates


def _fitted(
    stalls: Sequence[Stall], times: Values, period_s: float, span: tuple[float, float], interval_s: float, *,
    p_value: float,
) -> Periodic | None:  # fmt: skip
    """The line through the times of the stalls over their number; those that come at another time are left out."""
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import stdtrit

    phase = float(np.angle(np.exp(2j * np.pi * times / period_s).mean())) / (2 * np.pi) * period_s
    error = half = 0.0
    mine = np.ones(len(times), dtype=bool)
    for _ in range(5):
        number = np.round((times - phase) / period_s)
        off = np.abs(times - phase - number * period_s)
        mine = off <= max(PHASE_WIDTH * period_s, interval_s)
        if mine.sum() < STALLS_MIN or len(np.unique(number[mine])) < STALLS_MIN - 1:
            return None
        x, y = number[mine], times[mine]
        squares = float(((x - x.mean()) ** 2).sum())
        period_s = float(((x - x.mean()) * (y - y.mean())).sum()) / squares
        phase = float(y.mean() - period_s * x.mean())
        rest = y - phase - period_s * x
        # An instant is known to an interval at best, whatever the line says.
        error = math.sqrt(max(float((rest**2).sum()) / max(len(x) - 2, 1), interval_s**2 / 12) / squares)
        half = float(stdtrit(max(len(x) - 2, 1), (1 + CONFIDENCE) / 2)) * error
    number = np.round((times - phase) / period_s)
    came = len(np.unique(number[mine]))
    expected = int((span[1] - phase) // period_s) - math.ceil((span[0] - phase) / period_s) + 1
    own = [each for each, is_mine in zip(stalls, mine, strict=True) if is_mine]
    if came < KEPT_SHARE_MIN * expected or period_s < PERIOD_INTERVALS_MIN * interval_s:
        return None
    return Periodic(
        period_s=period_s,
        low_s=period_s - half,
        high_s=period_s + half,
        first_s=own[0].at_s,
        count=came,
        expected=max(expected, came),
        length_s=float(np.median([each.length_s for each in own])),
        slowest_ns=float(np.median([each.slowest_ns for each in own])),
        p_value=p_value,
        stalls=tuple(own),
    )


def _comes_with(
    stalls: Sequence[Stall], seen: Sequence[Seen], span: tuple[float, float], interval_s: float
) -> tuple[With, ...]:
    """What is seen in most of these stalls and seldom else, the surest first."""
    if len(stalls) < STALLS_MIN - 1:
        return ()
    found = [each for one in seen if (each := _seen_with(stalls, one, span, interval_s)) is not None]
    adjusted = holm([each.p_value for each in found])
    sure = [replace(each, p_value=p) for each, p in zip(found, adjusted, strict=True)]
    return tuple(sorted((each for each in sure if each.p_value <= ALPHA_WITH and each.share >= WITH_SHARE_MIN),
                        key=lambda each: (each.p_value, -each.share)))  # fmt: skip


def _seen_with(stalls: Sequence[Stall], seen: Seen, span: tuple[float, float], interval_s: float) -> With | None:
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import bdtrc

    known = ~np.isnan(seen.values)
    at_s, values = seen.at_s[known], seen.values[known]
    if len(values) < 10:
        return None
    happened = values > 0 if seen.happens else values > np.quantile(values, UNUSUAL_SHARE)
    if not happened.any():
        return None
    spacing_s = float(np.median(np.diff(at_s)))
    length_s = float(np.median([each.length_s for each in stalls]))

    before = np.concatenate([[0], np.cumsum(happened)])

    def within(begins_s: Values, ends_s: Values) -> int:
        """In how many of these stretches it happened."""
        # A look tells what was since the one before it.
        first, last = (np.searchsorted(at_s, each, side="right") for each in (begins_s, ends_s + spacing_s))
        return int((before[last] > before[first]).sum())

    stalled_s = np.asarray([each.at_s for each in stalls])
    count = within(stalled_s, stalled_s + np.asarray([each.length_s for each in stalls]))
    steps = np.arange(span[0], span[1] - length_s, max(length_s, interval_s))
    usual = within(steps, steps + length_s) / max(len(steps), 1)
    chance = min(max(usual, 1 / max(len(steps), 1)), 1.0)
    p_value = float(bdtrc(count - 1, len(stalls), chance)) if count else 1.0
    return With(name=seen.name, share=count / len(stalls), usual=usual, p_value=p_value)

"""Owns the rule "to answer in T scan at most N entries": the line of time over entries, and how far it holds.

A line is fitted to all widths (`stats/line.py`). It is believed where the line through the smaller ranges also meets
the largest; where it misses, times between the measured widths are interpolated and nothing is said beyond them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from brimline.analysis.scan_figures import ScanTrial, line_places
from brimline.stats.estimate import Estimate
from brimline.stats.line import PLACES_MIN, Bounds, Line, Place, departure, fit_line, mean_bounds
from brimline.units import NS_PER_S, Quantity, format_count, format_duration, format_number, format_percentage
from brimline.wording import message

DEPARTURE_MIN = 0.1
"""A largest range that is this much off the line of the others is no part of it, if that is certain."""
DEPARTURE_KNOWN = 0.25
"""A line that may be further off than this is not known to be one, and says nothing beyond what was measured."""
EXTRAPOLATION_MAX = 20
"""How many times the largest range that was measured a rule may reach."""


class Validity(StrEnum):
    """Where a rule comes from."""

    MEASURED = "measured"  # between widths that were measured
    EXTRAPOLATED = "extrapolated"  # beyond them, along a line that holds as far as was measured
    BOUND = "bound"  # only a side on which the answer lies


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`entries` that are scanned in `answer_within_ns`; for a bound `above` says on which side of it the answer is.

    `because`: why there is no more than a bound above.
    """

    answer_within_ns: int
    entries: Bounds
    validity: Validity
    above: bool = False
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFit:
    """Time over entries of one range scenario. `departure` compares the largest with the line of the others."""

    scenario: str
    places: Sequence[Place]
    line: Line
    departure: Bounds
    rule: Rule

    @property
    def linear(self) -> bool:
        """Whether nothing certain speaks against a line."""
        return self._meets_largest and not self._slows_down

    @property
    def known_linear(self) -> bool:
        """Whether the largest range is certainly near the line of the others."""
        low, high = self.departure.low, self.departure.high
        return (
            self.linear
            and low is not None
            and high is not None
            and (high <= 1 + DEPARTURE_KNOWN and low >= 1 / (1 + DEPARTURE_KNOWN))
        )

    @property
    def _slows_down(self) -> bool:
        """Whether the line would begin below 0: no entries can't take less than no time, so larger ranges cost more."""
        begin = self.line.intercept_bounds().high
        return begin is not None and begin < -DEPARTURE_MIN * self.places[0].median

    @property
    def _meets_largest(self) -> bool:
        low, high = self.departure.low, self.departure.high
        if low is None or high is None:
            return abs(self.departure.value - 1) < DEPARTURE_MIN
        return low <= 1 + DEPARTURE_MIN and high >= 1 / (1 + DEPARTURE_MIN)

    @property
    def rate_text(self) -> str:
        """What the slope means: entries per second within the line."""
        slope = self.line.slope_bounds()
        if slope.value <= 0:
            return "not above 0"
        return message("{rate} entries/s", rate=format_number(NS_PER_S / slope.value))

    @property
    def linearity_text(self) -> str:
        """What the check for a line found."""
        change = self.departure.value - 1
        if not math.isfinite(change):
            return "the smaller ranges make no rising line"
        share = format_percentage(abs(change), digits=2)
        if self._meets_largest and self._slows_down:
            first, last = self.places[0], self.places[-1]
            return message(
                "not linear: entries/s fall from {first} to {last} as ranges grow",
                first=format_number(entries_per_s(first)),
                last=format_number(entries_per_s(last)),
            )
        if self.linear and not self.known_linear:
            return "not known to be one: executions differ too much"
        if self.linear:
            return message("the largest range is within {share} of the line through the smaller ones", share=share)
        longer = "longer" if change > 0 else "shorter"
        return message(
            "not linear: the largest range takes {share} {longer} than the line through the smaller ones says",
            share=share,
            longer=longer,
        )

    @property
    def rule_text(self) -> str:
        """The rule as a sentence, with its range of validity."""
        return _rule_text(self)


def entries_per_s(place: Place) -> float:
    """Entries over the mean time at one width."""
    return place.x / mean_bounds(place.y).value * NS_PER_S


def entries_text(entries: Bounds) -> Quantity:
    """A number of entries with as many digits as its interval allows, the same in every place."""
    if entries.low is None or entries.high is None:
        return format_number(entries.value)
    return Estimate(value=entries.value, low=entries.low, high=entries.high, unit="entries").value_text


def range_fits(trials: Sequence[ScanTrial], *, answer_within_ns: int) -> list[RangeFit]:
    """A fit for each range scenario with enough widths, in the order of the spec."""
    names = dict.fromkeys(trial.scenario for trial in trials if trial.width is not None)
    fits = [_fit(name, trials, answer_within_ns) for name in names]
    return [fit for fit in fits if fit is not None]


def _fit(name: str, trials: Sequence[ScanTrial], answer_within_ns: int) -> RangeFit | None:
    places = line_places([trial for trial in trials if trial.scenario == name and trial.width is not None])
    if len(places) < PLACES_MIN:
        return None
    line, away = fit_line(places), departure(places)
    nothing = Rule(
        answer_within_ns=answer_within_ns, entries=Bounds(value=0, low=None, high=None), validity=Validity.BOUND
    )
    fit = RangeFit(scenario=name, places=places, line=line, departure=away, rule=nothing)
    return RangeFit(
        scenario=name,
        places=places,
        line=line,
        departure=away,
        rule=derive_rule(fit, answer_within_ns=answer_within_ns),
    )


def derive_rule(fit: RangeFit, *, answer_within_ns: int) -> Rule:
    """How many entries are scanned in that time, by what `fit` knows but for its own rule."""
    places, line = fit.places, fit.line
    shortest, longest = mean_bounds(places[0].y).value, mean_bounds(places[-1].y).value
    inside = shortest <= answer_within_ns <= longest
    because: str = "time does not grow in a line with them"
    if fit.linear and line.slope > 0:
        entries = line.inverse(answer_within_ns)
        if line.x_low <= entries.value <= line.x_high:
            return Rule(answer_within_ns=answer_within_ns, entries=entries, validity=Validity.MEASURED)
        because = "executions differ too much to know a line"
        if fit.known_linear and not inside:
            because = message("it is more than {times} times what was measured", times=EXTRAPOLATION_MAX)
            if 0 < entries.value <= EXTRAPOLATION_MAX * line.x_high:
                return Rule(answer_within_ns=answer_within_ns, entries=entries, validity=Validity.EXTRAPOLATED)
    if inside:
        return Rule(
            answer_within_ns=answer_within_ns,
            entries=_interpolated(places, answer_within_ns),
            validity=Validity.MEASURED,
        )
    above = answer_within_ns > longest
    edge = places[-1].x if above else places[0].x
    bound = Bounds(value=edge, low=None, high=None)
    return Rule(answer_within_ns=answer_within_ns, entries=bound, validity=Validity.BOUND, above=above, because=because)


def _interpolated(places: Sequence[Place], time_ns: float) -> Bounds:
    """Between the two neighbours, along a power of the width; its bounds are those of the neighbours' mean times."""
    means = [mean_bounds(place.y) for place in places]

    def crossing(times: Sequence[float | None]) -> float | None:
        known = [(place.x, time) for place, time in zip(places, times, strict=True) if time is not None and time > 0]
        for (x0, t0), (x1, t1) in pairwise(known):
            if t0 <= time_ns <= t1 and t0 < t1:
                share = math.log(time_ns / t0) / math.log(t1 / t0)
                return float(x0 * (x1 / x0) ** share)
        return None

    value = crossing([mean.value for mean in means])
    return Bounds(
        value=places[-1].x if value is None else value,
        low=crossing([mean.high for mean in means]),
        high=crossing([mean.low for mean in means]),
    )


def _rule_text(fit: RangeFit) -> str:
    rule, places = fit.rule, fit.places
    within = format_duration(rule.answer_within_ns)
    entries = entries_text(rule.entries)
    smallest, largest = format_count(round(places[0].x)), format_count(round(places[-1].x))
    if rule.validity is Validity.MEASURED:
        return message(
            "To answer in {within} scan at most {entries} entries (measured from {smallest} to {largest} entries).",
            within=within,
            entries=entries,
            smallest=smallest,
            largest=largest,
        )
    if rule.validity is Validity.EXTRAPOLATED:
        return message(
            "To answer in {within} scan at most {entries} entries, if the line goes on beyond what was measured: "
            "{smallest} to {largest} entries.",
            within=within,
            entries=entries,
            smallest=smallest,
            largest=largest,
        )
    if rule.above:
        return message(
            "{largest} entries take less than {within}; how many more do is not known, because {because}.",
            within=within,
            largest=largest,
            because=rule.because,
        )
    return message(
        "{smallest} entries, the fewest that were measured, take longer than {within}.",
        within=within,
        smallest=smallest,
    )

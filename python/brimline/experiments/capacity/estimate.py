"""Owns the figure of a search: the sustained load with its interval, how well it is known, and why not better."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from brimline.experiments.capacity.machine import drift
from brimline.experiments.capacity.outcome import TrialOutcome, usable, window_of
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.settings import Grade
from brimline.stats.estimate import CONFIDENCE, NORMAL_HALF_WIDTH, Estimate
from brimline.units import format_count, format_percentage
from brimline.wording import message

MISSED_SHARE_MAX = 0.25
"""Of the windows at a verified load, those that missed the objective are at most this share."""
NEAR = (0.2, 0.55)
"""A load that held is the figure where it lies between these quantiles of the posterior; higher ones held by chance."""
LIMITED_SHARE = 0.5
"""Of the probes that end a search from above, the share that the generator spoilt for it to have been the limit."""
NEAREST_MISSES = 4
MACHINE_SHARE = 0.5
"""The machine makes an interval wide where its reference load moves by this share of what windows differ by."""
MACHINE_WIDTH_MIN = 0.25
"""It can't make one much wider than it moves: by this share of the width, or of the figure where that is less."""
DISTURBED_MIN = 0.08
HALF = 0.5
"""Chance of having met the objective that parts the windows which held from those which missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A load, and how often the objective held in the windows there."""

    load: float = 0.0
    held: int = 0
    windows: int = 0

    @property
    def holds(self) -> bool:
        """Whether nearly all of its windows held."""
        return self.held > 0 and self.windows - self.held <= MISSED_SHARE_MAX * self.windows

    def missing(self, verifications: int) -> int:
        """How many windows have to hold yet, at least, until the load is verified by so many."""
        return 0 if self.holds and self.held >= verifications else max(1, verifications - self.held)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a search can say.

    `sustained` is the highest load at which a share `hold` of the windows meets the objective, `grade` says how it is
    known. It is None where only one side is known: then the load is `at_least` or `at_most`, or neither.
    `tried`: the windows at the figure itself.
    """

    grade: Grade | None = None
    sustained: Estimate | None = None
    at_least: float | None = None
    at_most: float | None = None
    tried: Tried = field(default_factory=Tried)
    generator_ended: bool = False

    @property
    def figure(self) -> float | None:
        """The load that stands for the search: the sustained one, or the bound."""
        return (self.sustained.value if self.sustained is not None else self.at_least) or self.at_most


def candidate(state: SearchState) -> Tried:
    """The load to be verified: the posterior's middle, or what held near it already and can be tried again."""
    axis, posterior = state.settings.axis, state.posterior
    middle = posterior.quantile(0.5)
    low, high = (posterior.quantile(each) for each in NEAR)
    low = min(low, middle * (1 - state.settings.resolution))
    verifications = state.settings.verifications
    held = [
        each
        for each in tried_loads(state)
        if low <= each.load <= high and each.holds and (each.load <= state.most or not each.missing(verifications))
    ]
    if held:
        return max(held, key=lambda each: (each.held, -abs(each.load - middle)))
    load = min(max(axis.nearest(middle), state.least), state.most)
    return at_load(state, load)


def at_load(state: SearchState, load: float) -> Tried:
    """How often the objective held at a load."""
    return next((each for each in tried_loads(state) if each.load == load), Tried(load=load))


def tried_loads(state: SearchState) -> list[Tried]:
    """Every load that a usable window was offered, ascending; a window that decided nothing does not count."""
    settled = [each for each in usable(state.judged) if each.outcome is not TrialOutcome.INCONCLUSIVE]
    return [
        Tried(
            load=load,
            held=sum(each.outcome is TrialOutcome.PASS for each in settled if each.load == load),
            windows=sum(each.load == load for each in settled),
        )
        for load in sorted({each.load for each in settled})
    ]


def find(state: SearchState) -> Found:
    """What the windows of a search show, however few they are."""
    met = [each.load for each in state.windows if each.met > HALF]
    if not any(each.met < HALF for each in state.windows):
        return Found(grade=Grade.BOUNDED, at_least=max(met)) if met else Found()
    generator_ended = _generator_ended(state)
    if not met:
        at_most = None if generator_ended else min(_missed_by_target(state), default=None)
        grade = None if at_most is None else Grade.BOUNDED
        return Found(grade=grade, at_most=at_most, generator_ended=generator_ended)
    if generator_ended:
        held = [each.load for each in tried_loads(state) if each.holds and each.load <= state.posterior.quantile(0.95)]
        lowest = max(held, default=min(met))
        return Found(grade=Grade.BOUNDED, at_least=lowest, generator_ended=True)
    chosen, grade = candidate(state), Grade.VERIFIED
    if chosen.missing(state.settings.verifications):
        chosen, grade = at_load(state, state.settings.axis.nearest(state.posterior.quantile(0.5))), Grade.ESTIMATED
    return Found(grade=grade, sustained=_estimate(state, chosen.load), tried=chosen)


def _missed_by_target(state: SearchState) -> list[float]:
    """The loads that the target can't bear: neither the generator nor a full host made their probes miss."""
    own = [each for each in usable(state.judged) if not each.trial.observation.crowded]
    return [each.load for each in own if window_of(each, state.settings.slo).met < HALF]


def _estimate(state: SearchState, load: float) -> Estimate:
    """The load with the posterior's 95 % interval, which is never narrower than what is told apart.

    The posterior takes windows for independent draws, which they are not while the machine drifts: then it was seen in
    as many states as the reference load ran in. The interval is wider by what so few leave open.
    """
    axis, resolution = state.settings.axis, state.settings.resolution
    low, high = state.posterior.interval(CONFIDENCE)
    low, high = min(low, load * (1 - resolution)), max(high, load * (1 + resolution))
    drifted = drift(state.references, state.posterior.spread) / math.sqrt(max(1, len(state.references)))
    left_open = NORMAL_HALF_WIDTH * drifted
    low = load * math.exp(-math.hypot(math.log(load / low), left_open))
    high = load * math.exp(math.hypot(math.log(high / load), left_open))
    if axis.whole:
        low, high = max(1.0, min(axis.nearest(low), load - 1)), max(axis.nearest(high), load + 1)
        low = min(low, load)
    return Estimate(value=load, low=low, high=high, unit=axis.unit, confidence=CONFIDENCE)


def _generator_ended(state: SearchState) -> bool:
    """Whether it was the generator that ended the search from above, by the misses nearest to the figure."""
    ended = (TrialOutcome.FAIL, TrialOutcome.CLIENT_LIMITED)
    low = state.posterior.interval(CONFIDENCE)[0]
    misses = sorted(
        (each for each in state.judged if each.outcome in ended and each.load >= low), key=lambda each: each.load
    )
    nearest = misses[:NEAREST_MISSES] or [each for each in state.judged if each.outcome in ended]
    limited = sum(each.outcome is TrialOutcome.CLIENT_LIMITED for each in nearest)
    return bool(nearest) and limited > LIMITED_SHARE * len(nearest)


def is_narrow(state: SearchState, estimate: Estimate) -> bool:
    """Whether the interval is as narrow as the search wants it; one step of whole numbers always is."""
    whole_step = state.settings.axis.whole and estimate.high - estimate.low <= 2
    return whole_step or estimate.relative_width <= state.settings.width_sought


def why_wide(state: SearchState, estimate: Estimate, ended: Sequence[str]) -> tuple[str, ...]:
    """Why an interval is no narrower, the largest reason first; none where it is narrow.

    `ended`: what ended the search.
    """
    if is_narrow(state, estimate):
        return ()
    spread, lapse, moved = state.posterior.spread, state.posterior.lapse, state.movement
    differ = message(
        "windows of {length:g} s at one load differ by about {spread}",
        length=state.settings.usual_s,
        spread=format_percentage(spread, digits=1),
    )
    reasons: list[str] = [differ]
    if moved is not None:
        width = min(1.0, estimate.relative_width)
        by_machine = moved.spread >= MACHINE_SHARE * spread and moved.share >= MACHINE_WIDTH_MIN * width
        reasons = [moved.text, differ] if by_machine else [differ, moved.text]
    if lapse >= DISTURBED_MIN:
        reasons.append(message("about {share} of the windows were disturbed", share=format_percentage(lapse, digits=1)))
    count = message("{count} windows were measured", count=format_count(len(state.windows)))
    return (*reasons, *(ended or (count,)))

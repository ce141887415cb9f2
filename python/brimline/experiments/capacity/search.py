"""Owns the search for the sustained rate: which probe comes next.

Calibrate against the null target, sweep connections in a closed loop, bracket the load that its plateau makes likely,
close in by probabilistic bisection, verify. Every step follows from the trials alone, so that a search can be
resumed from its trials, and tested without a server.
"""

from collections.abc import Sequence
from dataclasses import replace

from brimline.execution import SoFar
from brimline.experiments.axis import On
from brimline.experiments.capacity.bracket import BracketState
from brimline.experiments.capacity.conclusion import CapacityConclusion, conclude
from brimline.experiments.capacity.outcome import to_repeat
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.capacity.so_far import search_so_far
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import Sweep
from brimline.experiments.trial import Probe, Stage, Trial, broken_off, of_stage
from brimline.wording import message

_NARROWING: tuple[Stage, ...] = ("bracket", "bisect", "reused")
BISECT_CONFIDENCE = 0.8
"""Bisection ends when this much of the posterior lies within the resolution."""


class Capacity:
    """Asks for probes until the sustained rate is found, or it is clear that it can't be.

    `settings.budget_s` bounds the probe time: bisection leaves enough for verification, verification stops at
    it.
    """

    def __init__(self, settings: CapacitySettings, seed: int) -> None:
        self._settings = settings
        self._seed = seed
        self._sweep = Sweep(settings.sweep, seed)

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """The next probe, or None when the search is over.

        Where a number of connections is sought, none of them waits for the generator to take several replies at once.
        """
        probe = self._next(trials)
        counts_connections = self._settings.on is On.CONNECTIONS
        return replace(probe, follows_replies=True) if counts_connections and probe is not None else probe

    def _next(self, trials: Sequence[Trial]) -> Probe | None:
        if broken_off(trials):
            return None
        if not of_stage(trials, "calibrate"):
            return self._calibration()
        state = self._state(trials)
        swept = self._sweep.next_probe(trials)
        if swept is not None:
            return swept if self._affordable(state, swept.cost_s) else None
        return self._next_at_load(state)

    def so_far(self, trials: Sequence[Trial]) -> SoFar:
        """What those who look on are told after `trials`."""
        return search_so_far(self._state(trials))

    def conclude(self, trials: Sequence[Trial]) -> CapacityConclusion:
        """What the trials so far show; also of a search that was broken off."""
        state, finished = self._state(trials), self.next_probe(trials) is None
        unsettled = self._unsettled(trials, state) if finished else ()
        return conclude(trials, state, finished=finished, unsettled=unsettled, seed=self._seed)

    def _unsettled(self, trials: Sequence[Trial], state: SearchState) -> tuple[str, ...]:
        """What the budget left open: the probe that would have been next, and a threshold that is known roughly."""
        if self._settings.budget_s is None:
            return ()
        left = []
        wanted = Capacity(replace(self._settings, budget_s=None), self._seed).next_probe(trials)
        if wanted is not None:
            left.append(message("{probe} had no time left", probe=wanted.text))
        if state.bracket.state is BracketState.CLOSED:
            low, high = state.posterior("bracket", "bisect", "verify", "reused").interval(BISECT_CONFIDENCE)
            axis = self._settings.axis
            if axis.told_apart(low, high, resolution=self._settings.resolution):
                low_text, high_text = axis.text(low), axis.text(high)
                left.append(message("the limit lies between {low} and {high}", low=low_text, high=high_text))
        return tuple(left)

    def _state(self, trials: Sequence[Trial]) -> SearchState:
        return SearchState.of(trials, self._settings, self._sweep)

    def _next_at_load(self, state: SearchState) -> Probe | None:
        if state.plateau_ops_per_s <= 0 or state.spoilt is not None:
            return None
        probe = to_repeat(state.judged) or self._next_search(state)
        return probe if probe is not None and self._affordable(state, probe.cost_s) else None

    def _next_search(self, state: SearchState) -> Probe | None:
        if not state.judged_in("verify"):
            if state.bracket.next_load is not None:
                return self._probe(state, "bracket", state.bracket.next_load, self._settings.bracket_s)
            if state.bracket.state is not BracketState.CLOSED:
                return None
            if self._bisection_pays(state):
                load = self._settings.axis.nearest(state.posterior(*_NARROWING).quantile(0.5))
                return self._probe(state, "bisect", load, self._settings.bisect_s)
        return self._next_verification(state)

    def _bisection_pays(self, state: SearchState) -> bool:
        settings = self._settings
        if len(state.judged_in("bisect")) >= settings.bisections_max:
            return False
        # Two more than a candidate needs, for one step down.
        plateau = state.plateau_ops_per_s
        verify_s = settings.warmup_s + settings.window_s(settings.verify_s, plateau)
        bisect_s = settings.warmup_s + settings.window_s(settings.bisect_s, plateau)
        if not self._affordable(state, bisect_s + (settings.verifications + 4) * verify_s):
            return False
        low, high = state.posterior(*_NARROWING).interval(BISECT_CONFIDENCE)
        return settings.axis.told_apart(low, high, resolution=settings.resolution)

    def _next_verification(self, state: SearchState) -> Probe | None:
        settings = self._settings
        verification = state.verification()
        wanted = verification.next()
        if wanted is None:
            return None
        load = verification.load(wanted.level)
        usual_s = settings.verify_s
        extended_s = 2 * state.window_s(usual_s, load)
        extend = wanted.extended and self._affordable(state, settings.warmup_s + extended_s)
        return self._probe(state, "verify", load, 2 * usual_s if extend else usual_s)

    def _affordable(self, state: SearchState, cost_s: float) -> bool:
        # A microsecond of slack: sums of tenths of seconds are not exact.
        budget_s = self._settings.budget_s
        return budget_s is None or state.spent_s + cost_s + state.overhead_s <= budget_s + 1e-6

    def _calibration(self) -> Probe:
        return Probe(
            stage="calibrate",
            label="null",
            target="null",
            connections=self._settings.calibrate_connections,
            rate_ops_per_s=None,
            warmup_s=0.0,
            duration_s=self._settings.calibrate_s,
        )

    def _probe(self, state: SearchState, stage: Stage, load: float, usual_s: float) -> Probe:
        settings, axis = self._settings, self._settings.axis
        threads = settings.on is On.THREADS
        return Probe(
            stage=stage,
            label=axis.label(load),
            target="server",
            connections=round(load) if axis.whole else state.open_loop_connections,
            rate_ops_per_s=None if axis.whole else load,
            warmup_s=0.0 if threads else settings.warmup_s,
            duration_s=state.window_s(usual_s, load),
            loops=settings.loops if threads else None,
            ramp_up_s=settings.ramp_up_s if threads else None,
            goal=settings.goal,
        )

"""Owns the search for the sustained load: which probe comes next.

Calibrate against the null target, sweep connections in a closed loop, then offer loads: each next window is the one
that teaches most per second about the load that nearly all windows bear, until that is known well enough and held in
repeated windows. Every step follows from the trials alone, so that a search can be resumed from its trials, and tested
without a server.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from brimline.execution import Outcome, SoFar
from brimline.experiments.axis import On
from brimline.experiments.capacity.conclusion import CapacityConclusion, conclude
from brimline.experiments.capacity.estimate import candidate, find, is_narrow
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.cost import capacity_time, window_time
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import Sweep
from brimline.experiments.trial import (
    SEARCH_STAGES,
    Probe,
    Stage,
    Trial,
    broken_off,
    of_stage,
    overhead_s,
    put_back_each_s,
    spent_s,
)
from brimline.wording import message

ENOUGH, ENOUGH_BESIDE_GENERATOR = 2, 4
"""So many windows at an end of what can be tried bound the load. What the generator missed there, the next may hold."""
SPARE_VERIFICATIONS = 1
"""One window in ten misses at the very load that is sought, so that time is kept for another."""
CANDIDATES = 41
"""Loads among which the most instructive is chosen."""
CANDIDATES_WITHIN = 0.99
"""They lie in this central part of the posterior."""
_OUTCOMES: Mapping[TrialOutcome, Outcome] = {TrialOutcome.PASS: "met", TrialOutcome.FAIL: "missed"}


class Capacity:
    """Asks for probes until the sustained load is known and held, or there is no time left.

    `settings.budget_s` bounds the probe time; it always leaves room for what verifies the figure.
    """

    def __init__(self, settings: CapacitySettings, seed: int) -> None:
        self._settings = settings
        self._seed = seed
        self._sweep = Sweep(settings.sweep, seed)

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """The next probe, or None when the search is over.

        Where a number of connections is sought, none of them waits for the generator to take several replies at once.
        """
        probe = self._next(self._state(trials))
        counts_connections = self._settings.on is On.CONNECTIONS
        return replace(probe, follows_replies=True) if counts_connections and probe is not None else probe

    def so_far(self, trials: Sequence[Trial]) -> SoFar:
        """The estimate once a load is known that was too much and one that wasn't, before that what is known of either.

        The time that is left is as if data were put back as fast as here, not as fast as is usual. No budget counts it.
        """
        state = self._state(trials)
        found, time = find(state), capacity_time(replace(self._settings, budget_s=None))
        known = found.sustained
        low, high = (found.at_least, found.at_most) if known is None else (known.low, known.high)
        budget_s = math.inf if self._settings.budget_s is None else max(self._settings.budget_s - state.spent_s, 0.0)
        put_back_s = max(time.probe_count - len(trials), 0) * put_back_each_s(trials)
        return SoFar(
            unit=self._settings.axis.unit,
            figure=None if known is None else known.value,
            low=low,
            high=high,
            probes=[(each.load, _OUTCOMES.get(each.outcome, "unsettled")) for each in state.judged],
            left_s=min(max(time.typical_s - spent_s(trials), 0.0), budget_s) + put_back_s,
            left_max_s=min(max(time.max_s - spent_s(trials), 0.0), budget_s) + put_back_s,
        )

    def conclude(self, trials: Sequence[Trial]) -> CapacityConclusion:
        """What the trials so far show; also of a search that was broken off."""
        finished = self.next_probe(trials) is None
        unsettled = self._unsettled(trials) if finished else ()
        return conclude(self._state(trials), finished=finished, unsettled=unsettled)

    def _state(self, trials: Sequence[Trial]) -> SearchState:
        return SearchState.of(trials, self._settings, self._sweep)

    def _unsettled(self, trials: Sequence[Trial]) -> tuple[str, ...]:
        """The probe that would have been next, had there been more time."""
        if self._settings.budget_s is None:
            return ()
        wanted = Capacity(replace(self._settings, budget_s=None), self._seed).next_probe(trials)
        return () if wanted is None else (message("{probe} had no time left", probe=wanted.text),)

    def _next(self, state: SearchState) -> Probe | None:
        if broken_off(state.trials):
            return None
        if not of_stage(state.trials, "calibrate"):
            return self._calibration()
        if not state.judged:
            swept = self._sweep.next_probe(state.trials)
            # The sweep leaves time for the fewest windows that give a figure.
            needed_s = self._settings.verifications * window_time(self._settings)
            if swept is not None and self._affordable(state, swept.cost_s + needed_s):
                return swept
            if swept is not None and not state.sweep.levels:
                return None
        if state.reached_ops_per_s <= 0 or state.spoilt is not None:
            return None
        # After a window whose counts disagree nothing more is known, so that the same one comes again.
        probe = self._next_search(state)
        return probe if probe is not None and self._affordable(state, probe.cost_s) else None

    def _next_search(self, state: SearchState) -> Probe | None:
        left = self._settings.windows_max - sum(each.probe.stage != "reused" for each in state.judged)
        if left <= 0:
            return None
        if self._reference_due(state):
            return self._reference(state)
        found, chosen = find(state), candidate(state)
        missing = chosen.missing(self._settings.verifications)
        narrow = found.sustained is not None and is_narrow(state, found.sustained)
        if narrow and not missing:
            return None
        further = self._most_instructive(state)
        if found.sustained is None and self._at_an_end(state, self._settings.axis.load_of(further)):
            return None
        verifying = self._probe(state, "verify", chosen.load)
        reserved = missing + SPARE_VERIFICATIONS
        affordable = self._affordable(state, further.cost_s + reserved * verifying.cost_s)
        return verifying if missing and (narrow or left <= reserved or not affordable) else further

    def _at_an_end(self, state: SearchState, load: float) -> bool:
        """Whether nothing beyond `load` can be tried, and enough windows ran there."""
        limited = any(each.outcome is TrialOutcome.CLIENT_LIMITED for each in state.judged if each.load == load)
        enough = ENOUGH_BESIDE_GENERATOR if limited else ENOUGH
        return load in (state.least, state.most) and sum(each.load == load for each in state.windows) >= enough

    def _most_instructive(self, state: SearchState) -> Probe:
        """The window that is expected to teach most per second."""
        axis, posterior = self._settings.axis, state.posterior
        low, high = posterior.interval(CANDIDATES_WITHIN)
        spaced = np.exp(np.linspace(math.log(low), math.log(high), CANDIDATES))
        loads = sorted({min(max(axis.nearest(float(each)), state.least), state.most) for each in spaced})
        probes = [self._probe(state, "search", load) for load in loads]
        told = posterior.information(loads) / np.array([each.cost_s for each in probes])
        return probes[int(told.argmax())]

    def _reference_due(self, state: SearchState) -> bool:
        """Whether so many windows ran since the reference load did, and it can still be had."""
        if state.connections_had is not None and state.connections_had < state.knee_connections:
            return False
        windows = sum(not each.failed for each in of_stage(state.trials, *SEARCH_STAGES))
        return windows >= self._settings.windows_per_reference * (1 + len(of_stage(state.trials, "reference")))

    def _reference(self, state: SearchState) -> Probe:
        """One and the same closed-loop load, at the knee: what it answers says how much the machine itself moved."""
        return replace(self._sweep.probe(state.knee_connections), stage="reference", goal=self._settings.goal)

    def _affordable(self, state: SearchState, cost_s: float) -> bool:
        # A microsecond of slack: sums of tenths of seconds are not exact.
        budget_s = self._settings.budget_s
        beyond_s = overhead_s(state.trials) if self._settings.budget_elapses else 0.0
        return budget_s is None or state.spent_s + cost_s + beyond_s <= budget_s + 1e-6

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

    def _probe(self, state: SearchState, stage: Stage, load: float) -> Probe:
        settings, axis = self._settings, self._settings.axis
        threads = settings.on is On.THREADS
        return Probe(
            stage=stage,
            label=axis.label(load),
            target="server",
            connections=round(load) if axis.whole else state.open_loop_connections,
            rate_ops_per_s=None if axis.whole else load,
            warmup_s=0.0 if threads else settings.warmup_s,
            duration_s=state.length_s(load),
            loops=settings.loops if threads else None,
            ramp_up_s=settings.ramp_up_s if threads else None,
            goal=settings.goal,
        )

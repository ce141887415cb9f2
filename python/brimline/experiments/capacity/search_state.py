"""Owns what the trials of a capacity search say so far; derived from them, never kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Self

from brimline.experiments.axis import On
from brimline.experiments.capacity.machine import Movement, movement
from brimline.experiments.capacity.outcome import Judged, TrialOutcome, judge_trial, window_of
from brimline.experiments.settings import CHECKPOINT_S, CapacitySettings
from brimline.experiments.sweep import Sweep, SweepConclusion, SweepEnd
from brimline.experiments.trial import SEARCH_STAGES, Trial, connections_had, null_ceiling, of_stage, spent_s
from brimline.stats.hold_chance import HoldPosterior, Window
from brimline.units import NS_PER_S

LIKELY_SHARE = 0.95
"""The sustained load lies about here, as a share of what the sweep reached."""
LOW_SHARE, HIGH_SHARE = 0.01, 4.0
"""Loads that are thought possible, as shares of what the sweep reached."""
LOWEST_SHARE = 0.05
"""Where even this share of what the sweep reached misses the objective, it can't be met."""
CONNECTIONS_PER_KNEE = 2
"""Connections of an open-loop probe, in multiples of the knee."""


@dataclass(frozen=True, kw_only=True)
class SearchState:
    """What the trials of a search say, once its sweep is over."""

    trials: Sequence[Trial]
    settings: CapacitySettings
    sweep: SweepConclusion
    judged: tuple[Judged, ...]
    references: tuple[Trial, ...]
    connections_had: int | None  # no probe asks for more, since one could not have them; None: all could

    @classmethod
    def of(cls, trials: Sequence[Trial], settings: CapacitySettings, sweep: Sweep) -> Self:
        """The state after `trials`."""
        ceiling = null_ceiling(trials)
        swept = sweep.conclude(trials, null_ceiling_ops_per_s=ceiling)
        at_knee = [each for each in of_stage(trials, "sweep") if each.probe.connections == swept.knee_connections]
        return cls(
            trials=trials,
            settings=settings,
            sweep=swept,
            judged=tuple(
                judge_trial(trial, settings.slo, axis=settings.axis, null_ceiling_ops_per_s=ceiling)
                for trial in of_stage(trials, *SEARCH_STAGES)
                # An older search looked at shorter windows too, which may lack a checkpoint.
                if trial.observation.ended_by == "completed" and trial.probe.duration_s >= settings.usual_s
            ),
            references=tuple(
                trial
                for trial in (*at_knee, *of_stage(trials, "reference"))
                if trial.observation.ended_by == "completed"
            ),
            connections_had=connections_had(trials),
        )

    @property
    def spent_s(self) -> float:
        """The part of the budget that is used up."""
        return spent_s(self.trials, elapsed=self.settings.budget_elapses)

    @property
    def without_server(self) -> bool:
        """Whether the null target answered the sweep."""
        return any(each.observation.target == "null" for each in of_stage(self.trials, "sweep"))

    @property
    def reached_ops_per_s(self) -> float:
        """Where the search starts: the highest throughput of the sweep; 0 where that says nothing of a server."""
        void = self.sweep.ended_by is SweepEnd.INVALID or self.without_server
        return 0.0 if void else self.sweep.highest_ops_per_s or 0.0

    @property
    def spoilt(self) -> Judged | None:
        """The window that ended the search without a figure: its counts disagree, and those of the one before it."""
        own = [each for each in self.judged if each.probe.stage != "reused"]
        invalid = TrialOutcome.INVALID
        return next((each for before, each in pairwise(own) if before.outcome is each.outcome is invalid), None)

    @property
    def open_loop_connections(self) -> int:
        """Connections of every open-loop probe: enough not to be the limit.

        The knee's connections keep the server as busy as it can be; twice as many leave room for bursts. What waits
        beyond that would wait in the server just as long, and its waiting counts in its response time. More would
        only add threads to the server's queue for processors, where whole slices of time are lost: on two cores,
        p99 was 230 to 270 ms on 300 connections at 14 600 ops/s, 6 and 270 ms on 128 at 15 300, 7 and 7 ms on 64 at
        15 500. All probes have the same number, so that only the rate differs between them; fewer where they could not
        be had.
        """
        settings = self.settings
        wanted = max(CONNECTIONS_PER_KNEE * self.knee_connections, settings.connections_min)
        return min(wanted, settings.connections_max, self.connections_had or wanted)

    @property
    def knee_connections(self) -> int:
        """Connections of the knee, or of the sweep's last level where there is none."""
        return self.sweep.knee_connections or self.sweep.levels[-1].connections

    def length_s(self, load: float) -> float:
        """Length of a window at `load`.

        It holds a whole period of checkpoints, the pause between two and the longest that was seen, where it is long.
        """
        settings = self.settings
        # How many operations a second a number of connections makes is known only about.
        rate_ops_per_s = max(self.reached_ops_per_s, 1e-9) if settings.axis.whole else load
        length_s = settings.length_s(rate_ops_per_s)
        if not settings.windows_span_checkpoints or settings.ramp_up_s is not None:
            return length_s
        longest_s = max(trial.observation.checkpoint_s or 0.0 for trial in self.trials)
        return max(length_s, math.ceil(CHECKPOINT_S + longest_s))

    @cached_property
    def windows(self) -> list[Window]:
        """What each probe at a load shows."""
        proven = (each for each in self.judged if each.outcome is not TrialOutcome.INVALID)
        return [window_of(each, self.settings.slo) for each in proven]

    @cached_property
    def posterior(self) -> HoldPosterior:
        """What the windows say about the sustained load."""
        low, high = self.possible
        return _posterior(
            tuple(self.windows),
            low=low,
            high=high,
            likely=LIKELY_SHARE * self.anchor,
            hold=self.settings.hold,
            references=tuple(each.observation.throughput_ops_per_s for each in self.references),
        )

    @property
    def possible(self) -> tuple[float, float]:
        """The loads between which the sustained one is looked for."""
        loads = [each.load for each in self.judged] or [self.anchor]
        low = min(LOW_SHARE * self.anchor, min(loads) / 2)
        high = max(HIGH_SHARE * self.anchor, 2 * max(loads))
        return (min(low, 0.5), high) if self.settings.axis.whole else (low, high)

    @property
    def most(self) -> float:
        """The highest load that is tried."""
        highest = HIGH_SHARE * self.anchor if self.settings.load_max is None else self.settings.load_max
        if self.settings.axis.whole and self.connections_had is not None:
            highest = min(highest, self.connections_had)
        return self.settings.axis.nearest(highest)

    @property
    def least(self) -> float:
        """The lowest load that is tried."""
        axis = self.settings.axis
        return 1.0 if axis.whole else axis.nearest(LOWEST_SHARE * self.anchor)

    @property
    def movement(self) -> Movement | None:
        """How much the machine moved, by its reference load; None with fewer than two runs."""
        return movement(self.references)

    @property
    def anchor(self) -> float:
        """The load at which what the sweep reached would be reached.

        In a closed loop, by Little's law, as many connections as that answers within the limit; in T-L-R the threads
        whose loops are offered at that rate.
        """
        settings, reached = self.settings, self.reached_ops_per_s or 1.0
        match settings.on:
            case On.CONNECTIONS:
                return max(1.0, reached * settings.slo.leading.limit_ns / NS_PER_S)
            case On.THREADS:
                return max(1.0, reached * (settings.ramp_up_s or 0.0) / (settings.loops or 1))
            case _:
                return reached


_posterior = lru_cache(maxsize=8)(HoldPosterior)
"""Kept, since a state is derived anew for each question about the same trials."""

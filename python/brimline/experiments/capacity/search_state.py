"""Owns what the trials of a capacity search say so far; derived from them, never kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from brimline.experiments.axis import On
from brimline.experiments.capacity.bracket import Bracket, bracket
from brimline.experiments.capacity.outcome import Judged, TrialOutcome, answers, judge_trial, spoilt, usable
from brimline.experiments.capacity.verification import Verification
from brimline.experiments.settings import CHECKPOINT_S, CapacitySettings
from brimline.experiments.sweep import Sweep, SweepConclusion, SweepEnd
from brimline.experiments.trial import SEARCH_STAGES, Stage, Trial, of_stage, overhead_s, spent_s
from brimline.stats.threshold import Answer, Outcome, ThresholdPosterior
from brimline.units import NS_PER_S

CANDIDATE_PROBABILITY = 0.25
"""The candidate is the rate which the threshold lies below with this probability."""
GLANCE_LAPSE = 0.3
"""Probability that a window too short to contain a checkpoint passes where a long one would not."""
PRIOR_MARGIN = 1.1
"""The threshold is looked for in the range of the rates that were tried, widened by this factor."""
CONNECTIONS_PER_KNEE = 2
"""Connections of an open-loop probe, in multiples of the knee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """What the trials of a search say, once its sweep is over."""

    settings: CapacitySettings
    null_ceiling_ops_per_s: float | None
    sweep: SweepConclusion
    judged: tuple[Judged, ...]
    bracket: Bracket
    spent_s: float
    overhead_s: float
    longest_checkpoint_s: float

    @classmethod
    def of(cls, trials: Sequence[Trial], settings: CapacitySettings, sweep: Sweep) -> Self:
        """The state after `trials`."""
        calibrated = of_stage(trials, "calibrate")
        ceiling = calibrated[0].observation.throughput_ops_per_s if calibrated else None
        swept = sweep.conclude(trials, null_ceiling_ops_per_s=ceiling)
        judged = tuple(
            judge_trial(trial, settings.slo, axis=settings.axis, null_ceiling_ops_per_s=ceiling)
            for trial in of_stage(trials, *SEARCH_STAGES)
            if trial.observation.ended_by == "completed"
        )
        bracketed = [each for each in usable(judged) if each.probe.stage in ("bracket", "reused")]
        return cls(
            settings=settings,
            null_ceiling_ops_per_s=ceiling,
            sweep=swept,
            judged=judged,
            bracket=bracket(
                bracketed,
                axis=settings.axis,
                anchor=_anchor(settings, swept.highest_ops_per_s or 1.0),
                load_max=settings.load_max,
            ),
            spent_s=spent_s(trials, elapsed=settings.budget_elapses),
            overhead_s=overhead_s(trials) if settings.budget_elapses else 0.0,
            longest_checkpoint_s=max((trial.observation.checkpoint_s or 0.0 for trial in trials), default=0.0),
        )

    @property
    def plateau_ops_per_s(self) -> float:
        """Where the bracket starts: the highest throughput of the sweep; 0 where that shows nothing of the server."""
        if self.sweep.ended_by in (SweepEnd.CLIENT_LIMITED, SweepEnd.INVALID):
            return 0.0
        return self.sweep.highest_ops_per_s or 0.0

    @property
    def spoilt(self) -> Judged | None:
        """The trial that ended the search without a number, if any."""
        return spoilt(self.judged)

    @property
    def open_loop_connections(self) -> int:
        """Connections of every open-loop probe: enough not to be the limit.

        The knee's connections keep the server as busy as it can be; twice as many leave room for bursts. What waits
        beyond that would wait in the server just as long, and its waiting counts in its response time. More would
        only add threads to the server's queue for processors, where whole slices of time are lost: on two cores,
        p99 was 230 to 270 ms on 300 connections at 14 600 ops/s, 6 and 270 ms on 128 at 15 300, 7 and 7 ms on 64 at
        15 500. All probes have the same number, so that only the rate differs between them.
        """
        settings = self.settings
        knee = self.sweep.knee_connections or self.sweep.levels[-1].connections
        return min(max(CONNECTIONS_PER_KNEE * knee, settings.connections_min), settings.connections_max)

    def rate_at(self, load: float) -> float:
        """About how many operations a second a load makes, to tell how long a window must be."""
        return max(self.plateau_ops_per_s, 1e-9) if self.settings.axis.whole else load

    def window_s(self, usual_s: float, load: float) -> float:
        """Length of a window at `load`.

        One that decides holds a whole period of checkpoints: the pause between two, and the longest that was seen.
        """
        window_s = self.settings.window_s(usual_s, self.rate_at(load))
        if not self._spans or usual_s < CHECKPOINT_S or self.settings.ramp_up_s is not None:
            return window_s
        return max(window_s, math.ceil(CHECKPOINT_S + self.longest_checkpoint_s))

    def judged_in(self, *stages: Stage) -> list[Judged]:
        """The usable trials of these stages."""
        return [each for each in usable(self.judged) if each.probe.stage in stages]

    @property
    def deciding(self) -> list[Judged]:
        """The usable trials that can be held against each other.

        Where windows span checkpoints, a pass in a shorter one is only a glance: it contradicts nothing.
        """
        judged = usable(self.judged)
        return (
            [each for each in judged if each.long or each.outcome is not TrialOutcome.PASS] if self._spans else judged
        )

    def posterior(self, *stages: Stage) -> ThresholdPosterior:
        """What the trials of these stages say about the load where passing turns to failing.

        Glances share one weak vote, at the highest load that they passed: what one of them missed, all of them may.
        """
        loads = [each.load for each in self.judged_in("bracket", "bisect", "reused")] or [self._anchor]
        low, high = min(loads) / PRIOR_MARGIN, max(loads) * PRIOR_MARGIN
        deciding = [each for each in self.deciding if each.probe.stage in stages]
        said = answers(deciding)
        glanced = [each.load for each in self.judged_in(*stages) if each not in deciding]
        if glanced:
            said.append(Answer(max(glanced), Outcome.PASS, GLANCE_LAPSE))
        return ThresholdPosterior(said, low=low, high=high)

    def verification(self) -> Verification:
        """Where verification of the candidate stands; the candidate follows from bracket and bisection."""
        candidate = self.posterior("bracket", "bisect", "reused").quantile(CANDIDATE_PROBABILITY)
        return Verification(self.judged_in("verify"), candidate, self.settings)

    @property
    def _spans(self) -> bool:
        return self.settings.windows_span_checkpoints

    @property
    def _anchor(self) -> float:
        return _anchor(self.settings, self.plateau_ops_per_s)


def _anchor(settings: CapacitySettings, plateau_ops_per_s: float) -> float:
    """The load at which the plateau would be reached.

    In a closed loop, by Little's law, as many connections as the plateau answers within the limit; in T-L-R the
    threads whose loops are offered at the plateau's rate.
    """
    match settings.on:
        case On.CONNECTIONS:
            return max(1.0, plateau_ops_per_s * settings.slo.leading.limit_ns / NS_PER_S)
        case On.THREADS:
            return max(1.0, plateau_ops_per_s * (settings.ramp_up_s or 0.0) / (settings.loops or 1))
        case _:
            return plateau_ops_per_s

"""Owns what the trials of a capacity search say so far; derived from them, never kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from brimline.experiments.bracket import Bracket, bracket
from brimline.experiments.outcome import Judged, answers, judge_trial, spoilt, usable
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import Sweep, SweepConclusion, SweepEnd
from brimline.experiments.trial import Stage, Trial, of_stage, spent_s
from brimline.experiments.verification import Verification
from brimline.stats.threshold import ThresholdPosterior

CANDIDATE_PROBABILITY = 0.25
"""The candidate is the rate which the threshold lies below with this probability."""
PRIOR_MARGIN = 1.1
"""The threshold is looked for in the range of the rates that were tried, widened by this factor."""
CONNECTIONS_PER_KNEE = 4
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

    @classmethod
    def of(cls, trials: Sequence[Trial], settings: CapacitySettings, sweep: Sweep) -> Self:
        """The state after `trials`."""
        calibrated = of_stage(trials, "calibrate")
        ceiling = calibrated[0].observation.throughput_ops_per_s if calibrated else None
        swept = sweep.conclude(trials, null_ceiling_ops_per_s=ceiling)
        judged = tuple(
            judge_trial(trial, settings.slo, null_ceiling_ops_per_s=ceiling)
            for trial in of_stage(trials, "bracket", "bisect", "verify")
            if trial.observation.ended_by == "completed"
        )
        bracketed = [each for each in usable(judged) if each.probe.stage == "bracket"]
        return cls(
            settings=settings,
            null_ceiling_ops_per_s=ceiling,
            sweep=swept,
            judged=judged,
            bracket=bracket(bracketed, swept.highest_ops_per_s or 1.0),
            spent_s=spent_s(trials),
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

        By Little's law a plateau of X ops/s that answers within the target T has at most X · T operations in
        flight; with that many connections no operation misses T because it waited for one. Four times the
        knee covers a server that is slower in bursts. All probes have the same number, so that only the rate
        differs between them.
        """
        settings = self.settings
        knee = self.sweep.knee_connections or self.sweep.levels[-1].connections
        in_flight = math.ceil(self.plateau_ops_per_s * settings.slo.response_p99_ns / 1e9)
        wanted = max(CONNECTIONS_PER_KNEE * knee, in_flight, settings.connections_min)
        return min(wanted, settings.connections_max)

    def judged_in(self, *stages: Stage) -> list[Judged]:
        """The usable trials of these stages."""
        return [each for each in usable(self.judged) if each.probe.stage in stages]

    def posterior(self, *stages: Stage) -> ThresholdPosterior:
        """What the trials of these stages say about the sustained rate."""
        rates = [each.rate for each in self.judged_in("bracket", "bisect")] or [self.plateau_ops_per_s]
        low, high = min(rates) / PRIOR_MARGIN, max(rates) * PRIOR_MARGIN
        return ThresholdPosterior(answers(self.judged_in(*stages)), low=low, high=high)

    def verification(self) -> Verification:
        """Where verification of the candidate stands; the candidate follows from bracket and bisection."""
        candidate = self.posterior("bracket", "bisect").quantile(CANDIDATE_PROBABILITY)
        return Verification(self.judged_in("verify"), candidate, self.settings)

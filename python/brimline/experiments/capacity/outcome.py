"""Owns what a trial of a capacity search tells the search."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from brimline.analysis.bottleneck import generator_limits
from brimline.analysis.finding import Standing
from brimline.analysis.met import met_chance
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.steady import Steadiness
from brimline.analysis.validity import GENERATOR_CHECKS, generator_headroom
from brimline.analysis.verdict import Verdict, judge, judge_objective
from brimline.experiments.axis import Axis
from brimline.experiments.trial import Probe, Trial
from brimline.stats.hold_chance import Window

HELD_CHANCE = 0.9
"""A window that a run's verdict leaves open held where the chance that it met its objective is this or more."""
RESTLESS_WEIGHT = 0.5
"""What a window shows that was not steady, as a share of one that was."""
OVERLOAD_MAX = 1.5
"""Offered load, as a multiple of what was answered, up to which a full server does what it can."""


class TrialOutcome(StrEnum):
    """`client_limited`: missed while the generator was full, so the server isn't to blame."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    CLIENT_LIMITED = "client_limited"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial at a load, its outcome and the reasons for it."""

    trial: Trial
    outcome: TrialOutcome
    reasons: tuple[str, ...]
    load: float

    @property
    def probe(self) -> Probe:
        """What was asked."""
        return self.trial.probe


def judge_trial(trial: Trial, slo: Slo, *, axis: Axis, null_ceiling_ops_per_s: float | None) -> Judged:
    """The outcome of a trial.

    In an open loop a limit of the generator doesn't spoil a pass: response time counts from the due time, so a late
    generator only makes it longer, and a server that held the objective in spite of it holds it without. Nor does lag
    spoil a miss that would be one without it. In a closed loop it does: a late generator asks less of the server.
    """
    observation, load = trial.observation, axis.load_of(trial.probe)
    broken = tuple(
        finding.evidence
        for finding in observation.findings
        if finding.verdict is Standing.FAIL and finding.name not in GENERATOR_CHECKS
    )
    if broken:
        return Judged(trial, TrialOutcome.INVALID, broken, load)
    judgement = judge_objective(observation, slo)
    limits = generator_limits(observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
    if limits and (observation.closed_loop or judgement.verdict is not Verdict.PASS):
        headroom = not generator_headroom(observation.throughput_ops_per_s, null_ceiling_ops_per_s)
        # Without the lag it would be missed too.
        missed = not observation.closed_loop and headroom and judge(observation, slo).verdict is Verdict.FAIL
        if not missed:
            return Judged(trial, TrialOutcome.CLIENT_LIMITED, limits, load)
    outcome = {Verdict.PASS: TrialOutcome.PASS, Verdict.FAIL: TrialOutcome.FAIL}.get(judgement.verdict)
    if outcome is None and met_chance(observation, slo) >= HELD_CHANCE:
        return Judged(trial, TrialOutcome.PASS, (), load)  # one of many windows, so that it need not convince alone
    return Judged(trial, outcome or TrialOutcome.INCONCLUSIVE, judgement.reasons, load)


def usable(judged: Sequence[Judged]) -> list[Judged]:
    """The trials that say something about the server."""
    return [each for each in judged if each.outcome not in (TrialOutcome.CLIENT_LIMITED, TrialOutcome.INVALID)]


def window_of(judged: Judged, slo: Slo) -> Window:
    """What a trial that proves something shows of the load that this server and this generator bear together.

    Each limit holds with a chance that its figure and interval give; where the generator was the limit, none does.
    """
    observation, steady = judged.trial.observation, judged.trial.observation.steady
    if judged.outcome is TrialOutcome.CLIENT_LIMITED:
        return Window(judged.load, 0.0)
    restless = steady is not None and steady.verdict is Steadiness.NOT_STEADY
    return Window(
        load=judged.load,
        met=met_chance(observation, slo),
        weight=RESTLESS_WEIGHT if restless else 1.0,
        answered=_answered(observation, judged.load, slo),
    )


def _answered(observation: Observation, load: float, slo: Slo) -> float | None:
    """What a full server answered of an open loop's offer; far beyond its limit it may do less than it could."""
    share, answered = observation.completed_share, observation.throughput_ops_per_s
    if observation.closed_loop or share is None or share >= slo.completed_share_min or answered <= 0:
        return None
    return answered if load <= OVERLOAD_MAX * answered else None

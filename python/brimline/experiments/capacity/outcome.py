"""Owns what a trial of a capacity search tells the search."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from brimline.analysis.bottleneck import generator_limits
from brimline.analysis.finding import Standing
from brimline.analysis.objective import Slo
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.analysis.verdict import Verdict, judge_objective
from brimline.experiments.axis import Axis
from brimline.experiments.settings import CHECKPOINT_S
from brimline.experiments.trial import Probe, Trial
from brimline.stats.threshold import Answer, Outcome


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

    @property
    def long(self) -> bool:
        """Whether the window was long enough to contain a checkpoint."""
        return self.trial.probe.duration_s >= CHECKPOINT_S


def judge_trial(trial: Trial, slo: Slo, *, axis: Axis, null_ceiling_ops_per_s: float | None) -> Judged:
    """The outcome of a trial.

    In an open loop a limit of the generator doesn't spoil a pass: response time counts from the due time, so a late
    generator only makes it longer, and a server that held the objective in spite of it holds it without. In a closed
    loop it does: a late generator asks less of the server.
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
        return Judged(trial, TrialOutcome.CLIENT_LIMITED, limits, load)
    outcome = {Verdict.PASS: TrialOutcome.PASS, Verdict.FAIL: TrialOutcome.FAIL}.get(judgement.verdict)
    return Judged(trial, outcome or TrialOutcome.INCONCLUSIVE, judgement.reasons, load)


def spoilt(judged: Sequence[Judged]) -> Judged | None:
    """The trial that ends the search: invalid or client-limited, and so again when it was repeated."""
    own = [each for each in judged if each.probe.stage != "reused"]
    for first, second in pairwise(own):
        if first.outcome in _REPEATED and second.outcome in _REPEATED and first.load == second.load:
            return second
    return None


def to_repeat(judged: Sequence[Judged]) -> Probe | None:
    """The last probe, when it came to nothing that a second try couldn't mend."""
    last = judged[-1] if judged else None
    return last.probe if last and last.outcome in _REPEATED and last.probe.stage != "reused" else None


def usable(judged: Sequence[Judged]) -> list[Judged]:
    """The trials that say something about the server."""
    return [each for each in judged if each.outcome not in _REPEATED]


def answers(judged: Sequence[Judged]) -> list[Answer]:
    """The usable trials as statements about the threshold."""
    return [Answer(each.load, _ANSWERS[each.outcome]) for each in usable(judged)]


def contradicted_range(judged: Sequence[Judged]) -> tuple[float, float] | None:
    """Rates between which probes failed below others that passed, the worst one left out; None: nowhere.

    One odd probe among many is a disturbance. More of them show that within this range chance decided.
    """
    passed = sorted(each.load for each in judged if each.outcome is TrialOutcome.PASS)
    failed = sorted(each.load for each in judged if each.outcome is TrialOutcome.FAIL)
    without_one = ((passed[:-1], failed), (passed, failed[1:]))
    ranges = [(failing[0], passing[-1]) for passing, failing in without_one if passing and failing]
    if len(ranges) < len(without_one):
        return None
    low, high = min(ranges, key=lambda each: each[1] - each[0])
    return (low, high) if low < high else None


_REPEATED = frozenset({TrialOutcome.CLIENT_LIMITED, TrialOutcome.INVALID})
_ANSWERS = {
    TrialOutcome.PASS: Outcome.PASS,
    TrialOutcome.FAIL: Outcome.FAIL,
    TrialOutcome.INCONCLUSIVE: Outcome.BORDERLINE,
}

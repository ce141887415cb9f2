"""Owns what a trial of a capacity search tells the search."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from brimline.analysis.bottleneck import generator_limits
from brimline.analysis.finding import Standing
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.analysis.verdict import Slo, Verdict, judge_objective
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
    """An open-loop trial with its outcome and the reasons for it."""

    trial: Trial
    outcome: TrialOutcome
    reasons: tuple[str, ...]

    @property
    def probe(self) -> Probe:
        """What was asked."""
        return self.trial.probe

    @property
    def rate(self) -> float:
        """The offered rate in ops/s."""
        return self.trial.probe.rate_ops_per_s or 0.0


def judge_trial(trial: Trial, slo: Slo, *, null_ceiling_ops_per_s: float | None) -> Judged:
    """The outcome of an open-loop trial.

    A limit of the generator doesn't spoil a pass: response time counts from the due time, so a late generator
    only makes it longer, and a server that held the objective in spite of it holds it without.
    """
    observation = trial.observation
    broken = tuple(
        finding.evidence
        for finding in observation.findings
        if finding.verdict is Standing.FAIL and finding.name not in GENERATOR_CHECKS
    )
    if broken:
        return Judged(trial, TrialOutcome.INVALID, broken)
    judgement = judge_objective(observation, slo)
    if judgement.verdict is Verdict.PASS:
        return Judged(trial, TrialOutcome.PASS, ())
    limits = generator_limits(observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
    if limits:
        return Judged(trial, TrialOutcome.CLIENT_LIMITED, limits)
    failed = judgement.verdict is Verdict.FAIL
    return Judged(trial, TrialOutcome.FAIL if failed else TrialOutcome.INCONCLUSIVE, judgement.reasons)


def spoilt(judged: Sequence[Judged]) -> Judged | None:
    """The trial that ends the search: invalid or client-limited, and so again when it was repeated."""
    for first, second in pairwise(judged):
        if first.outcome in _REPEATED and second.outcome in _REPEATED and first.rate == second.rate:
            return second
    return None


def to_repeat(judged: Sequence[Judged]) -> Probe | None:
    """The last probe, when it came to nothing that a second try couldn't mend."""
    return judged[-1].probe if judged and judged[-1].outcome in _REPEATED else None


def usable(judged: Sequence[Judged]) -> list[Judged]:
    """The trials that say something about the server."""
    return [each for each in judged if each.outcome not in _REPEATED]


def answers(judged: Sequence[Judged]) -> list[Answer]:
    """The usable trials as statements about the threshold."""
    return [Answer(each.rate, _ANSWERS[each.outcome]) for each in usable(judged)]


def contradicted_range(judged: Sequence[Judged]) -> tuple[float, float] | None:
    """Rates between which probes failed below others that passed, the worst one left out; None: nowhere.

    One odd probe among many is a disturbance. More of them show that within this range chance decided.
    """
    passed = sorted(each.rate for each in judged if each.outcome is TrialOutcome.PASS)
    failed = sorted(each.rate for each in judged if each.outcome is TrialOutcome.FAIL)
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

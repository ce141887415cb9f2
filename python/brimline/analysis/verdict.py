"""Owns the verdict: whether a run met its objective, missed it, left it open, or proves nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from brimline.analysis.finding import Standing
from brimline.analysis.latency import Latency
from brimline.analysis.observation import Observation
from brimline.analysis.quantile_text import p99_text
from brimline.analysis.steady import Steadiness
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.units import format_duration, format_percentage, format_rate
from brimline.wording import message

HYSTERESIS = 0.05
"""Around the target, a p99 this close to it decides nothing: the next run could fall on the other side."""
GROWTH_SHARE_MIN = 0.001
"""Growth of the backlog, as a share of the offered rate, below which it doesn't matter."""

MISSED_SHARE_MIN = 0.5
"""Of an unsteady window, the share of intervals that must miss the objective for the server to have missed it: in fewer
a disturbance did, and what the server can do is not known."""

EDGE_OPERATIONS = 3
"""Operations that may be missing because the window's edges cut them off; matters at low rates only."""


class Verdict(StrEnum):
    """`invalid` is asked first and outranks the rest: "it failed" and "we can't tell" are different words."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"

    @property
    def exit_code(self) -> int:
        """Exit code of a command that ends with this verdict: 3, a gate failed; 4, the run proves nothing."""
        return {Verdict.PASS: 0, Verdict.FAIL: 3, Verdict.INCONCLUSIVE: 4, Verdict.INVALID: 4}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """What counts as sustained."""

    response_p99_ns: int = 10_000_000
    error_rate_max: float = 0.001
    completed_share_min: float = 0.99


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and why; no reasons for a pass."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()


def judge(observation: Observation, slo: Slo) -> Judgement:
    """Validity first, then the objective.

    A generator at its limit doesn't spoil a pass: response time counts from the due time, so its lateness only makes
    the figure worse, and an objective that was met in spite of it is met.
    """
    failed = [each for each in observation.findings if each.verdict is Standing.FAIL]
    judgement = judge_objective(observation, slo)
    late_only = all(each.name in GENERATOR_CHECKS for each in failed)
    if failed and not (late_only and judgement.verdict is Verdict.PASS):
        return Judgement(Verdict.INVALID, tuple(each.evidence for each in failed))
    return judgement


def proves_nothing(observation: Observation, judgement: Judgement | None) -> bool:
    """Whether no figure of a run may be used. `judgement` is None for a run without an objective to judge."""
    return not observation.valid if judgement is None else judgement.verdict is Verdict.INVALID


def judge_objective(observation: Observation, slo: Slo) -> Judgement:
    """Whether an open-loop run met `slo`, whatever its validity."""
    failures = tuple(_failures(observation, slo))
    if failures:
        return Judgement(Verdict.FAIL, failures)
    doubts = tuple(_doubts(observation, slo))
    return Judgement(Verdict.INCONCLUSIVE, doubts) if doubts else Judgement(Verdict.PASS)


def _failures(observation: Observation, slo: Slo) -> Iterator[str]:
    if observation.error_rate > slo.error_rate_max:
        yield message(
            "{share} of the operations failed, {limit} are allowed",
            share=format_percentage(observation.error_rate),
            limit=format_percentage(slo.error_rate_max),
        )
    if _incomplete(observation, slo):
        completed = format_percentage(observation.completed_share or 0)
        yield message("only {share} of the offered operations completed", share=completed)
    growth = observation.backlog_growth
    if growth is not None and growth.low > 0 and growth.value > GROWTH_SHARE_MIN * (observation.offered_ops_per_s or 0):
        yield message("the backlog grows by {rate}", rate=format_rate(growth.value))
    response = observation.response
    if response is None:
        return
    # A tail of few values is no evidence for a failure either, unless even its lower bound exceeds the
    # target.
    surely_above = response.p99.low_ns is not None and response.p99.low_ns >= slo.response_p99_ns
    enough = response.p99.high_ns is not None
    missed = response.p99_ns >= (1 + HYSTERESIS) * slo.response_p99_ns and (enough or surely_above)
    if missed and not _disturbed(observation, slo):
        yield _p99_text(response, slo)


def _disturbed(observation: Observation, slo: Slo) -> bool:
    """Whether the window was not steady, and most of it within the objective."""
    steady = observation.steady
    if steady is None or steady.verdict is not Steadiness.NOT_STEADY:
        return False
    return steady.missed_share(slo.response_p99_ns) < MISSED_SHARE_MIN


def _incomplete(observation: Observation, slo: Slo) -> bool:
    """Whether operations stayed behind; not those few that merely fall across the window's edges."""
    if observation.completed_share is None or observation.offered_ops_per_s is None:
        return False
    missing = (1 - observation.completed_share) * observation.offered_ops_per_s * observation.measured_s
    return observation.completed_share < slo.completed_share_min and missing > EDGE_OPERATIONS


def _doubts(observation: Observation, slo: Slo) -> Iterator[str]:
    steady = observation.steady
    if steady is not None and steady.verdict is Steadiness.NOT_STEADY:
        yield steady.evidence
    # Restless, but never so much that a single interval missed: then the noise doesn't matter. A p99 that was missed
    # stays missed: pauses that a window shows once or twice may be the server's own, such as its checkpoints.
    if steady is not None and steady.restless and steady.missed_share(slo.response_p99_ns) > 0:
        yield steady.evidence
    if steady is not None and steady.excuses(slo.response_p99_ns):
        yield message(
            "the objective was missed in what was taken for warm-up, and the {left} after it are too short to tell it "
            "from a pause that comes again",
            left=format_duration(steady.left_ns),
        )
    response = observation.response
    if response is None:
        closed = observation.closed_loop
        yield "no response time: a closed loop has none" if closed else "no response time: nothing finished"
        return
    if response.p99_ns >= (1 + HYSTERESIS) * slo.response_p99_ns and _disturbed(observation, slo):
        yield message("{p99}, though most of the window is within it", p99=_p99_text(response, slo))
    elif response.p99_ns > (1 - HYSTERESIS) * slo.response_p99_ns:
        yield message("{p99}: too close to tell", p99=_p99_text(response, slo))
    elif response.p99.high_ns is None:
        yield message("{count} operations are too few for a p99", count=response.count)


def _p99_text(response: Latency, slo: Slo) -> str:
    target = format_duration(slo.response_p99_ns)
    return message("response p99 {p99}, target {target}", p99=p99_text(response), target=target)

"""Owns the verdict: whether a run met its objective, missed it, left it open, or proves nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from brimline.analysis.finding import Standing
from brimline.analysis.lateness import LAG_CHECK
from brimline.analysis.never_completed import EDGE_OPERATIONS
from brimline.analysis.objective import P99, ErrorObjective, LatencyObjective, Slo, quantile_name
from brimline.analysis.observation import Observation
from brimline.analysis.quantile_text import interval_text, quantile_text
from brimline.analysis.steady import Steadiness, SteadyState
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.stats.proportion import events_needed, share_interval
from brimline.stats.quantile_interval import QuantileInterval
from brimline.units import format_count, format_duration, format_percentage, format_rate
from brimline.wording import joined, message

HYSTERESIS = 0.05
"""Around the target, a quantile this close to it decides nothing: the next run could fall on the other side."""
GROWTH_SHARE_MIN = 0.001
"""Growth of the backlog, as a share of the offered rate, below which it doesn't matter."""

MISSED_SHARE_MIN = 0.5
"""Of an unsteady window, the share of intervals that must miss the objective for the server to have missed it: in fewer
a disturbance did, and what the server can do is not known."""


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


@dataclass(frozen=True, slots=True)
class ObjectiveResult:
    """One limit, how it came out, and the figures that show it.

    `name` and `figure` are what the limit is about and what was seen of it, `decided_by` with what interval it was held
    against what target; "" where a limit is on no single figure. `basis`: of a thin tail, which end of the interval
    decided.
    """

    text: str
    verdict: Verdict
    evidence: str
    name: str = ""
    figure: str = ""
    decided_by: str = ""
    basis: str = ""
    is_latency: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and why; no reasons for a pass. `objectives` tell each limit's own verdict with its evidence."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    objectives: tuple[ObjectiveResult, ...] = ()

    @property
    def shown(self) -> ObjectiveResult | None:
        """The limit whose figure stands for the verdict: the first that came out so, of a pass the first on latency."""
        figured = [each for each in self.objectives if each.figure]
        of_latency = [each for each in figured if each.is_latency] or figured
        if self.verdict is Verdict.PASS:
            return next(iter(of_latency), None)
        return next((each for each in figured if each.verdict is self.verdict), next(iter(of_latency), None))


def judge(observation: Observation, slo: Slo) -> Judgement:
    """Validity first, then the objective.

    Lag of the generator is held against each limit that was missed: where the limit could be met without it, the run
    shows the generator and not the server. A generator at its limit doesn't spoil a pass of an open loop: response
    time counts from the due time, so its lateness only makes the figure worse, and an objective that was met in spite
    of it is met. In a closed loop it asks less of the server.
    """
    failed = [each for each in observation.findings if each.verdict is Standing.FAIL]
    judgement = judge_objective(observation, slo)
    late_only = not observation.closed_loop and all(each.name in GENERATOR_CHECKS for each in failed)
    if judgement.verdict is Verdict.PASS and late_only:
        return judgement
    reasons = tuple(each.evidence for each in failed)
    if observation.closed_loop or any(each.name != LAG_CHECK for each in failed):
        return Judgement(Verdict.INVALID, reasons, judgement.objectives) if failed else judgement
    return _without_lag(observation, slo, judgement, reasons)


def _without_lag(observation: Observation, slo: Slo, judgement: Judgement, late: tuple[str, ...]) -> Judgement:
    """What is left of a verdict without the lag of the generator. `late`: why its lag spoils the run's p99, if so.

    What was missed so far that lag can't be why stays missed; where lag may be why, it is the generator that was seen.
    """
    missed = [each for each in judgement.objectives if each.verdict is Verdict.FAIL]
    why = {each.text: _lag_is_why(observation, slo, each, late=bool(late)) for each in missed}
    firm = tuple(each.evidence for each in missed if not why[each.text])
    if firm:
        return Judgement(Verdict.FAIL, firm, judgement.objectives)
    if reasons := tuple(dict.fromkeys([*late, *(why[each.text] for each in missed)])):
        return Judgement(Verdict.INVALID, reasons, judgement.objectives)
    return judgement


def _lag_is_why(observation: Observation, slo: Slo, missed: ObjectiveResult, *, late: bool) -> str:
    """Why a limit may be met without the lag, in words; "" where it is missed without it too.

    Lag makes no operation fail and no service time longer. Operations stay behind a generator whose lag is most of the
    p99 (`late`), and not behind one that is a little late.
    """
    if missed.text in {each.text for each in slo.errors}:
        return ""
    limit = next((each for each in slo.latencies if each.text == missed.text), None)
    if limit is None:
        return missed.evidence if late else ""
    if limit.clock == "service":
        return ""
    seen, effect = observation.quantile(limit.key), observation.lag_effect(limit.operation, limit.quantile)
    if effect is None or seen is None or seen.known_ns is None:
        return missed.evidence if late else ""
    if effect.without_ns > limit.limit_ns:
        return ""
    return message(
        "{evidence}: without the lag of the generator it may be {value}",
        evidence=missed.evidence,
        value=format_duration(effect.without_ns),
    )


def proves_nothing(observation: Observation, judgement: Judgement | None) -> bool:
    """Whether no figure of a run may be used. `judgement` is None for a run without an objective to judge."""
    return not observation.valid if judgement is None else judgement.verdict is Verdict.INVALID


def why_nothing(observation: Observation, judgement: Judgement | None) -> tuple[str, ...]:
    """Why no figure of such a run may be used."""
    if judgement is not None:
        return judgement.reasons
    return tuple(each.evidence for each in observation.findings if each.verdict is Standing.FAIL)


def judge_objective(observation: Observation, slo: Slo) -> Judgement:
    """Whether a run met `slo`, whatever its validity: every limit by itself, the worst decides."""
    results = (
        *(_judge_errors(observation, each) for each in slo.errors),
        *_shortfalls(observation, slo),
        *_unsteady(observation, slo),
        *(_judge_latency(observation, each) for each in slo.latencies),
    )
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        reasons = tuple(each.evidence for each in results if each.verdict is verdict)
        if reasons:
            return Judgement(verdict, reasons, results)
    return Judgement(Verdict.PASS, (), results)


def _judge_errors(observation: Observation, limit: ErrorObjective) -> ObjectiveResult:
    """A limit within the interval of the share that was seen is too close to tell, also where nothing failed."""
    failed, finished = observation.failures.get(limit.operation, (0, 0))
    if limit.operation is not None and not finished:
        return ObjectiveResult(limit.text, Verdict.INCONCLUSIVE, message("no {kind} finished", kind=limit.operation))
    share = observation.error_rate if limit.operation is None else failed / finished
    if not failed and finished:
        return _judge_none_failed(finished, limit)
    what = "the operations" if limit.operation is None else message("the {kind} operations", kind=limit.operation)
    evidence = message(
        "{share} of {what} failed, {limit} are allowed",
        share=format_percentage(share),
        what=what,
        limit=format_percentage(limit.share_max),
    )
    low, high = share_interval(failed, finished) if failed else (share, share)
    verdict = Verdict.FAIL if share > limit.share_max else Verdict.PASS
    if low <= limit.share_max < high:
        verdict, evidence = Verdict.INCONCLUSIVE, message("{evidence}: too close to tell", evidence=evidence)
    elif verdict is Verdict.FAIL and limit.operation is None and observation.most_often_failed:
        evidence = joined("; ", [evidence, observation.most_often_failed])
    return ObjectiveResult(
        limit.text,
        verdict,
        evidence,
        name="errors" if limit.operation is None else message("{kind} {figure}", kind=limit.operation, figure="errors"),
        figure=format_percentage(share),
        decided_by=message(
            "95 % CI {low} – {high}, {limit} are allowed",
            low=format_percentage(low),
            high=format_percentage(high),
            limit=format_percentage(limit.share_max),
        ),
    )


def _judge_none_failed(finished: int, limit: ErrorObjective) -> ObjectiveResult:
    """None of a few operations proves little: the bound is said, and a limit that was asked for is left open by it.

    No number of operations proves that none ever fails, so a limit of 0 asks for none in the window.
    """
    high = share_interval(0, finished)[1]
    count, allowed = format_count(finished), format_percentage(limit.share_max)
    what = "operations" if limit.operation is None else message("{kind} operations", kind=limit.operation)
    if not limit.share_max or high <= limit.share_max:
        evidence = message("none of {count} {what} failed, {limit} are allowed", count=count, what=what, limit=allowed)
        return ObjectiveResult(limit.text, Verdict.PASS, evidence)
    evidence = message(
        "none of {count} {what} failed, {limit} are allowed; so few can't rule out {bound} (95 %), {needed} could",
        count=count,
        what=what,
        limit=allowed,
        bound=format_percentage(high),
        needed=format_count(events_needed(limit.share_max)),
    )
    return ObjectiveResult(limit.text, Verdict.INCONCLUSIVE if limit.asked else Verdict.PASS, evidence)


def shortfall(observation: Observation, slo: Slo) -> bool:
    """Whether an open loop's offer was not done: operations stayed behind, or ever more of them waited."""
    return any(_shortfalls(observation, slo))


def _shortfalls(observation: Observation, slo: Slo) -> Iterator[ObjectiveResult]:
    """What stayed undone of an open loop's offer; nothing where all of it was done."""
    if _incomplete(observation, slo):
        yield ObjectiveResult(
            message("completed ≥ {share}", share=format_percentage(slo.completed_share_min)),
            Verdict.FAIL,
            _completed_text(observation.completed_share or 0),
            name="completed",
            figure=format_percentage(observation.completed_share or 0),
            decided_by=message("target {limit}", limit=format_percentage(slo.completed_share_min)),
        )
    growth = observation.backlog_growth
    if growth is not None and growth.low > 0 and growth.value > GROWTH_SHARE_MIN * (observation.offered_ops_per_s or 0):
        evidence = message("the backlog grows by {rate}", rate=format_rate(growth.value))
        yield ObjectiveResult("the backlog doesn't grow", Verdict.FAIL, evidence)


def _completed_text(share: float) -> str:
    if not share:
        return "none of the operations offered in the measured window completed"
    return message("only {share} of the offered operations completed", share=format_percentage(share))


def _incomplete(observation: Observation, slo: Slo) -> bool:
    """Whether operations stayed behind; not those few that merely fall across the window's edges."""
    if observation.completed_share is None or observation.offered_ops_per_s is None:
        return False
    return observation.completed_share < slo.completed_share_min and _missing(observation) > EDGE_OPERATIONS


def _missing(observation: Observation) -> float:
    """How many operations of an open loop's offer never completed."""
    return _missing_share(observation) * (observation.offered_ops_per_s or 0.0) * observation.measured_s


def _missing_share(observation: Observation) -> float:
    """The same as a share; 0 in a closed loop, which offers what is answered."""
    return 0.0 if observation.completed_share is None else 1 - observation.completed_share


def _judge_latency(observation: Observation, limit: LatencyObjective) -> ObjectiveResult:
    seen = observation.quantile(limit.key)
    if seen is None:
        return ObjectiveResult(limit.text, Verdict.INCONCLUSIVE, _unseen_text(observation, limit))
    target = format_duration(limit.limit_ns)
    evidence = message("{name} {figure}, target {limit}", name=limit.name, figure=_figure_text(seen), limit=target)
    verdict, reason = _latency_verdict(observation, limit, seen, evidence)
    basis = _basis(seen, limit, verdict)
    return ObjectiveResult(
        limit.text,
        verdict,
        joined("; ", [reason, basis]) if basis and verdict is Verdict.FAIL else reason,
        name=limit.name,
        figure=quantile_text(seen),
        decided_by=message("{interval}, target {limit}", interval=interval_text(seen), limit=target),
        basis=basis,
        is_latency=True,
    )


def _latency_verdict(
    observation: Observation, limit: LatencyObjective, seen: QuantileInterval, evidence: str
) -> tuple[Verdict, str]:
    """How it came out, and why."""
    missed = seen.value_ns >= (1 + HYSTERESIS) * limit.limit_ns
    if missed and _disturbed(observation.steady, limit):
        doubt = message("{evidence}, though most of the window is within it", evidence=evidence)
        return Verdict.INCONCLUSIVE, doubt
    if missed and _can_fail(seen, limit):
        return Verdict.FAIL, evidence
    if seen.known_ns is None and limit.quantile is None:
        doubt = message(
            "{evidence}: {share} of the operations never completed, and a mean without them is none",
            evidence=evidence,
            share=format_percentage(seen.never_share),
        )
        return Verdict.INCONCLUSIVE, doubt
    if seen.known_ns is None:
        doubt = message(
            "{evidence}: it lies among the {share} of the operations that never completed",
            evidence=evidence,
            share=format_percentage(seen.never_share),
        )
        return Verdict.INCONCLUSIVE, doubt
    if seen.value_ns > (1 - HYSTERESIS) * limit.limit_ns:
        return Verdict.INCONCLUSIVE, message("{evidence}: too close to tell", evidence=evidence)
    if seen.high_ns is None:
        return Verdict.INCONCLUSIVE, _no_upper_end_text(seen, limit, evidence)
    return Verdict.PASS, evidence


def _basis(seen: QuantileInterval, limit: LatencyObjective, verdict: Verdict) -> str:
    """What decided where the interval does not: a thin tail passed, or its interval holds a target that was missed."""
    if verdict is Verdict.FAIL and seen.low_ns is not None and seen.low_ns <= limit.limit_ns:
        return "its interval begins within the target, and its estimate decides"
    if verdict is not Verdict.PASS or seen.enough or seen.high_ns is None:
        return ""
    high = format_duration(seen.high_ns)
    if seen.high_ns <= limit.limit_ns:
        return message("the upper end of its interval, {high}, is within the target", high=high)
    return message(
        "its estimate, {value}, is within the target, the upper end of its interval, {high}, is not",
        value=format_duration(seen.value_ns),
        high=high,
    )


def _figure_text(seen: QuantileInterval) -> str:
    """The figure as it stands everywhere; of a thin tail, whose lower end that is, with interval and estimate."""
    if seen.enough or seen.low_ns is None or seen.high_ns is None:
        return quantile_text(seen)
    return message(
        "{value} (95 % CI {low} – {high}, estimate {estimate})",
        value=quantile_text(seen),
        estimate=format_duration(seen.value_ns),
        low=format_duration(seen.low_ns),
        high=format_duration(seen.high_ns),
    )


def _disturbed(steady: SteadyState | None, limit: LatencyObjective) -> bool:
    """Whether the window was not steady, and most of it within the limit.

    Intervals are known by quantiles of all operations up to p99, which say nothing of rarer ones or of one kind.
    """
    if steady is None or steady.verdict is not Steadiness.NOT_STEADY:
        return False
    known = limit.operation is None and (limit.quantile or 0.0) <= P99
    return known and steady.missed_share(limit) < MISSED_SHARE_MIN


def _unsteady(observation: Observation, slo: Slo) -> Iterator[ObjectiveResult]:
    """What keeps a window from telling anything, whatever its figures; nothing where it was steady.

    A limit is held against what intervals are known by for it: its own quantile, or the p99 of all operations, with
    which an interval hides nothing of a rarer quantile or a single kind.
    """
    steady = observation.steady
    if steady is None:
        return
    # Restless, but never so much that a single interval missed: then the noise doesn't matter. A figure that was missed
    # stays missed: pauses that a window shows once or twice may be the server's own, such as its checkpoints. Of a
    # closed loop only throughput is known by interval.
    noisy = steady.restless and (not steady.times or any(steady.missed_share(each) > 0 for each in slo.latencies))
    if steady.verdict is Steadiness.NOT_STEADY or noisy:
        yield ObjectiveResult("steady state", Verdict.INCONCLUSIVE, steady.evidence)
    if any(steady.excuses(each) for each in slo.latencies):
        evidence = message(
            "the objective was missed in what was taken for warm-up, and the {left} after it are too short to tell it "
            "from a pause that comes again",
            left=format_duration(steady.left_ns),
        )
        yield ObjectiveResult("steady state", Verdict.INCONCLUSIVE, evidence)


def _can_fail(seen: QuantileInterval, limit: LatencyObjective) -> bool:
    """A tail of few values is no evidence for a failure, unless even its lower bound exceeds the target."""
    return seen.high_ns is not None or (seen.low_ns is not None and seen.low_ns >= limit.limit_ns)


def _unseen_text(observation: Observation, limit: LatencyObjective) -> str:
    if limit.clock == "response" and observation.closed_loop:
        return "no response time: a closed loop has none"
    if limit.operation is not None:
        return message("no {kind} finished", kind=limit.operation)
    return message("no {clock} time: nothing finished", clock=limit.clock)


def _no_upper_end_text(seen: QuantileInterval, limit: LatencyObjective, evidence: str) -> str:
    if seen.is_open:
        return message(
            "{evidence}, without an upper end: {share} of the operations never completed",
            evidence=evidence,
            share=format_percentage(seen.never_share),
        )
    if limit.quantile is None:
        return "the window is too short to tell how well its mean is known"
    what = "operations" if limit.operation is None else message("{kind} operations", kind=limit.operation)
    return message(
        "{count} {what} are too few for a {quantile}",
        count=format_count(seen.count),
        what=what,
        quantile=quantile_name(limit.quantile),
    )

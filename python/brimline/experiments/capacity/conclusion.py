"""Owns what a capacity search concludes: the number with its interval and reason, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind
from brimline.experiments.axis import On
from brimline.experiments.capacity.bracket import BracketState
from brimline.experiments.capacity.headline import definitions, headline
from brimline.experiments.capacity.interval import sustained_estimate
from brimline.experiments.capacity.outcome import Judged, TrialOutcome, usable
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.capacity.stopped_by import stopped_by
from brimline.experiments.settings import CHECKPOINT_S, CapacitySettings
from brimline.experiments.sweep import SweepConclusion, SweepEnd, withdrawn
from brimline.experiments.trial import TARGET_LOST, Trial, broken_off
from brimline.record.layout import RUNNING
from brimline.stats.estimate import Estimate
from brimline.units import format_percentage, format_rate
from brimline.wording import joined, message

PLATEAU_EXCEEDED = 1.05
"""Multiple of the plateau above which a probe contradicts it: a level of the sweep that gains less is still on it."""


class ConclusionKind(StrEnum):
    """How a search ended. Only `sustained` carries a number."""

    SUSTAINED = "sustained"
    SLO_UNREACHABLE = "slo_unreachable"
    CLIENT_LIMITED = "client_limited"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    TARGET_LOST = "target_lost"
    INCOMPLETE = "incomplete"

    @property
    def exit_code(self) -> int:
        """0 a number, 3 the objective can't be met, 5 the target went away, 4 nothing is proven."""
        return {
            ConclusionKind.SUSTAINED: 0,
            ConclusionKind.SLO_UNREACHABLE: 3,
            ConclusionKind.TARGET_LOST: 5,
        }.get(self, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityConclusion:
    """What a search found.

    `headline` is one line for people; `reason` says why there is no number, "" where there is one.
    The value of `sustained` is the verified load, `verified`: of the `verification_windows` at that very load
    the objective held in `verifications`. `highest_passed` and `lowest_failed` are loads of single probes.
    `judged` are the open-loop probes with their outcomes. `definitions` are to be printed with the figures.
    """

    kind: ConclusionKind
    headline: str
    reason: str
    sustained: Estimate | None
    saturation_ops_per_s: float | None
    saturation: Estimate | None
    knee_connections: int | None
    sweep: SweepConclusion
    bottleneck: Bottleneck | None
    quotable: bool
    reasons_not_quotable: tuple[str, ...]
    null_ceiling_ops_per_s: float | None
    highest_passed: float | None
    lowest_failed: float | None
    open_loop_connections: int | None
    verified: float | None
    verifications: int
    verification_windows: int
    judged: tuple[Judged, ...]
    spent_s: float
    unsettled: tuple[str, ...]
    definitions: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """Exit code of the command line."""
        return self.kind.exit_code


def conclude(
    trials: Sequence[Trial], state: SearchState, *, finished: bool, unsettled: tuple[str, ...], seed: int
) -> CapacityConclusion:
    """What `trials`, whose state is `state`, show.

    `finished`: the search has no further probe to ask for. `unsettled`: what its budget left open.
    """
    settings = state.settings
    kind, reason = _ending(trials, state, finished=finished)
    sustained = None
    if kind is ConclusionKind.SUSTAINED:
        sustained = sustained_estimate(trials, state, seed)
        if settings.axis.too_wide(sustained, width_max=settings.width_max):
            kind, reason = ConclusionKind.INCONCLUSIVE, _too_wide(sustained, settings)
            sustained = None
    limit = stopped_by(state)
    if sustained is not None and limit is not None and limit.kind is BottleneckKind.GENERATOR:
        kind, reason, sustained = ConclusionKind.CLIENT_LIMITED, limit.text, None
    not_quotable = _reasons_not_quotable(state, kind, limit)
    at_verified = [] if sustained is None else [each for each in usable(state.judged) if each.load == sustained.value]
    held = sum(each.outcome is TrialOutcome.PASS for each in at_verified)
    saturated = kind is not ConclusionKind.CLIENT_LIMITED
    # Where the generator was the limit, levels and plateau are its own, and so would be a knee.
    sweep = _unless_exceeded(state) if saturated else replace(state.sweep, knee=None, band=None)
    passed = [each.load for each in state.deciding if each.outcome is TrialOutcome.PASS]
    failed = [each.load for each in state.deciding if each.outcome is TrialOutcome.FAIL]
    return CapacityConclusion(
        kind=kind,
        headline=message("{ending}: {reason}", ending=_NO_NUMBER[kind], reason=reason)
        if sustained is None
        else headline(sustained, settings, sweep, limit, quotable=not not_quotable),
        reason=reason,
        sustained=sustained,
        saturation_ops_per_s=sweep.saturation_ops_per_s if saturated else None,
        saturation=sweep.saturation if saturated else None,
        knee_connections=sweep.knee_connections,
        sweep=sweep,
        bottleneck=limit,
        quotable=not not_quotable,
        reasons_not_quotable=not_quotable,
        null_ceiling_ops_per_s=state.null_ceiling_ops_per_s,
        highest_passed=max(passed, default=None),
        lowest_failed=min(failed, default=None),
        open_loop_connections=state.open_loop_connections if state.judged else None,
        verified=None if sustained is None else sustained.value,
        verifications=held,
        verification_windows=len(at_verified),
        judged=state.judged,
        spent_s=state.spent_s,
        unsettled=unsettled,
        definitions=definitions(settings),
    )


def _unless_exceeded(state: SearchState) -> SweepConclusion:
    """The sweep; without its plateau where a later probe that counts did clearly more than that."""
    plateau = state.sweep.saturation_ops_per_s
    most = max(usable(state.judged), key=lambda each: each.trial.observation.throughput_ops_per_s, default=None)
    if plateau is None or most is None:
        return state.sweep
    answered = most.trial.observation.throughput_ops_per_s
    if answered <= PLATEAU_EXCEEDED * plateau:
        return state.sweep
    return withdrawn(
        state.sweep,
        message(
            "the sweep reached {plateau}, and {what} {rate}",
            plateau=format_rate(plateau),
            what=most.probe.text,
            rate=format_rate(answered),
        ),
    )


def _ending(trials: Sequence[Trial], state: SearchState, *, finished: bool) -> tuple[ConclusionKind, str]:
    """How the search ended, before the interval is known, and why there is no number."""
    axis, broken = state.settings.axis, broken_off(trials)
    if broken is not None:
        return _broken_off(broken)
    if not finished:
        ended = message(
            "not done after {count} probe" if len(trials) == 1 else "not done after {count} probes",
            count=len(trials),
        )
        return ConclusionKind.INCOMPLETE, ended
    if state.sweep.ended_by in (SweepEnd.CLIENT_LIMITED, SweepEnd.INVALID):
        limited = state.sweep.ended_by is SweepEnd.CLIENT_LIMITED
        kind = ConclusionKind.CLIENT_LIMITED if limited else ConclusionKind.INVALID
        return kind, message("in the sweep {reason}", reason=state.sweep.reason)
    if state.plateau_ops_per_s <= 0:
        return ConclusionKind.INVALID, "no operation was answered"
    if state.spoilt is not None:
        limited = state.spoilt.outcome is TrialOutcome.CLIENT_LIMITED
        kind = ConclusionKind.CLIENT_LIMITED if limited else ConclusionKind.INVALID
        return kind, message(
            "at {load}: {reasons}", load=axis.text(state.spoilt.load), reasons=joined("; ", state.spoilt.reasons)
        )
    if state.bracket.state is BracketState.UNREACHABLE:
        lowest = min(state.judged, key=lambda each: each.load)
        failed = lowest.outcome is TrialOutcome.FAIL
        kind = ConclusionKind.SLO_UNREACHABLE if failed else ConclusionKind.INCONCLUSIVE
        return kind, message(
            "at {load} already: {reasons}", load=axis.text(lowest.load), reasons=joined("; ", lowest.reasons)
        )
    if state.bracket.state is BracketState.UNLIMITED:
        highest = max(each.load for each in state.judged)
        if state.settings.load_max is not None and highest >= state.settings.load_max:
            return ConclusionKind.INCONCLUSIVE, message(
                "no limit found up to {load}, the most that can be tried here", load=axis.text(highest)
            )
        return ConclusionKind.INCONCLUSIVE, message("no limit found up to {load}", load=axis.text(highest))
    if state.sweep.ended_by is SweepEnd.INCOMPLETE:
        return ConclusionKind.INCONCLUSIVE, "the time ran out during the sweep"
    if state.bracket.state is BracketState.OPEN:
        return ConclusionKind.INCONCLUSIVE, "the time ran out before the limit was bracketed"
    if state.verification().verified_level() is None:
        return ConclusionKind.INCONCLUSIVE, _unverified(state)
    return ConclusionKind.SUSTAINED, ""


def _broken_off(trial: Trial) -> tuple[ConclusionKind, str]:
    observation = trial.observation
    what = trial.probe.text
    if observation.ended_by in ("stopped", "interrupt"):
        return ConclusionKind.INCOMPLETE, message("interrupted during {what}", what=what)
    if observation.ended_by == RUNNING:
        return ConclusionKind.INCOMPLETE, message("{what} is still under way", what=what)
    ended = message("{what} did not end ({how})", what=what, how=observation.ended_by.replace("_", " "))
    if observation.message:
        ended = message("{ended}: {why}", ended=ended, why=observation.message)
    # A search that was killed, or that met an error of its own, says nothing of the target.
    lost = observation.ended_by == TARGET_LOST
    return ConclusionKind.TARGET_LOST if lost else ConclusionKind.INCOMPLETE, ended


def _unverified(state: SearchState) -> str:
    verification = state.verification()
    if verification.exhausted():
        down = format_percentage(1 - verification.load(state.settings.steps_down_max) / verification.load(0), digits=2)
        return message(
            "too noisy: no {load} down to {down} below the candidate held {count} times",
            load="rate" if state.settings.on is On.RATE else "number",
            down=down,
            count=state.settings.verifications,
        )
    best = verification.most_passes()
    return message(
        "the time ran out with {count} of {wanted} verifications", count=best, wanted=state.settings.verifications
    )


def _too_wide(sustained: Estimate, settings: CapacitySettings) -> str:
    width = format_percentage(sustained.relative_width, digits=2)
    allowed = format_percentage(settings.width_max)
    low, high = (settings.axis.text(each) for each in (sustained.low, sustained.high))
    return message(
        "too noisy: the interval {low} to {high} is {width} wide, {allowed} are allowed",
        low=low,
        high=high,
        width=width,
        allowed=allowed,
    )


def _reasons_not_quotable(state: SearchState, kind: ConclusionKind, limit: Bottleneck | None) -> tuple[str, ...]:
    reasons: list[str] = []
    if kind is not ConclusionKind.SUSTAINED:
        reasons.append("no sustained rate was found")
    if not state.settings.windows_span_checkpoints:
        window = f"{state.settings.ramp_up_s or state.settings.verify_s:g} s"
        reasons.append(
            message(
                "windows of {window} are shorter than the {between:g} s between checkpoints",
                window=window,
                between=CHECKPOINT_S,
            )
        )
    if any(each.trial.observation.server.shared_host for each in state.judged):
        reasons.append("generator and server share a host")
    if limit is not None and limit.kind is BottleneckKind.HOST:
        reasons.append("other programs used the server's host")
    return tuple(reasons)


_NO_NUMBER = {
    ConclusionKind.SLO_UNREACHABLE: "the objective can't be met",
    ConclusionKind.CLIENT_LIMITED: "no capacity: the generator was the limit",
    ConclusionKind.INCONCLUSIVE: "no capacity: inconclusive",
    ConclusionKind.INVALID: "no capacity: the probes are invalid",
    ConclusionKind.TARGET_LOST: "no capacity: the target was lost",
    ConclusionKind.INCOMPLETE: "no capacity: the search was not finished",
}

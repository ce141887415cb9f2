"""Owns what a capacity search concludes: the number with its interval and reason, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind, bottleneck
from brimline.analysis.verdict import Slo
from brimline.experiments.bracket import BracketState
from brimline.experiments.outcome import Judged, TrialOutcome, contradicted_range, usable
from brimline.experiments.search_state import SearchState
from brimline.experiments.settings import CHECKPOINT_S, CapacitySettings
from brimline.experiments.sweep import REPEATS_MIN, SweepConclusion, SweepEnd
from brimline.experiments.trial import Trial, broken_off, of_stage
from brimline.stats.batch_means import mean_interval
from brimline.stats.estimate import Estimate
from brimline.units import (
    NS_PER_MS,
    format_count,
    format_number,
    format_percentage,
    format_rate,
)
from brimline.wording import joined, message

SAME_OPERATING_POINT = 1.05
"""Failed probes up to this multiple of the lowest failed rate may say what was full there."""


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
    The value of `sustained` is the verified rate, `verified_ops_per_s`: of the `verification_windows` at that very rate
    the objective held in `verifications`. `highest_passed` and `lowest_failed` are rates in ops/s of single probes.
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
    highest_passed_ops_per_s: float | None
    lowest_failed_ops_per_s: float | None
    open_loop_connections: int | None
    verified_ops_per_s: float | None
    verifications: int
    verification_windows: int
    judged: tuple[Judged, ...]
    spent_s: float
    definitions: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """Exit code of the command line."""
        return self.kind.exit_code


def conclude(trials: Sequence[Trial], state: SearchState, *, finished: bool, seed: int) -> CapacityConclusion:
    """What `trials`, whose state is `state`, show. `finished`: the search has no further probe to ask for."""
    settings = state.settings
    kind, reason = _ending(trials, state, finished=finished)
    sustained = None
    if kind is ConclusionKind.SUSTAINED:
        sustained = _sustained(trials, state, seed)
        if sustained.relative_width > settings.width_max:
            kind, reason = ConclusionKind.INCONCLUSIVE, _too_wide(sustained, settings)
            sustained = None
    limit = _bottleneck(state)
    if sustained is not None and limit is not None and limit.kind is BottleneckKind.GENERATOR:
        kind, reason, sustained = ConclusionKind.CLIENT_LIMITED, limit.text, None
    not_quotable = _reasons_not_quotable(state, kind, limit)
    at_verified = [] if sustained is None else [each for each in usable(state.judged) if each.rate == sustained.value]
    held = sum(each.outcome is TrialOutcome.PASS for each in at_verified)
    saturated = kind is not ConclusionKind.CLIENT_LIMITED
    passed = [each.rate for each in state.judged if each.outcome is TrialOutcome.PASS]
    failed = [each.rate for each in state.judged if each.outcome is TrialOutcome.FAIL]
    return CapacityConclusion(
        kind=kind,
        headline=_headline(kind, reason, sustained, state, limit, not_quotable),
        reason=reason,
        sustained=sustained,
        saturation_ops_per_s=state.sweep.saturation_ops_per_s if saturated else None,
        saturation=state.sweep.saturation if saturated else None,
        knee_connections=state.sweep.knee_connections,
        sweep=state.sweep,
        bottleneck=limit,
        quotable=not not_quotable,
        reasons_not_quotable=not_quotable,
        null_ceiling_ops_per_s=state.null_ceiling_ops_per_s,
        highest_passed_ops_per_s=max(passed, default=None),
        lowest_failed_ops_per_s=min(failed, default=None),
        open_loop_connections=state.open_loop_connections if state.judged else None,
        verified_ops_per_s=None if sustained is None else sustained.value,
        verifications=held,
        verification_windows=len(at_verified),
        judged=state.judged,
        spent_s=state.spent_s,
        definitions=definitions(settings),
    )


def definitions(settings: CapacitySettings) -> tuple[str, ...]:
    """What the figures mean."""
    slo = settings.slo
    window = f"{settings.verify_s:g} s"
    return (
        message(
            "sustained: highest offered rate found at which, over {window}, {slo}, at most {failing} of the operations "
            "fail, at least {complete} of the offered ones complete and the backlog doesn't grow; "
            "seen in at least {count} windows at that very rate",
            window=window,
            slo=_slo_text(slo),
            failing=format_percentage(slo.error_rate_max),
            complete=format_percentage(slo.completed_share_min),
            count=settings.verifications,
        ),
        "saturation throughput: plateau of throughput when each connection sends as soon as it is answered",
        "knee: the fewest connections that reach 95 % of the plateau",
    )


def _ending(trials: Sequence[Trial], state: SearchState, *, finished: bool) -> tuple[ConclusionKind, str]:
    """How the search ended, before the interval is known, and why there is no number."""
    broken = broken_off(trials)
    if broken is not None:
        return _broken_off(broken)
    if not finished:
        ended = message("ended after {count} probes, before it was done", count=len(trials))
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
        reasons = joined("; ", state.spoilt.reasons)
        return kind, message("at {rate}: {reasons}", rate=format_rate(state.spoilt.rate), reasons=reasons)
    if state.bracket.state is BracketState.UNREACHABLE:
        lowest = min(state.judged, key=lambda each: each.rate)
        failed = lowest.outcome is TrialOutcome.FAIL
        kind = ConclusionKind.SLO_UNREACHABLE if failed else ConclusionKind.INCONCLUSIVE
        reasons = joined("; ", lowest.reasons)
        return kind, message("at {rate} already: {reasons}", rate=format_rate(lowest.rate), reasons=reasons)
    if state.bracket.state is BracketState.UNLIMITED:
        highest = max(each.rate for each in state.judged)
        return ConclusionKind.INCONCLUSIVE, message("no limit found up to {rate}", rate=format_rate(highest))
    if state.bracket.state is BracketState.OPEN:
        return ConclusionKind.INCONCLUSIVE, "the time ran out before the limit was bracketed"
    if state.verification().verified_level() is None:
        return ConclusionKind.INCONCLUSIVE, _unverified(state)
    return ConclusionKind.SUSTAINED, ""


def _broken_off(trial: Trial) -> tuple[ConclusionKind, str]:
    observation = trial.observation
    what = message("the {stage} probe {label}", stage=trial.probe.stage, label=trial.probe.label)
    if observation.ended_by in ("stopped", "interrupt"):
        return ConclusionKind.INCOMPLETE, message("interrupted during {what}", what=what)
    ended = message("{what} did not end ({how})", what=what, how=observation.ended_by.replace("_", " "))
    if observation.message:
        ended = message("{ended}: {why}", ended=ended, why=observation.message)
    return ConclusionKind.TARGET_LOST, ended


def _unverified(state: SearchState) -> str:
    verification = state.verification()
    if verification.exhausted():
        down = format_percentage(1 - verification.rate(state.settings.steps_down_max) / verification.rate(0), digits=2)
        return message(
            "too noisy: no rate down to {down} below the candidate held {count} times",
            down=down,
            count=state.settings.verifications,
        )
    best = verification.most_passes()
    needed = state.settings.verifications
    return message("the time ran out with {count} of {needed} verifications", count=best, needed=needed)


def _too_wide(sustained: Estimate, settings: CapacitySettings) -> str:
    return message(
        "too noisy: the interval {low} to {high} is {width} wide, {allowed} are allowed",
        low=format_rate(sustained.low),
        high=format_rate(sustained.high),
        width=format_percentage(sustained.relative_width, digits=2),
        allowed=format_percentage(settings.width_max),
    )


def _sustained(trials: Sequence[Trial], state: SearchState, seed: int) -> Estimate:
    """The verified rate, with the interval of the threshold over resampled probes.

    Passing several times in a row is more than passing half the time, so that the verified rate is rather low:
    the interval reaches up to the threshold that fits all probes. It is never narrower than the grid: it reaches
    at least from the level below the verified rate to the level above, and over all rates at which probes
    contradicted each other. Nor is it narrower than the interval of the throughput that the same server showed
    when it was saturated: where that varies from run to run, so does the sustained rate.
    """
    verification = state.verification()
    level = verification.verified_level() or 0
    below, value, above = (verification.rate(each) for each in (level + 1, level, level - 1))
    posterior = state.posterior("bracket", "bisect", "verify")
    low, high = posterior.bootstrap_interval(seed=seed)
    contradicted = contradicted_range(state.judged) or (value, value)
    spread = _saturated_spread(trials, state)
    return Estimate(
        value=value,
        low=min(low, below, contradicted[0], value * (1 - spread)),
        high=max(high, posterior.quantile(0.5), above, contradicted[1], value * (1 + spread)),
        unit="ops/s",
    )


def _saturated_spread(trials: Sequence[Trial], state: SearchState) -> float:
    """Half the interval of the throughput of saturated runs, as a share of it; 0 with fewer than 3 alike.

    Two kinds of runs are saturated: the closed-loop ones at the knee, and the open-loop ones that could not complete
    what was offered. They are not thrown together, nor with closed-loop runs of other connections: what these change is
    the server's nature and no noise.
    """
    swept = [
        trial.observation.throughput_ops_per_s
        for trial in of_stage(trials, "sweep")
        if trial.probe.connections == state.sweep.knee_connections
    ]
    overloaded = [
        each.trial.observation.throughput_ops_per_s
        for each in state.judged
        if (each.trial.observation.completed_share or 1.0) < state.settings.slo.completed_share_min
    ]
    return max(_spread(swept), _spread(overloaded))


def _spread(rates: Sequence[float]) -> float:
    if len(rates) < REPEATS_MIN:
        return 0.0
    mean = mean_interval(rates, unit="ops/s", independent=True)
    return min((mean.high - mean.value) / mean.value, 1.0)


def _bottleneck(state: SearchState) -> Bottleneck | None:
    """What was full at the lowest rates that failed; undetermined where that tells nothing, None where none failed.

    A probe that the generator limited was repeated, so it decides only where none failed on the server's account.
    The closed-loop sweep ran at another operating point: what was full there is evidence and no answer. It answers only
    where the search ended at it.
    """
    if state.sweep.ended_by in (SweepEnd.CLIENT_LIMITED, SweepEnd.INVALID):
        return state.sweep.bottleneck
    failed = [each for each in state.judged if each.outcome is TrialOutcome.FAIL]
    limited = [each for each in state.judged if each.outcome is TrialOutcome.CLIENT_LIMITED]
    if state.spoilt in limited:
        failed = []  # the generator ended the search
    found = [
        (
            each,
            bottleneck(
                each.trial.observation,
                null_ceiling_ops_per_s=state.null_ceiling_ops_per_s,
                plateau_connections=state.sweep.knee_connections,
            ),
        )
        for each in sorted(failed or limited, key=lambda each: each.rate)
    ]
    if not found:
        return None
    # What failed below the verified rate was a disturbance, and far above it other things get full.
    verified = state.verification().verified_level()
    held = 0.0 if verified is None else state.verification().rate(verified)
    above = [each for each in found if each[0].rate >= held] or found
    near = [each for each in above if each[0].rate <= SAME_OPERATING_POINT * above[0][0].rate]
    known = [each for each in near if each[1].kind is not BottleneckKind.UNDETERMINED]
    probe, limit = (known or near)[0]
    remarks = [message("seen in the probe at {rate}", rate=format_rate(probe.rate, digits=4))]
    if not known:
        beyond = [each for each in above if each[1].kind is not BottleneckKind.UNDETERMINED]
        remarks += [
            message("at {rate}: {limit}", rate=format_rate(other.rate, digits=4), limit=what.text)
            for other, what in beyond[:1]
        ]
    if not known and state.sweep.bottleneck is not None:
        remarks.append(message("at saturation (closed loop): {limit}", limit=state.sweep.bottleneck.text))
    return replace(limit, remarks=tuple(remarks))


def _reasons_not_quotable(state: SearchState, kind: ConclusionKind, limit: Bottleneck | None) -> tuple[str, ...]:
    reasons: list[str] = []
    if kind is not ConclusionKind.SUSTAINED:
        reasons.append("no sustained rate was found")
    if not state.settings.windows_span_checkpoints:
        reasons.append(
            message(
                "windows of {window:g} s are shorter than the {checkpoint:g} s between checkpoints",
                window=state.settings.verify_s,
                checkpoint=CHECKPOINT_S,
            )
        )
    if any(each.trial.observation.server.shared_host for each in state.judged):
        reasons.append("generator and server share a host")
    if limit is not None and limit.kind is BottleneckKind.HOST:
        reasons.append("other programs used the server's host")
    return tuple(reasons)


def sustained_parts(sustained: Estimate) -> tuple[str, str]:
    """The verified rate as it was offered, digit for digit, and its interval: `9 130`, `95 % CI 8 900–9 400`."""
    return format_number(sustained.value, digits=4), sustained.interval_text


def _headline(
    kind: ConclusionKind,
    reason: str,
    sustained: Estimate | None,
    state: SearchState,
    limit: Bottleneck | None,
    not_quotable: Sequence[str],
) -> str:
    if sustained is None:
        return message("{what}: {reason}", what=_NO_NUMBER[kind], reason=reason)
    figure, interval = sustained_parts(sustained)
    found = {"figure": figure, "unit": sustained.unit, "interval": interval, "slo": _slo_text(state.settings.slo)}
    parts: list[str] = [message("sustained {figure} {unit} ({interval}) at {slo}", **found)]
    if state.sweep.knee_connections is not None:
        knee = format_count(state.sweep.knee_connections)
        parts.append(message("knee at {connections} connections", connections=knee))
    if limit is not None:
        undetermined = limit.kind is BottleneckKind.UNDETERMINED
        stopped_by = message("stopped by {limit}", limit=limit.text)
        parts.append("bottleneck undetermined" if undetermined else stopped_by)
    if not_quotable:
        parts.append("quick look, not quotable" if state.settings.preset == "quick" else "not quotable")
    return joined("; ", parts)


_NO_NUMBER = {
    ConclusionKind.SLO_UNREACHABLE: "the objective can't be met",
    ConclusionKind.CLIENT_LIMITED: "no capacity: the generator was the limit",
    ConclusionKind.INCONCLUSIVE: "no capacity: inconclusive",
    ConclusionKind.INVALID: "no capacity: the probes are invalid",
    ConclusionKind.TARGET_LOST: "no capacity: the target was lost",
    ConclusionKind.INCOMPLETE: "no capacity: the search was not finished",
}


def _slo_text(slo: Slo) -> str:
    return message("response p99 ≤ {target:g} ms", target=slo.response_p99_ns / NS_PER_MS)

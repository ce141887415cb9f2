"""Owns what a capacity search concludes: the number with its interval and reason, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind
from brimline.experiments.capacity.estimate import Found, find, why_wide
from brimline.experiments.capacity.headline import definitions, grade_definition, headline
from brimline.experiments.capacity.machine import Movement
from brimline.experiments.capacity.outcome import Judged, TrialOutcome, usable
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.capacity.stopped_by import stopped_by
from brimline.experiments.settings import CHECKPOINT_S, CapacitySettings, Grade
from brimline.experiments.sweep import SweepConclusion, SweepEnd, withdrawn
from brimline.experiments.trial import Trial, broken_off
from brimline.record.layout import RUNNING, TARGET_LOST
from brimline.stats.estimate import Estimate
from brimline.units import format_percentage, format_rate
from brimline.wording import joined, message

PLATEAU_EXCEEDED = 1.05
"""Multiple of the plateau above which a probe contradicts it: a level of the sweep that gains less is still on it."""
WITHOUT_SERVER = "there was no server"
"""Why a search against the null target has no figure."""
RAN_OUT = "the time ran out before the first window"
"""Why a search has no figure whose budget did not reach to the first window."""


class ConclusionKind(StrEnum):
    """How a search ended. `sustained` and `bounded` carry a figure; `incomplete` carries what is known so far."""

    SUSTAINED = "sustained"
    BOUNDED = "bounded"
    SLO_UNREACHABLE = "slo_unreachable"
    CLIENT_LIMITED = "client_limited"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    TARGET_LOST = "target_lost"
    INCOMPLETE = "incomplete"

    @property
    def exit_code(self) -> int:
        """0 a figure, 3 the objective can't be met, 5 the target went away, 4 nothing is proven."""
        return {
            ConclusionKind.SUSTAINED: 0,
            ConclusionKind.BOUNDED: 0,
            ConclusionKind.SLO_UNREACHABLE: 3,
            ConclusionKind.TARGET_LOST: 5,
        }.get(self, 4)


NO_FIGURE = {
    ConclusionKind.SLO_UNREACHABLE: "the objective can't be met",
    ConclusionKind.CLIENT_LIMITED: "no capacity: the generator was the limit",
    ConclusionKind.INCONCLUSIVE: "no capacity: inconclusive",
    ConclusionKind.INVALID: "no capacity: the probes are invalid",
    ConclusionKind.TARGET_LOST: "no capacity: the target was lost",
    ConclusionKind.INCOMPLETE: "no capacity: the search was not finished",
}
"""How a search is called that has no figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityConclusion:
    """What a search found.

    `headline` is one line for people; `reason` says why there is no figure, "" where there is one.
    `sustained` is the highest load at which a share `hold` of the windows meets the objective, `grade` says how it is
    known; where only one side is known, the load is `at_least` or `at_most`. `not_narrower` says why the interval is no
    narrower, `missed` what was asked for beside the objective and not reached. At the figure itself the objective held
    in `verifications` of `verification_windows`. `highest_passed` and `lowest_failed` are loads of single probes.
    `judged` are the probes at a load with their outcomes. `definitions` are to be printed with the figures.
    `another_client`: during a probe the server did work that brimline didn't send. `lacked`: which probe could not have
    all of its connections, "" where all could.
    """

    kind: ConclusionKind
    headline: str
    reason: str
    grade: Grade | None
    sustained: Estimate | None
    at_least: float | None
    at_most: float | None
    hold: float
    disturbed_share: float | None
    spread: float | None
    movement: Movement | None
    not_narrower: tuple[str, ...]
    missed: tuple[str, ...]
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
    verifications: int
    verification_windows: int
    judged: tuple[Judged, ...]
    another_client: bool
    lacked: str
    spent_s: float
    unsettled: tuple[str, ...]
    definitions: tuple[str, ...]

    @property
    def figure(self) -> float | None:
        """The load that stands for the search: the sustained one, or the bound."""
        return next(
            (each for each in (self.sustained and self.sustained.value, self.at_least, self.at_most) if each), None
        )

    @property
    def exit_code(self) -> int:
        """Exit code of the command line: 4 also for a figure that is known less well than was asked for."""
        return 4 if self.missed and self.kind.exit_code == 0 else self.kind.exit_code


def conclude(
    trials: Sequence[Trial], state: SearchState, *, finished: bool, unsettled: tuple[str, ...]
) -> CapacityConclusion:
    """What `trials`, whose state is `state`, show.

    `finished`: the search has no further probe to ask for. `unsettled`: what its budget left open.
    """
    settings = state.settings
    ended, why = _ended_early(trials, state, finished=finished)
    found = find(state) if state.judged and ended in (None, ConclusionKind.INCOMPLETE) else Found()
    limit = stopped_by(state, found)
    kind, reason = (ended, why) if ended is not None else _kind(state, found, limit)
    not_quotable = _reasons_not_quotable(state, found, limit)
    saturated = not found.generator_ended and state.sweep.ended_by is not SweepEnd.CLIENT_LIMITED
    # Where the generator was the limit, levels and plateau are its own, and so would be a knee.
    sweep = _unless_exceeded(state) if saturated else replace(state.sweep, knee=None, band=None)
    passed = [each.load for each in state.deciding if each.outcome is TrialOutcome.PASS]
    failed = [each.load for each in state.deciding if each.outcome is TrialOutcome.FAIL]
    not_narrower = () if found.sustained is None else why_wide(state, found.sustained, unsettled)
    moved = state.movement.text if state.movement and state.movement.text in not_narrower[:1] else ""
    has_figure = found.grade is not None and kind is not ConclusionKind.SLO_UNREACHABLE
    return CapacityConclusion(
        kind=kind,
        headline=headline(found, settings, sweep, limit, moved=moved, quotable=not not_quotable)
        if has_figure and ended is None
        else message("{ending}: {reason}", ending=NO_FIGURE[kind], reason=reason),
        reason=reason,
        grade=found.grade,
        sustained=found.sustained,
        at_least=found.at_least,
        at_most=found.at_most,
        hold=settings.hold,
        disturbed_share=state.posterior.lapse if state.judged else None,
        spread=state.posterior.spread if state.judged else None,
        movement=state.movement,
        not_narrower=not_narrower,
        missed=_missed(found, settings) if has_figure else (),
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
        verifications=0 if found.tried is None else found.tried.held,
        verification_windows=0 if found.tried is None else found.tried.windows,
        judged=state.judged,
        another_client=any(each.another_client for trial in trials for each in trial.observation.findings),
        lacked=state.lacked,
        spent_s=state.spent_s,
        unsettled=unsettled,
        definitions=(
            *definitions(settings),
            *([] if found.grade is None else [grade_definition(found.grade, settings)]),
        ),
    )


def _missed(found: Found, settings: CapacitySettings) -> tuple[str, ...]:
    """What was asked for of the figure, and is not so."""
    missed: list[str] = []
    required, width_max = settings.grade_required, settings.width_max
    if required is not None and not (found.grade and found.grade.reaches(required)):
        missed.append(
            message("the figure is {grade}, {required} is required", grade=found.grade or "", required=required)
        )
    if width_max is not None and found.sustained is None:
        missed.append("the figure is a bound without an interval")
    elif width_max is not None and found.sustained is not None and found.sustained.relative_width > width_max:
        missed.append(
            message(
                "the interval is {width} wide, {allowed} are allowed",
                width=format_percentage(found.sustained.relative_width, digits=2),
                allowed=format_percentage(width_max),
            )
        )
    return tuple(missed)


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


def _ended_early(trials: Sequence[Trial], state: SearchState, *, finished: bool) -> tuple[ConclusionKind | None, str]:
    """What kept the search from its end, and why; None where it came to one."""
    axis, broken = state.settings.axis, broken_off(trials)
    if broken is not None:
        return _broken_off(broken)
    if not finished:
        ended = message(
            "not done after {count} probe" if len(trials) == 1 else "not done after {count} probes",
            count=len(trials),
        )
        return ConclusionKind.INCOMPLETE, ended
    if state.sweep.ended_by is SweepEnd.INVALID:
        return ConclusionKind.INVALID, message("in the sweep {reason}", reason=state.sweep.reason)
    if state.without_server:
        return ConclusionKind.CLIENT_LIMITED, WITHOUT_SERVER
    if state.spoilt is not None:
        reasons = joined("; ", state.spoilt.reasons)
        return ConclusionKind.INVALID, message(
            "at {load}: {reasons}", load=axis.text(state.spoilt.load), reasons=reasons
        )
    if not state.sweep.levels:
        return ConclusionKind.INCONCLUSIVE, RAN_OUT
    if state.reached_ops_per_s <= 0:
        return ConclusionKind.INVALID, "no operation was answered"
    return None, ""


def _kind(state: SearchState, found: Found, limit: Bottleneck | None) -> tuple[ConclusionKind, str]:
    """How a search that came to its end ended, and why there is no figure.

    What misses the objective at the lowest load proves that it can't be met only where that is on the server's account.
    """
    axis = state.settings.axis
    if found.sustained is not None:
        return ConclusionKind.SUSTAINED, ""
    there = [each.outcome for each in state.judged if each.load == found.at_most]
    beside = TrialOutcome.CLIENT_LIMITED in there or (
        limit is not None and limit.kind in (BottleneckKind.GENERATOR, BottleneckKind.HOST)
    )
    if found.at_least is not None or (found.at_most is not None and (found.at_most > state.least or beside)):
        return ConclusionKind.BOUNDED, ""
    reasons = {each.load: each.reasons for each in state.judged}
    if found.at_most is not None:
        at = message(
            "at {load} already: {reasons}", load=axis.text(found.at_most), reasons=joined("; ", reasons[found.at_most])
        )
        return ConclusionKind.SLO_UNREACHABLE, at
    if found.generator_ended:
        lowest = min(reasons)
        limited = message("at {load}: {reasons}", load=axis.text(lowest), reasons=joined("; ", reasons[lowest]))
        return ConclusionKind.CLIENT_LIMITED, limited
    if not state.judged:
        return ConclusionKind.INCONCLUSIVE, RAN_OUT
    lowest = min(reasons)
    took = next((each.trial.observation.crowded for each in state.judged if each.load == lowest), "")
    if took and not any(each.outcome is TrialOutcome.PASS for each in state.judged):
        nothing = message("nothing held down to {load}, and {evidence} there", load=axis.text(lowest), evidence=took)
        return ConclusionKind.INCONCLUSIVE, nothing
    return ConclusionKind.INCONCLUSIVE, message(
        "no window decided anything; at {load}: {reasons}",
        load=axis.text(lowest),
        reasons=joined("; ", reasons[lowest]),
    )


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


def of_service(judged: Sequence[Judged]) -> bool:
    """Whether the probes went to a service, of which no checkpoint is known."""
    return any(each.trial.observation.target == "http" for each in judged)


def _reasons_not_quotable(state: SearchState, found: Found, limit: Bottleneck | None) -> tuple[str, ...]:
    reasons: list[str] = []
    if found.sustained is None:
        reasons.append("no sustained load was found")
    elif found.grade is not Grade.VERIFIED:
        reasons.append("the figure was not held in repeated windows")
    if not state.settings.windows_span_checkpoints:
        window = f"{state.settings.ramp_up_s or state.settings.window_s:g} s"
        short = (
            "windows of {window} are shorter than {between:g} s"
            if of_service(state.judged)
            else "windows of {window} are shorter than the {between:g} s between checkpoints"
        )
        reasons.append(message(short, window=window, between=CHECKPOINT_S))
    if any(each.trial.observation.server.shared_host for each in state.judged):
        reasons.append("generator and server share a host")
    if limit is not None and limit.kind is BottleneckKind.HOST:
        reasons.append("other programs used the server's host")
    return tuple(reasons)

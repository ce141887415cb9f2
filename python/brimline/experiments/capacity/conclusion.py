"""Owns what a capacity search concludes: the number with its interval and reason, or why there is none."""

from dataclasses import dataclass, replace
from enum import StrEnum

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind
from brimline.experiments.capacity.estimate import Found, find, why_wide
from brimline.experiments.capacity.headline import figure_text, not_quotable_text
from brimline.experiments.capacity.outcome import Judged, TrialOutcome, usable
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.capacity.stopped_by import stopped_by
from brimline.experiments.settings import CHECKPOINT_S, CapacitySettings, Grade
from brimline.experiments.sweep import SweepConclusion, SweepEnd, withdrawn
from brimline.experiments.trial import Trial, broken_off
from brimline.plan.pacing import connections_text
from brimline.record.layout import RUNNING, TARGET_LOST
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


@dataclass(frozen=True, kw_only=True)
class CapacityConclusion(Found):
    """What a search found, and how it ended.

    `reason` says why there is no figure, "" where there is one. `sweep`: of `state`, without what a later probe
    contradicts, or what was the generator's. `unsettled`: what its budget left open.
    """

    kind: ConclusionKind
    reason: str
    state: SearchState
    sweep: SweepConclusion
    bottleneck: Bottleneck | None
    unsettled: tuple[str, ...]

    @property
    def settings(self) -> CapacitySettings:
        """What was searched."""
        return self.state.settings

    @property
    def exit_code(self) -> int:
        """Exit code of the command line: 4 also for a figure that is known less well than was asked for."""
        return 4 if self.missed and self.kind.exit_code == 0 else self.kind.exit_code

    @property
    def headline(self) -> str:
        """One line for people: the figure, knee, what stopped it, and what makes its interval wide; or the reason."""
        if self.reason:
            return message("{ending}: {reason}", ending=NO_FIGURE[self.kind], reason=self.reason)
        parts, moved = [figure_text(self, self.settings)], self.state.movement
        if self.sweep.knee_connections is not None:
            parts.append(message("knee at {connections}", connections=connections_text(self.sweep.knee_connections)))
        if self.generator_ended:
            parts.append("the generator ended there")
        elif self.bottleneck is not None:
            undetermined = self.bottleneck.kind is BottleneckKind.UNDETERMINED
            stopped = message("stopped by {limit}", limit=self.bottleneck.text)
            parts.append("bottleneck undetermined" if undetermined else stopped)
        if moved is not None and moved.text in self.not_narrower[:1]:
            parts.append(moved.text)
        if not self.quotable:
            parts.append(not_quotable_text(self.settings))
        return joined("; ", parts)

    @property
    def not_narrower(self) -> tuple[str, ...]:
        """Why the interval is no narrower."""
        return () if self.sustained is None else why_wide(self.state, self.sustained, self.unsettled)

    @property
    def missed(self) -> tuple[str, ...]:
        """What was asked for of the figure beside the objective, and is not so."""
        required, width_max = self.settings.grade_required, self.settings.width_max
        missed: list[str] = []
        if self.grade is None or self.kind is ConclusionKind.SLO_UNREACHABLE:
            return ()
        if required is not None and not self.grade.reaches(required):
            missed.append(message("the figure is {grade}, {required} is required", grade=self.grade, required=required))
        if width_max is not None and self.sustained is None:
            missed.append("the figure is a bound without an interval")
        elif width_max is not None and self.sustained is not None and self.sustained.relative_width > width_max:
            missed.append(
                message(
                    "the interval is {width} wide, {allowed} are allowed",
                    width=format_percentage(self.sustained.relative_width, digits=2),
                    allowed=format_percentage(width_max),
                )
            )
        return tuple(missed)

    @property
    def quotable(self) -> bool:
        """Whether the figure may be published."""
        return not self.reasons_not_quotable

    @property
    def reasons_not_quotable(self) -> tuple[str, ...]:
        """Why it may not."""
        settings = self.settings
        reasons: list[str] = []
        if self.sustained is None:
            reasons.append("no sustained load was found")
        elif self.grade is not Grade.VERIFIED:
            reasons.append("the figure was not held in repeated windows")
        if not settings.windows_span_checkpoints:
            short = "windows of {length:g} s are shorter than {least:g} s"
            reasons.append(message(short, length=settings.usual_s, least=CHECKPOINT_S))
        if any(each.trial.observation.server.shared_host for each in self.state.judged):
            reasons.append("generator and server share a host")
        if self.bottleneck is not None and self.bottleneck.kind is BottleneckKind.HOST:
            reasons.append("other programs used the server's host")
        return tuple(reasons)


def conclude(state: SearchState, *, finished: bool, unsettled: tuple[str, ...]) -> CapacityConclusion:
    """What the trials show. `finished`: the search has no further probe to ask for."""
    ended, reason = _ended_early(state, finished=finished)
    found = find(state) if ended in (None, ConclusionKind.INCOMPLETE) else Found()
    limit = stopped_by(state, found)
    if ended is None:
        ended, reason = _kind(state, found, limit)
    sweep = _unless_exceeded(state)
    if found.generator_ended or sweep.ended_by is SweepEnd.CLIENT_LIMITED:
        # Levels and plateau are the generator's own, and so would be a knee.
        sweep = replace(state.sweep, saturation_ops_per_s=None, saturation=None, knee=None, band=None)
    return CapacityConclusion(
        **vars(found), kind=ended, reason=reason, state=state, sweep=sweep, bottleneck=limit, unsettled=unsettled
    )


def _unless_exceeded(state: SearchState) -> SweepConclusion:
    """The sweep; without its plateau where a later probe that counts did clearly more than that."""
    plateau = state.sweep.saturation_ops_per_s
    most = max(usable(state.judged), key=lambda each: each.trial.observation.throughput_ops_per_s, default=None)
    answered = 0.0 if most is None else most.trial.observation.throughput_ops_per_s
    if plateau is None or most is None or answered <= PLATEAU_EXCEEDED * plateau:
        return state.sweep
    reached, rate = format_rate(plateau), format_rate(answered)
    reason = message("the sweep reached {plateau}, and {what} {rate}", plateau=reached, what=most.probe.text, rate=rate)
    return withdrawn(state.sweep, reason)


def _ended_early(state: SearchState, *, finished: bool) -> tuple[ConclusionKind | None, str]:
    """What kept the search from its end, and why; None where it came to one."""
    broken, count = broken_off(state.trials), len(state.trials)
    if broken is not None:
        return _broken_off(broken)
    if not finished:
        done = "not done after {count} probe" if count == 1 else "not done after {count} probes"
        return ConclusionKind.INCOMPLETE, message(done, count=count)
    if state.sweep.ended_by is SweepEnd.INVALID:
        return ConclusionKind.INVALID, message("in the sweep {reason}", reason=state.sweep.reason)
    if state.without_server:
        return ConclusionKind.CLIENT_LIMITED, WITHOUT_SERVER
    if state.spoilt is not None:
        return ConclusionKind.INVALID, _said("at {load}: {reasons}", state.spoilt, state)
    if not state.sweep.levels:
        return ConclusionKind.INCONCLUSIVE, RAN_OUT
    if state.reached_ops_per_s <= 0:
        return ConclusionKind.INVALID, "no operation was answered"
    return None, ""


def _kind(state: SearchState, found: Found, limit: Bottleneck | None) -> tuple[ConclusionKind, str]:
    """How a search that came to its end ended, and why there is no figure.

    What misses the objective at the lowest load proves that it can't be met only where that is on the server's account.
    """
    if found.sustained is not None:
        return ConclusionKind.SUSTAINED, ""
    there = [each for each in state.judged if each.load == found.at_most]
    beside = any(each.outcome is TrialOutcome.CLIENT_LIMITED for each in there) or (
        limit is not None and limit.kind in (BottleneckKind.GENERATOR, BottleneckKind.HOST)
    )
    if found.at_least is not None or (found.at_most is not None and (found.at_most > state.least or beside)):
        return ConclusionKind.BOUNDED, ""
    if found.at_most is not None:
        return ConclusionKind.SLO_UNREACHABLE, _said("at {load} already: {reasons}", there[-1], state)
    if not state.judged:
        return ConclusionKind.INCONCLUSIVE, RAN_OUT
    lowest = min(reversed(state.judged), key=lambda each: each.load)
    if found.generator_ended:
        return ConclusionKind.CLIENT_LIMITED, _said("at {load}: {reasons}", lowest, state)
    took = next(each.trial.observation.crowded for each in state.judged if each.load == lowest.load)
    if took and not any(each.outcome is TrialOutcome.PASS for each in state.judged):
        load = state.settings.axis.text(lowest.load)
        nothing = message("nothing held down to {load}, and {evidence} there", load=load, evidence=took)
        return ConclusionKind.INCONCLUSIVE, nothing
    return ConclusionKind.INCONCLUSIVE, _said("no window decided anything; at {load}: {reasons}", lowest, state)


def _said(what: str, of: Judged, state: SearchState) -> str:
    return message(what, load=state.settings.axis.text(of.load), reasons=joined("; ", of.reasons))


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

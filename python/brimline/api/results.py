"""Owns what a verb hands back: the record, what the analysis made of it, and the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.verdict import Judgement, Verdict, proves_nothing, why_nothing
from brimline.api.resume import way_on
from brimline.errors import (
    BrimlineError,
    GateFailed,
    Interrupted,
    InvalidRun,
    NotGoodEnough,
    RecordError,
    TargetError,
)
from brimline.execution import RESUME_HINT
from brimline.experiments.capacity.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.frontier import FrontierConclusion, FrontierSettings
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import SweepConclusion, SweepEnd
from brimline.experiments.trial import Trial
from brimline.record import ExperimentRecord, RunRecord
from brimline.record.layout import ANALYSIS_FILE, REPORT_FILE
from brimline.report import Report, in_language, write_html, write_json
from brimline.report.document import FORMAT_VERSION
from brimline.report.showing import showing
from brimline.report.summary import next_step
from brimline.wording import wanted_language


class Reported:
    """What has a report, and prints as a few lines of it: a notebook shows a result that nobody asked to see."""

    __slots__ = ()
    report: Report

    @property
    def error(self) -> BrimlineError | None:
        """Why the result is not what was asked for; None when it is."""
        return None

    def __repr__(self) -> str:
        """At most five lines: what it is, what came out, whether that was asked for, where to look."""
        verdict = self.report.verdict
        lines = (
            f"{type(self).__name__}: {self.report.kind_title} of {self.report.name}",
            verdict.headline,
            f"error: {self.error.message}" if self.error else "as was asked for",
            *self._places(),
        )
        return "\n".join(" ".join(line.split()) for line in lines)

    def _places(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result(Reported):
    """A finished verb. `interrupted` is set when a signal ended it; what was measured is there all the same."""

    report: Report
    directory: Path
    interrupted: Interrupted | None = None

    def _places(self) -> tuple[str, ...]:
        return f"record: {self.directory}", f"report: {self.html}"

    @property
    def html(self) -> Path:
        """The report for people."""
        return self.directory / REPORT_FILE

    @property
    def error(self) -> BrimlineError | None:
        """Why the result is not what was asked for; None when it is."""
        return self.interrupted

    @property
    def reasons(self) -> Sequence[str]:
        """What of it is not good enough, as its report says it, in any language; () where `error` alone tells."""
        error = self.error
        return error.reasons if isinstance(error, NotGoodEnough) else ()

    @property
    def exit_code(self) -> int:
        """Exit code of the command line."""
        return 0 if self.error is None else self.error.exit_code

    @property
    def where_to_look(self) -> str:
        """The hint of an error about a result that is there: the step to take, and where the report is."""
        return "; ".join(filter(None, (next_step(self.report), self._more)))

    def where_to_go_on(self, verb: str) -> str:
        """The hint of an error that ended an experiment of `verb` early."""
        return f"{self._more}; {way_on(verb, self.directory)}"

    @property
    def _more(self) -> str:
        """Where the report is, which nothing else tells with `-q`."""
        return f"the report says more: {self.html}"

    def showing(self, names: Sequence[str]) -> Self:
        """The result with the figures of these names at the beginning of its report, such as `update.p99`.

        Raises UsageError for a figure that it doesn't have.
        """
        return replace(self, report=showing(self.report, names)) if names else self

    def write(self, language: str | None = None) -> None:
        """Writes what is derived beside the record: `analysis.json` and `report.html`. Raises RecordError.

        `language` is that of the report, None: BRIMLINE_LANG, else English.
        """
        try:
            write_json(self.report, self.directory / ANALYSIS_FILE)
            write_html(in_language(self.report, wanted_language(language)), self.directory / REPORT_FILE)
        except RecordError as error:
            again = f"what was measured is kept: once it can be written, brimline report {self.directory}"
            raise RecordError(error.message, hint=again) from None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult(Result):
    """One run. `judgement` is None when the workload has no objective."""

    record: RunRecord
    observation: Observation
    slo: Slo | None
    judgement: Judgement | None

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, invalid, or objective missed: the first that holds."""
        return self.interrupted or self._target_lost or self._invalid or self._objective_missed

    @property
    def _target_lost(self) -> TargetError | None:
        if self.record.ended_by != "target_lost":
            return None
        return TargetError(
            f"the target went away: {self.record.message}",
            hint=f"what was measured until then is kept in {self.directory}",
        )

    @property
    def _invalid(self) -> InvalidRun | None:
        if not proves_nothing(self.observation, self.judgement):
            return None
        reasons = why_nothing(self.observation, self.judgement)
        return InvalidRun(f"the run proves nothing: {self._told(reasons)}", hint=self.where_to_look, reasons=reasons)

    @property
    def _objective_missed(self) -> GateFailed | InvalidRun | None:
        if self.judgement is None or self.judgement.verdict is Verdict.PASS:
            return None
        reasons = self.judgement.reasons
        told = self._told(reasons)
        if self.judgement.verdict is Verdict.FAIL:
            return GateFailed(f"the objective was missed: {told}", hint=self.where_to_look, reasons=reasons)
        return InvalidRun(f"inconclusive: {told}", hint=self.where_to_look, reasons=reasons)

    def _told(self, reasons: Sequence[str]) -> str:
        """The reasons after what was planned and never sent: of an open loop it says how far the rate was missed."""
        return "; ".join(filter(None, (self.observation.unsent, *reasons)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LoadResult(RunResult):
    """One load, with what the server counted after it.

    `kept`: names of the `indexes` and `options` of the collection that stayed when its documents were replaced.
    """

    document_count: int
    namespace: str
    shortfall: InvalidRun | None = None
    kept: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, broken off, or another number of documents than intended.

        The data is what a load is for, and the server has counted it: how well the figures hold up is in the report,
        and a load too short to measure has not failed.
        """
        if self.record.complete:
            return self.shortfall
        return self._to_be_resumed(self.interrupted or self._target_lost or self._invalid)

    @staticmethod
    def _to_be_resumed(error: BrimlineError | None) -> BrimlineError | None:
        if error is not None and RESUME_HINT not in (error.hint or ""):
            error.hint = f"{error.hint}; {RESUME_HINT}" if error.hint else RESUME_HINT
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyLoaded:
    """A load that had nothing left to do: every document is there, and the server has counted them."""

    namespace: str
    document_count: int

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "format_version": FORMAT_VERSION,
            "kind": "already_loaded",
            "namespace": self.namespace,
            "document_count": self.document_count,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """The loads of a workload with several collections, in order; one that did not come to its end is the last.

    `interrupted`: a signal came before all had begun.
    """

    results: Sequence[LoadResult | AlreadyLoaded]
    interrupted: Interrupted | None = None

    @property
    def error(self) -> BrimlineError | None:
        """That of the load that has one."""
        errors = (each.error for each in self.results if isinstance(each, LoadResult))
        return next((error for error in errors if error is not None), self.interrupted)

    @property
    def exit_code(self) -> int:
        """Exit code of the command line."""
        return 0 if self.error is None else self.error.exit_code

    def to_dict(self) -> dict[str, Any]:
        """For `--json`: what each load alone has."""
        loads = [each.report.data if isinstance(each, LoadResult) else each.to_dict() for each in self.results]
        return {"format_version": FORMAT_VERSION, "kind": "loads", "collections": loads}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SweepResult(Result):
    """One sweep."""

    experiment: ExperimentRecord
    trials: Sequence[Trial]
    conclusion: SweepConclusion

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, or no plateau."""
        if self.interrupted is not None:
            return self.interrupted
        if self.conclusion.ended_by is SweepEnd.BROKEN_OFF:
            return TargetError(f"the sweep broke off: {_last_message(self.trials)}", hint=self.where_to_go_on("sweep"))
        if self.conclusion.exit_code == 0:
            return None
        return InvalidRun(self.conclusion.text, hint=self.where_to_look)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CapacityResult(Result):
    """One capacity search."""

    experiment: ExperimentRecord
    trials: Sequence[Trial]
    settings: CapacitySettings
    conclusion: CapacityConclusion

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, no number, or an objective that can't be met."""
        if self.interrupted is not None:
            return self.interrupted
        if self.conclusion.missed:
            return InvalidRun("; ".join(self.conclusion.missed), hint=self.where_to_look)
        match self.conclusion.kind:
            case ConclusionKind.SUSTAINED | ConclusionKind.BOUNDED:
                return None
            case ConclusionKind.TARGET_LOST:
                return TargetError(
                    f"the target went away: {_last_message(self.trials)}", hint=self.where_to_go_on("capacity")
                )
            case ConclusionKind.SLO_UNREACHABLE:
                return GateFailed(self.conclusion.reason, hint=self.where_to_look)
            case _:
                return InvalidRun(f"no capacity: {self.conclusion.reason}", hint=self.where_to_look)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FrontierResult(Result):
    """One SLO frontier."""

    experiment: ExperimentRecord
    trials: Sequence[Trial]
    settings: FrontierSettings
    conclusion: FrontierConclusion

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, or what keeps the frontier from being whole; a limit that can't be met is an answer."""
        if self.interrupted is not None:
            return self.interrupted
        worst = self.conclusion.worst
        if worst.missed:
            return InvalidRun("; ".join(worst.missed), hint=self.where_to_look)
        match worst.kind:
            case ConclusionKind.SUSTAINED | ConclusionKind.BOUNDED:
                return None
            case ConclusionKind.TARGET_LOST:
                return TargetError(
                    f"the target went away: {_last_message(self.trials)}", hint=self.where_to_go_on("capacity")
                )
            case ConclusionKind.SLO_UNREACHABLE:
                return GateFailed(f"no limit can be met: {worst.reason}", hint=self.where_to_look)
            case _:
                return InvalidRun(f"the frontier is not whole: {worst.reason}", hint=self.where_to_look)


def _last_message(trials: Sequence[Trial]) -> str:
    last = trials[-1].observation if trials else None
    return (last.message or last.ended_by) if last else "nothing was measured"

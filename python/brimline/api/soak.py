"""Owns the verb `soak`: a workload at one rate for hours, and what becomes of the server meanwhile."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from brimline.analysis.figure import Figure
from brimline.analysis.loads import judgeable
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.soak import SoakFindings, soak_findings
from brimline.analysis.verdict import Judgement, Verdict, judge, why_nothing
from brimline.api.kinds import Kind, MeasureInPlace, conduct
from brimline.api.options import Options, typed
from brimline.api.recording import recording
from brimline.api.results import Result
from brimline.api.resume import require_same
from brimline.api.workload import WorkloadWords, load_workload, objective
from brimline.api.workplace import Workplace
from brimline.dataset.rights import rights_to_data
from brimline.errors import BrimlineError, GateFailed, InvalidRun, TargetError, UsageError
from brimline.execution import allow_descriptors, check_room
from brimline.experiments.conductor import conduct_trials
from brimline.experiments.measure import Measure
from brimline.experiments.soak.figures import soak_figures, taken_for_hours
from brimline.experiments.soak.order import SOAK_KIND, Soak, SoakSettings, offers_rate, parts_of, soak_time
from brimline.experiments.soak.runner import SoakRuns, stored_soak
from brimline.experiments.stored import stored_settings
from brimline.plan import Plan, resolve
from brimline.record import ExperimentRecord, read_experiment
from brimline.record.damage import damage_told
from brimline.record.layout import SPEC_FILE, TARGET_LOST
from brimline.report.soak.view import soak_report
from brimline.servers import control_client
from brimline.spec import LoadedSpec, Spec, load_spec
from brimline.units import format_duration

ROW_BYTES = 1_000
"""Of an interval, its rows and the look at the server, once a full piece is compressed."""
_WATCHING = ("serverStatus",)
"""What the server's figures take, by MongoDB's name of the action."""
OPERATION_BYTES = 2_000
"""Of an operation in an interval, its histograms."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SoakResult(Result):
    """One soak. `observation` and `judgement` are of its longest part; `judgement` is None without an objective."""

    experiment: ExperimentRecord
    findings: SoakFindings
    observation: Observation
    judgement: Judgement | None

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, the target lost, fewer counted than answered, or an objective missed. Drift is an answer."""
        if self.interrupted is not None:
            return self.interrupted
        if self.observation.ended_by == TARGET_LOST:
            return TargetError(f"the target went away: {self.observation.message}", hint=self.where_to_go_on("soak"))
        if not self.observation.valid:
            why = why_nothing(self.observation, None)
            return InvalidRun(f"the soak proves nothing: {'; '.join(why)}", hint=self.where_to_look, reasons=why)
        if self.judgement is not None and self.judgement.verdict is Verdict.FAIL:
            why = self.judgement.reasons
            return GateFailed(f"the objective was missed: {'; '.join(why)}", hint=self.where_to_look, reasons=why)
        return None


@typed
def soak(
    workload: str | Path | None = None,
    *,
    settings: SoakSettings | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> SoakResult:
    """Runs a workload at one rate for long, and says what drifts, what changed, and what stalls.

    Raises BrimlineError where nothing was measured; for the rest see `SoakResult.error`.
    """
    return soak_loaded(load_workload(workload, **words), settings or SoakSettings(), options or Options())


def soak_loaded(
    loaded: LoadedSpec, settings: SoakSettings, options: Options, *, resume: Path | None = None
) -> SoakResult:
    """`soak` for a spec that is read already. `resume`: the directory of one to go on with."""
    return conduct(SOAK, loaded, settings, options, resume=resume)


def _check(loaded: LoadedSpec, _settings: SoakSettings, _options: Options) -> None:
    _offers(loaded.spec)


def _offers(spec: Spec) -> bool:
    """Whether the workload has a rate. Raises UsageError for a load that can't be soaked."""
    try:
        return offers_rate(spec.load)
    except ValueError as error:
        raise UsageError(str(error), hint="give a constant one: --rate 2000/s") from error


def soak_in(place: Workplace, settings: SoakSettings, *, directory: Path | None = None, resume: bool = False) -> Path:
    """A soak in a place that is up; returns its directory. Raises BrimlineError; what was measured is kept."""
    offers = _offers(place.spec)
    plan = resolve(place.spec, target=place.target)
    allow_descriptors(plan)
    require_same(directory if resume else None, plan_hash=plan.hash8(), environment=place.context.environment)
    _tell_what_is_not_seen(place)
    place.prepare()
    place.stop.raise_if_requested()
    with recording(
        place, plan, kind=SOAK_KIND, settings=asdict(settings), directory=directory, resume=resume
    ) as writer:
        done = [trial for trial, _ in stored_soak(read_experiment(writer.directory))] if resume else []
        left_s = settings.duration_s - sum(each.measured_s for each in parts_of(done))
        _check_room(plan, settings, left_s, writer.directory)
        conduct_trials(
            Soak(settings, offers=offers),
            SoakRuns(settings=settings, spec=place.spec, target=place.target, writer=writer, context=place.context),
            writer=writer,
            stop=place.stop,
            progress=place.context.progress,
            done=done,
        )
    return writer.directory


def _tell_what_is_not_seen(place: Workplace) -> None:
    """A user who may not see the server's figures knows it before hours of which nothing else is told. TargetError."""
    deployment = place.context.deployment
    if deployment is None or deployment.protocol != "mongodb" or deployment.access.login is None:
        return
    with control_client(deployment.address, access=deployment.access) as client:
        if lacking := rights_to_data(client.admin).lacking_of_cluster(_WATCHING):
            place.context.progress.warning(
                f"the user may not see the server's figures ({', '.join(lacking)} isn't granted): none of them can "
                "drift or change its level here; grant it, as the role clusterMonitor on admin would"
            )


def _check_room(plan: Plan, settings: SoakSettings, left_s: float, directory: Path) -> None:
    """The record will fit. Raises UsageError."""
    per_interval = ROW_BYTES + OPERATION_BYTES * max(1, len(plan.operation_names))
    needed = round(max(left_s, 0.0) / settings.interval_s * per_interval)
    check_room(needed, directory, what=f"the record of {format_duration(left_s * 1e9)}",
               or_else="plan a shorter soak, or longer intervals")  # fmt: skip


def soak_result(experiment: ExperimentRecord) -> SoakResult:
    """What the parts show, now or years later. Raises InvalidRun where nothing was measured."""
    trials = stored_soak(experiment)
    parts = [part for trial, part in trials if trial.counts]
    if not parts:
        raise InvalidRun(f"nothing was measured in {experiment.directory}", hint="give it more time: --duration 30m")
    slo = _slo(experiment)
    with damage_told(experiment.directory):
        found = soak_findings(parts)
        record = found.observed.record
        observation = taken_for_hours(observe(record, objectives=slo.latencies if slo else ()))
        judged = None if slo is None else judgeable(record, slo)
        judgement = None if judged is None else judge(observation, judged)
        report = soak_report(experiment, [trial for trial, _ in trials], found, observation, slo=judged or slo,
                             judgement=judgement)  # fmt: skip
    return SoakResult(report=report, directory=experiment.directory, experiment=experiment, findings=found,
                      observation=observation, judgement=judgement)  # fmt: skip


def _slo(experiment: ExperimentRecord) -> Slo | None:
    """The objective of the workload; None where its spec can't be read any more."""
    try:
        return objective(load_spec(experiment.directory / SPEC_FILE, with_rows=False).spec)
    except BrimlineError:
        return None


SOAK = Kind(
    kind=SOAK_KIND,
    verb="soak",
    made_in=soak_in,
    stored=partial(stored_settings, SoakSettings),
    result=soak_result,
    estimate=soak_time,
    check=_check,
)


def _said(spec: Spec, said: Mapping[str, Any]) -> SoakSettings:
    _offers(spec)
    return SoakSettings(**{name: value for name, value in said.items() if value is not None})


def _missed_in(directory: Path) -> str:
    experiment = read_experiment(directory)
    error = None if _slo(experiment) is None else soak_result(experiment).error
    return "; ".join(error.reasons) if isinstance(error, GateFailed) else ""


def _figures(directory: Path) -> Mapping[str, Figure]:
    experiment = read_experiment(directory)
    return soak_figures(experiment, slo=_slo(experiment))


MEASURE = MeasureInPlace(
    measure=Measure(name="soak", kind=SOAK_KIND, figures=_figures),
    made_in=soak_in,
    settings=_said,
    estimate=soak_time,
    missed=_missed_in,
)
"""A soak as a design crosses it; said to it are `SoakSettings`."""

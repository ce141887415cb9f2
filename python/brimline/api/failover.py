"""Owns the verb `failover`: a fault during a run, again and again, what it costs, and what becomes of writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from brimline.analysis.finding import Finding
from brimline.api.kinds import Kind, MeasureInPlace, conduct
from brimline.api.options import Options, typed
from brimline.api.protocols import require_mongodb
from brimline.api.recording import recording
from brimline.api.results import Result
from brimline.api.resume import require_same
from brimline.api.workload import WorkloadWords, load_workload
from brimline.api.workplace import Workplace, given_uri
from brimline.errors import BrimlineError, GateFailed, InvalidRun, NotPutBack, TargetError, UsageError
from brimline.execution import allow_descriptors, putting_back
from brimline.execution.unrecorded import execute_unrecorded
from brimline.experiments.conductor import conduct_trials
from brimline.experiments.failover.figures import (
    Judged,
    failed_proof,
    failover_figures,
    figures_of,
    judge,
    worst_findings,
)
from brimline.experiments.failover.order import (
    FAILOVER_KIND,
    WARM_UP_S,
    Failover,
    FailoverSettings,
    FailoverTrial,
    Limit,
    failover_time,
    parse_limit,
)
from brimline.experiments.failover.runner import FailoverWork
from brimline.experiments.failover.stored import stored_failover_trials
from brimline.experiments.measure import Measure
from brimline.experiments.stored import read_part, stored_settings
from brimline.plan import Plan, resolve
from brimline.record import ExperimentRecord, read_experiment, read_record
from brimline.record.fault import FaultFacts, left_undone
from brimline.record.layout import TARGET_LOST
from brimline.record.model import answered_count
from brimline.record.redaction import REDACTED
from brimline.report.failover.view import Seen, failover_report, limit_text
from brimline.servers.faults.fault import COMMAND, fault_on
from brimline.servers.faults.kinds import FULL_DISK, KINDS, small_disk_bytes
from brimline.servers.faults.site import site_of
from brimline.servers.lab.small_disk import require_memory, require_mounting
from brimline.spec import LoadedSpec, Spec
from brimline.spec.load_models import ClosedLoad, ConstantLoad, PoissonLoad
from brimline.units import NS_PER_S, format_rate, round_significant

TOPOLOGY_DEFAULT = "replica-set-3"
FAULT_DEFAULT = "kill"
_LINE = "all:0ms"
"""What stands before the servers where a fault acts on the line: nothing is slower by it than by a forwarder."""
_RATE_SHARE = 0.3
"""Of what a closed loop reaches: far below saturation, so that what waited can be answered within seconds."""
_LOOK_S = 3.0
_INTERVAL_NS, _INTERVAL_WITHOUT_LOG_NS = NS_PER_S // 4, NS_PER_S // 10
"""Where operations have no log, which own ones and those of several workers haven't, an outage is known to this."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FailoverResult(Result):
    """One failover experiment."""

    experiment: ExperimentRecord
    settings: FailoverSettings
    trials: Sequence[FailoverTrial]
    judged: Sequence[Judged]
    findings: Sequence[Finding]

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, not undone, not whole again, target lost, nothing measured, an objective missed or unknown."""
        if self.interrupted is not None:
            return self.interrupted
        left = next((each.facts for each in self.trials if each.facts is not None and each.facts.undo_trouble), None)
        if left is not None:
            by_hand = f"do it by hand: {left.by_hand}" if left.by_hand else "put the servers right by hand"
            return NotPutBack(f"the fault was not undone: {left.undo_trouble}", hint=by_hand)
        if self.trials and _is_left_in_part(self.trials[-1].facts):
            return TargetError(
                "the fault was undone, and still not every server does its part",
                hint=f"see the servers' logs; {self._more}",
            )
        broken = next((trial for trial in self.trials if trial.problem), None)
        if broken is not None and broken.ended_by == TARGET_LOST:
            return TargetError(f"the target went away: {broken.problem}", hint=self.where_to_go_on("failover"))
        if not self.trials or broken is not None:
            why = "no run went to its end" if broken is None else broken.problem
            return InvalidRun(f"fault {len(self.trials)} was not measured: {why}", hint=self.where_to_look)
        failed = failed_proof(self.findings)
        if told := _missed(self.judged, failed):
            return GateFailed(f"the objective was missed: {told}", hint=self.where_to_look)
        if failed is not None:
            return InvalidRun(
                f"the runs prove nothing: {failed.evidence}", hint=self.where_to_look, reasons=(failed.evidence,)
            )
        unknown = [each.limit.what for each in self.judged if each.held is None]
        return InvalidRun(f"not known: {'; '.join(unknown)}", hint=self.where_to_look) if unknown else None


def _is_left_in_part(facts: FaultFacts | None) -> bool:
    """Whether servers that were put back don't do their part; a command without an undo is meant to last."""
    if facts is None or facts.undone_unix_ns is None or (facts.name == COMMAND and not facts.by_hand):
        return False
    return facts.whole_unix_ns is None


def _missed(judged: Sequence[Judged], failed: Finding | None) -> str:
    """Which objectives were missed; "" where none."""
    # A write that is lost is lost, also where the generator stood still.
    missed = [each for each in judged if each.held is False and not (failed and each.limit.is_time)]
    return "; ".join(map(_missed_text, missed))


def _missed_text(each: Judged) -> str:
    worst = "no end seen" if each.worst is None else limit_text(each, each.worst)
    return f"{each.limit.what}: {worst}, and at most {limit_text(each, each.limit.most)} was asked"


@typed
def failover(
    workload: str | Path | None = None,
    *,
    settings: FailoverSettings | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> FailoverResult:
    """Lets a fault befall the servers of a workload while it runs, and looks for every acknowledged write afterwards.

    Without an address a replica set of three is started. Raises BrimlineError; see `FailoverResult.error` for the rest.
    """
    loaded = load_workload(workload, **words)
    return failover_loaded(loaded, settings or FailoverSettings(fault=FAULT_DEFAULT), options or Options())


def failover_loaded(
    loaded: LoadedSpec, settings: FailoverSettings, options: Options, *, resume: Path | None = None
) -> FailoverResult:
    """`failover` for a spec that is read already. `resume`: the directory of one to go on with."""
    return conduct(FAILOVER, loaded, settings, options, resume=resume)


def _check(loaded: LoadedSpec, settings: FailoverSettings, options: Options) -> None:
    """Raises UsageError for what can't be, before anything is started."""
    asked = settings.asked
    if options.null:
        raise UsageError("nothing befalls a null target", hint="leave --null out")
    require_mongodb("failover", given_uri(loaded.spec, options), options)
    if asked.name == COMMAND and REDACTED in f"{asked.command} {asked.undo}":
        raise UsageError("the command held a secret, which is not stored", hint="begin anew, with the command")


def _surroundings(loaded: LoadedSpec, settings: FailoverSettings, options: Options) -> Options:
    return surroundings(loaded, [settings.fault], options)


def surroundings(loaded: LoadedSpec, faults: Sequence[str], options: Options, *, varied: Sequence[str] = ()) -> Options:
    """A set of three where brimline starts the servers, with a line before each where one of `faults` acts on that.

    `varied`: factors that say it for each combination.
    """
    if given_uri(loaded.spec, options) is not None or options.null or "server" in varied:
        return options
    own: dict[str, object] = {}
    if options.topology is None and "topology" not in varied:
        own["topology"] = TOPOLOGY_DEFAULT
    kinds = [KINDS.get(each.partition(":")[0]) for each in faults]
    if options.network is None and "network" not in varied and any(each and each.by_line for each in kinds):
        own["network"] = _LINE
    sizes = [small_disk_bytes(each.partition(":")[2]) for each in faults if each.partition(":")[0] == FULL_DISK]
    if sizes:
        require_mounting()
        require_memory(max(sizes))
        own["disk_bytes"] = max(sizes)
    return replace(options, **own)  # type: ignore[arg-type]


def failover_in(
    place: Workplace, settings: FailoverSettings, *, directory: Path | None = None, resume: bool = False
) -> Path:
    """The runs with a fault in a place that is up; returns the directory. Raises BrimlineError; what ran is kept."""
    deployment = place.context.deployment
    if deployment is None:
        raise UsageError("nothing befalls a null target", hint="leave --null out")
    fault_on(settings.asked, site_of(deployment, at=settings.at), alone=settings.alone)
    plan = resolve(place.spec, target=place.target)
    allow_descriptors(plan)
    before = require_same(directory if resume else None, plan_hash=plan.hash8(), environment=place.context.environment)
    place.prepare()
    place.stop.raise_if_requested()
    if before is not None:
        settings = stored_settings(FailoverSettings, before)
    elif settings.rate_ops_per_s is None:
        settings = replace(settings, rate_ops_per_s=_rate(place))
    with recording(
        place, plan, kind=FAILOVER_KIND, settings=asdict(settings), directory=directory, resume=resume
    ) as writer:
        done = stored_failover_trials(read_experiment(writer.directory)) if resume else []
        work = FailoverWork(
            settings=settings,
            spec=place.spec,
            plan=_fault_plan(place, settings),
            deployment=deployment,
            writer=writer,
            context=place.context,
        )
        conduct_trials(
            Failover(settings), work, writer=writer, stop=place.stop, progress=place.context.progress, done=done
        )
    return writer.directory


def _left(directory: Path) -> Iterator[str]:
    """Faults that were never undone: perhaps that is why nothing answers."""
    for facts in left_undone(directory):
        hand = f": {facts.by_hand}" if facts.by_hand else ""
        yield f"{facts.name} was begun in {directory} and never undone; see to it by hand{hand}"


def _failover_of_design(
    place: Workplace, settings: FailoverSettings, *, directory: Path | None = None, resume: bool = False
) -> Path:
    """`failover_in`, of whose directory only the design knows."""
    for each in _left(directory) if resume and directory is not None else ():
        place.context.progress.warning(each)
    return failover_in(place, settings, directory=directory, resume=resume)


def _rate(place: Workplace) -> float:
    """What is offered: what the workload says, else a share of what a closed loop reaches. Raises BrimlineError."""
    load = place.spec.load
    if isinstance(load, ConstantLoad | PoissonLoad):
        return load.rate_ops_per_s
    place.context.progress.step("looking how much the servers take")
    closed = place.spec.model_copy(
        update={"load": ClosedLoad(), "warmup_ns": 0, "duration_ns": round(_LOOK_S * NS_PER_S), "operation_count": None,
                "operation_log": False}
    )  # fmt: skip
    plan = resolve(closed, target=place.target)
    with putting_back(plan, place.context):
        summary = execute_unrecorded(plan, context=place.context)
    place.stop.raise_if_requested()
    reached = answered_count([summary]) * NS_PER_S / max(summary["elapsed_ns"], 1)
    if reached <= 0:
        raise InvalidRun("the workload gets no answer, also without a fault", hint="see it: brimline run")
    rate = float(round_significant(_RATE_SHARE * reached, 2))
    place.context.progress.note(
        f"a closed loop reaches {format_rate(reached)}; {format_rate(rate)} are offered, or what --rate says"
    )
    return rate


def _fault_plan(place: Workplace, settings: FailoverSettings) -> Plan:
    """The workload at a rate, with a log of its operations where it has one; it waits for servers until its end."""
    spec = place.spec
    rate = settings.rate_ops_per_s or 1.0
    logged = not spec.is_own and place.context.executor is None
    poisson = isinstance(spec.load, PoissonLoad)
    load = PoissonLoad(rate=rate) if poisson else ConstantLoad(rate=rate)
    varied = spec.model_copy(
        update={
            "load": load,
            "in_flight": None,
            "warmup_ns": round(WARM_UP_S * NS_PER_S),
            "duration_ns": round(settings.duration_s * NS_PER_S),
            "operation_count": None,
            "interval_ns": _INTERVAL_NS if logged else _INTERVAL_WITHOUT_LOG_NS,
            "connect_timeout_ns": max(spec.connect_timeout_ns, round(settings.duration_s * NS_PER_S)),
            "operation_log": logged,
        }
    )
    return resolve(varied, target=place.target)


def failover_result(experiment: ExperimentRecord) -> FailoverResult:
    """What the trials show, now or years later. Raises RecordError."""
    settings, trials = stored_settings(FailoverSettings, experiment), stored_failover_trials(experiment)
    directories = {trial.probe: entry.directory for trial, entry in zip(trials, experiment.trials, strict=True)}
    judged = judge(settings.slo, trials)
    findings = worst_findings(read_record(each) for each in directories.values())
    report = failover_report(
        Seen(
            experiment=experiment,
            settings=settings,
            trials=trials,
            figures=dict(figures_of(trials)),
            judged=judged,
            findings=findings,
            record_of=lambda trial: read_record(directories[trial.probe]),
        )
    )
    return FailoverResult(
        report=report,
        directory=experiment.directory,
        experiment=experiment,
        settings=settings,
        trials=trials,
        judged=judged,
        findings=findings,
    )


FAILOVER = Kind(
    kind=FAILOVER_KIND,
    verb="failover",
    made_in=failover_in,
    stored=partial(stored_settings, FailoverSettings),
    result=failover_result,
    estimate=lambda _spec, settings: failover_time(settings),
    check=_check,
    surroundings=_surroundings,
    left=_left,
)


def _said(_spec: Spec, said: Mapping[str, Any]) -> FailoverSettings:
    words = {"fault": FAULT_DEFAULT, **{name: value for name, value in said.items() if value is not None}}
    try:
        settings = read_part(FailoverSettings, words)
    except ValueError as error:
        raise UsageError(str(error), hint="see brimline failover --help") from error
    _ = settings.asked
    return settings


def _missed_in(directory: Path) -> str:
    experiment = read_experiment(directory)
    limits = stored_settings(FailoverSettings, experiment).slo
    if not limits:
        return ""
    findings = worst_findings(read_record(each.directory) for each in experiment.trials)
    return _missed(judge(limits, stored_failover_trials(experiment)), failed_proof(findings))


MEASURE = MeasureInPlace(
    measure=Measure(
        name="failover",
        kind=FAILOVER_KIND,
        figures=failover_figures,
        meaningless=dict.fromkeys(
            ("tlr-threads", "loops", "ramp-up", "in-flight"),
            "its operations are offered at a rate, answered or not",
        ),
        has_interval=True,
    ),
    made_in=_failover_of_design,
    settings=_said,
    estimate=lambda _spec, settings: failover_time(settings),
    words=frozenset({"fault"}),
    missed=_missed_in,
)
"""A failover as a design crosses it; said to it are `FailoverSettings`."""

__all__ = ["FAILOVER", "FailoverResult", "FailoverSettings", "Limit", "failover", "parse_limit"]

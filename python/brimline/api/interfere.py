"""Owns the verb `interfere`: a workload alone and with a background one, in pairs on one server, and what changes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from brimline.analysis.background import Coverage, coverage, measured_window, server_means
from brimline.analysis.changes import MetricChange
from brimline.analysis.compared_run import ComparedRun
from brimline.analysis.comparison import Comparison, compare_runs
from brimline.analysis.figure import Figure
from brimline.analysis.observation import Observation, observe
from brimline.api.kinds import Kind, MeasureInPlace, conduct
from brimline.api.options import Options
from brimline.api.pairs import run_pairs, target_lost
from brimline.api.protocols import require_mongodb
from brimline.api.recording import recording
from brimline.api.results import Result
from brimline.api.resume import require_same
from brimline.api.workplace import Workplace, given_uri
from brimline.doctor.disk import free_at_server
from brimline.errors import BrimlineError, InvalidRun, TargetError, UsageError
from brimline.execution import allow_descriptors
from brimline.execution.background import BACKGROUND_COLLECTION, Background, FileImport, Work, background
from brimline.execution.backups import backups
from brimline.execution.import_data import check_inputs
from brimline.execution.import_inputs import find_inputs, type_of_file
from brimline.execution.leftovers import remove_leftovers
from brimline.experiments.cost import TimeEstimate, pairs_time, run_time
from brimline.experiments.measure import Measure
from brimline.experiments.paired.interference import INTERFERENCE_KIND, Beside, InterferenceSettings
from brimline.experiments.paired.order import counting_pairs
from brimline.experiments.paired.runner import ArmPlan, pair_records, pair_trial, paired_run
from brimline.experiments.stored import stored_settings
from brimline.plan import Plan, load_plan, resolve
from brimline.plan.rows import sample_row_bytes
from brimline.record import ExperimentRecord, read_experiment
from brimline.record.background import read_activities
from brimline.report.comparison.interference_view import interference_report
from brimline.servers import Deployment, control_client
from brimline.spec import LoadedSpec, Spec, load_spec
from brimline.spec.import_settings import ImportSettings
from brimline.units import NS_PER_S, format_bytes, format_count
from brimline.wording import Verbatim, message

ROWS_PER_S = 300_000
"""Rows of `bulk-rows` that the fastest server seen takes in a second; an import must not run out of them."""
STANDING_ROWS = 500_000
"""Documents that a scan, an index build or a backup works on."""
_PARTNER_PROBLEM = "the other run of its pair doesn't count"
_CONNECTIONS = 4
_BESIDE_WINDOW_S = 5.0
_ROOM_FACTOR = 2.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterferenceResult(Result):
    """One interference experiment. `coverages`: what each background did, by the name of the run."""

    experiment: ExperimentRecord
    comparison: Comparison
    coverages: dict[str, tuple[Coverage, ...]]

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, or the target lost."""
        if self.interrupted is not None:
            return self.interrupted
        return target_lost(self.comparison, hint=self.where_to_go_on(INTERFERENCE_KIND))


def default_rows(spec: Spec, background: str) -> int:
    """Documents of a background: for an import as many as cannot run out, else a collection of middle size."""
    run_ns = _run_ns(spec)
    imports = any(
        each.kind == "import" and not each.of for each in InterferenceSettings(background=background).backgrounds
    )
    return round(ROWS_PER_S * (run_ns / NS_PER_S + _BESIDE_WINDOW_S)) if imports else STANDING_ROWS


def interfere_loaded(
    loaded: LoadedSpec, settings: InterferenceSettings, options: Options, *, resume: Path | None = None
) -> InterferenceResult:
    """Runs the workload alone and with the background, and compares. `resume`: the experiment to go on with.

    Raises BrimlineError where nothing can be compared; see `InterferenceResult.error` for the rest.
    """
    return conduct(INTERFERENCE, loaded, settings, options, resume=resume)


def _check(loaded: LoadedSpec, _settings: InterferenceSettings, options: Options) -> None:
    require_mongodb("interfere", given_uri(loaded.spec, options), options)


def interfere_in(
    place: Workplace, settings: InterferenceSettings, *, directory: Path | None = None, resume: bool = False
) -> Path:
    """The pairs of runs in a place that is up; returns the directory. Raises BrimlineError; the runs are kept."""
    deployment = place.context.deployment
    if deployment is None:
        raise UsageError("without a server there is nothing to interfere with", hint="leave --null out")
    plan = resolve(place.spec, target=place.target)
    allow_descriptors(plan)
    others = [
        _background(each, place, settings.rows, deployment, number)
        for number, each in enumerate(settings.backgrounds, start=1)
    ]
    require_same(directory if resume else None, plan_hash=plan.hash8(), environment=place.context.environment)
    for left in remove_leftovers(deployment, database=others[0].plan.namespace.database):
        place.context.progress.note(f"removed {left.namespace}, left by process {left.pid}, which was killed")
    _check_room([each.plan for each in others], deployment)
    place.prepare()
    place.stop.raise_if_requested()
    return _conduct(place, plan, others, settings, directory=directory, resume=resume)


def interference_result(experiment: ExperimentRecord) -> InterferenceResult:
    """What the runs show, now or years later. Raises InvalidRun where no pair counts."""
    records = pair_records(experiment)
    pairs = counting_pairs([pair_trial(probe, record, with_background=probe.arm == "B") for probe, record in records])
    sides: dict[str, list[ComparedRun]] = {"A": [], "B": []}
    coverages: dict[str, tuple[Coverage, ...]] = {}
    watched: dict[str, list[Observation]] = {"A": [], "B": []}
    for probe, record in records:
        run = paired_run(record, with_background=probe.arm == "B")
        if probe.pair not in pairs and not run.problems:
            run = run.with_problem(_PARTNER_PROBLEM)
        sides[probe.arm].append(run)
        if not run.problems:
            watched[probe.arm].append(observe(record))
        activities, window = read_activities(record.directory), measured_window(record)
        if activities and window is not None:
            coverages[run.name] = tuple(coverage(each, window) for each in activities)
    if not pairs:
        raise InvalidRun(f"no pair of {experiment.directory} counts: {_first_problem(sides)}", hint=_hint(coverages))
    settings = stored_settings(InterferenceSettings, experiment)
    comparison = compare_runs(sides["A"], sides["B"], margin=settings.margin)
    return InterferenceResult(
        report=interference_report(
            comparison,
            coverages,
            experiment=experiment,
            settings=settings,
            server={side: server_means(runs) for side, runs in watched.items()},
        ),
        directory=experiment.directory,
        experiment=experiment,
        comparison=comparison,
        coverages=coverages,
    )


def _conduct(
    place: Workplace,
    plan: Plan,
    others: Sequence[Background],
    settings: InterferenceSettings,
    *,
    directory: Path | None,
    resume: bool,
) -> Path:
    """Runs what is left and removes the backgrounds' collections; returns the directory. Raises BrimlineError."""
    with recording(
        place, plan, kind=INTERFERENCE_KIND, settings=asdict(settings), directory=directory, resume=resume
    ) as writer:
        try:
            for each in others:
                place.context.progress.step(message("preparing the background ({background})", background=each.text))
                each.prepare(place.context)
            alone = ArmPlan(plan=plan, context=place.context, title="alone", label="alone")
            both = replace(
                alone, title=message("with {background}", background=settings.background), label="with", beside=others
            )
            run_pairs(place, ("A", "B"), settings.pairs, {"A": alone, "B": both}, writer)
        finally:
            for each in others:
                _remove(place, each)
    return writer.directory


def _remove(place: Workplace, other: Background) -> None:
    """Takes the background's collection away. What ended the experiment is not hidden by a server that is gone."""
    try:
        other.remove()
    except TargetError as error:
        namespace = f"{other.plan.namespace.database}.{other.plan.namespace.collection}"
        place.context.progress.warning(
            f"{namespace} may still be there ({error.message}): the next brimline interfere on this server removes it"
        )


def _background(asked: Beside, place: Workplace, rows: int, deployment: Deployment, number: int) -> Background:
    """The `number`-th background, in a collection of its own. Raises UsageError where it can't be had."""
    data: dict[str, object] = {
        "database": place.spec.data.database,
        "collection": BACKGROUND_COLLECTION if number == 1 else f"{BACKGROUND_COLLECTION}_{number}",
    }
    if asked.kind == "workload":
        spec = _other_workload(asked)
        spec = spec.model_copy(update={"data": spec.data.model_copy(update=data)})
        load, run = load_plan(spec, target=place.target), resolve(spec, target=place.target)
        return Work(load, deployment, run, text=asked.text)
    spec = load_spec("bulk-rows", overrides={"connections": _CONNECTIONS}).spec
    spec = spec.model_copy(update={"data": spec.data.model_copy(update={**data, "records": rows})})
    plan = load_plan(spec, target=place.target)
    if asked.kind == "import" and asked.of:
        (file,) = find_inputs([asked.of], gzip=False, collection=None)
        settings = ImportSettings(type=type_of_file(asked.of), headerline=type_of_file(asked.of) in ("csv", "tsv"))
        if (ending := check_inputs([file], settings)) is not None:
            raise UsageError(f"{asked.of} can't be imported: {ending.get('reason')}", hint="try it: brimline import")
        return FileImport(plan, deployment, file, settings, text=asked.text)
    if asked.kind == "backup":
        return backups(asked.of, plan, deployment, directory=place.options.runs_dir, text=asked.text)
    return background(asked.kind, plan, deployment)


def _other_workload(asked: Beside) -> Spec:
    """The workload of a background. Raises UsageError for one that can't be there."""
    spec = load_spec(asked.of, overrides={"load": {"kind": "constant", "rate": asked.rate}} if asked.rate else {}).spec
    if spec.is_own or spec.protocol not in (None, "mongodb"):
        raise UsageError(
            f"{asked.of} has operations of its own, and can't be in the background",
            hint="take a workload of reads, updates and inserts, such as workload:ycsb-b",
        )
    return spec


def _check_room(plans: Sequence[Plan], deployment: Deployment) -> None:
    """The server's disk can take the backgrounds' documents, as far as it tells. Raises UsageError."""
    planned_bytes = sum(
        plan.data.record_count * sample_row_bytes(plan.data, seed=plan.seed, form={"kind": "bson"}) for plan in plans
    )
    with control_client(deployment.address, access=deployment.access) as client:
        free_bytes = free_at_server(client)
    if free_bytes is not None and _ROOM_FACTOR * planned_bytes > free_bytes:
        raise UsageError(
            f"the background's documents take up to {format_bytes(planned_bytes)}, and the server's disk has "
            f"{format_bytes(free_bytes)} free",
            hint="give fewer: --background-rows",
        )


def _first_problem(sides: Mapping[str, Sequence[ComparedRun]]) -> str:
    problems = [problem for runs in sides.values() for run in runs for problem in run.problems]
    return next((problem for problem in problems if problem != _PARTNER_PROBLEM), "there is no whole pair")


def _hint(coverages: Mapping[str, Sequence[Coverage]]) -> str:
    ran_out = any(each.problem is not None and each.kind == "import" for of in coverages.values() for each in of)
    return "give the import more documents: --background-rows" if ran_out else "repeat it on a quieter machine"


def _run_ns(spec: Spec) -> int:
    """Warm-up and measured window of one run. Raises UsageError where a run has no length."""
    if spec.effective_duration_ns is None:
        raise UsageError(
            "a run that ends after a number of operations has no window to put a background beside",
            hint="give --duration",
        )
    return spec.effective_warmup_ns + spec.effective_duration_ns


def _estimate(spec: Spec, settings: InterferenceSettings) -> TimeEstimate:
    run = run_time(_run_ns(spec) / NS_PER_S)
    documents = message("up to {count} documents in the background", count=format_count(settings.rows))
    beside = message("with {background}", background=Verbatim(settings.background))
    return pairs_time(settings.pairs, {"alone": run, beside: run}, further=(documents,))


INTERFERENCE = Kind(
    kind=INTERFERENCE_KIND,
    verb="interfere",
    made_in=interfere_in,
    stored=partial(stored_settings, InterferenceSettings),
    result=interference_result,
    estimate=_estimate,
    check=_check,
)


def _figures(directory: Path) -> Mapping[str, Figure]:
    """Those of a record; none where no pair counts."""
    try:
        return figures_beside(interference_result(read_experiment(directory)).comparison)
    except InvalidRun:
        return {}


def figures_beside(comparison: Comparison) -> Mapping[str, Figure]:
    """What the background leaves of each figure, as a share of what it is alone, and throughput alone and beside it."""
    found = [_beside(each) for each in comparison.changes if not each.metric.absolute and each.a > 0]
    for each in comparison.changes:
        if each.metric.key == "throughput":
            for key, label, value in (
                ("alone", "Throughput alone", each.a),
                ("beside", "Throughput beside it", each.b),
            ):
                found.append(Figure(key=key, value=value, unit=each.metric.unit, label=label, higher_is_better=True))
    return {figure.key: figure for figure in found}


def _beside(each: MetricChange) -> Figure:
    """As a share, without an interval where a single pair was made."""
    change = each.change
    return Figure(
        key=f"{each.metric.key}_beside",
        value=each.b / each.a if change is None else 1 + change.value,
        low=None if change is None else 1 + change.low,
        high=None if change is None else 1 + change.high,
        unit="share",
        label=message("{metric} beside it, of that alone", metric=each.metric.label),
        higher_is_better=each.metric.higher_is_better,
    )


def _said(spec: Spec, said: Mapping[str, Any]) -> InterferenceSettings:
    words = {name: value for name, value in said.items() if value is not None}
    rows = words.get("rows") or default_rows(spec, words.get("background", "import"))
    _run_ns(spec)
    return InterferenceSettings(**{**words, "rows": rows})


MEASURE = MeasureInPlace(
    measure=Measure(name="interfere", kind=INTERFERENCE_KIND, figures=_figures),
    made_in=interfere_in,
    settings=_said,
    estimate=_estimate,
)
"""An interference as a design crosses it; said to it are `InterferenceSettings`."""

"""Owns the verb `ab`: two workloads in turns on one server, and what differs between them."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack

from brimline.analysis.compared_run import ComparedRun
from brimline.analysis.comparison import Comparison, compare_runs, noise_floor
from brimline.analysis.gate import GateCase, gate
from brimline.api.compared_record import read_compared
from brimline.api.gating import gate_error
from brimline.api.kinds import Kind, conduct, go_on, measure_named
from brimline.api.options import Options, typed
from brimline.api.pairs import run_pairs, target_lost
from brimline.api.planning import run_s
from brimline.api.recording import recording
from brimline.api.results import Result
from brimline.api.resume import require_same, stored_workload, way_on
from brimline.api.workload import WorkloadWords, load_workload, overrides_of, properties_of
from brimline.api.workplace import Workplace
from brimline.errors import BrimlineError, InvalidRun, TargetError, UsageError, redact_text
from brimline.execution import allow_descriptors
from brimline.experiments.cost import TimeEstimate, pairs_time, run_time
from brimline.experiments.paired.ab import AB_KIND, ABSettings
from brimline.experiments.paired.order import Arm
from brimline.experiments.paired.runner import ArmPlan, pair_entries
from brimline.experiments.stored import stored_settings
from brimline.plan import Plan, resolve
from brimline.record import ExperimentRecord
from brimline.record.files import is_there, replace_text
from brimline.record.layout import EXPERIMENT_FILE, SPEC_B_FILE, SPEC_FILE, TARGET_LOST
from brimline.report.comparison.view import comparison_report
from brimline.spec import LoadedSpec, Spec

_OWN_COLLECTION = "_b"


@dataclass(frozen=True, slots=True, kw_only=True)
class ABWork:
    """What a comparison is made of besides the workload A."""

    settings: ABSettings
    b: LoadedSpec


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ABResult(Result):
    """One A/B comparison. `cases` are those of the gate, empty without one."""

    experiment: ExperimentRecord
    comparison: Comparison
    cases: tuple[GateCase, ...] = ()

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, or the gate's answer."""
        if self.interrupted is not None:
            return self.interrupted
        return target_lost(self.comparison, hint=self.where_to_go_on(AB_KIND)) or gate_error(self.cases)


@typed
def ab(
    a: str | Path | None = None,
    b: str | Path | None = None,
    *,
    settings: ABSettings | None = None,
    gate: Mapping[str, float] | None = None,
    overrides_a: Mapping[str, object] | None = None,
    overrides_b: Mapping[str, object] | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> ABResult:
    """Runs two workloads in turns and compares them; without `b` the same one, changed by `overrides_b`.

    `words` are for both, YCSB's properties among them. `gate`: by metric key, the share by which B may be worse.

    Raises BrimlineError where nothing can be compared; see `ABResult.error` for the rest.
    """
    both, properties = overrides_of(words), properties_of(words)
    loaded_a = load_workload(a, overrides={**both, **(overrides_a or {})}, **properties)
    loaded_b = load_workload(a if b is None else b, overrides={**both, **(overrides_b or {})}, **properties)
    return ab_loaded(loaded_a, loaded_b, settings or ABSettings(), options or Options(), limits=gate)


def resumed_ab(directory: Path, options: Options, *, limits: Mapping[str, float] | None = None) -> ABResult:
    """Goes on with the comparison in `directory`. Raises UsageError where it can't be."""
    result: ABResult = go_on(directory, options, _held_to(limits))
    return result


def ab_loaded(
    a: LoadedSpec,
    b: LoadedSpec,
    settings: ABSettings,
    options: Options,
    *,
    limits: Mapping[str, float] | None = None,
) -> ABResult:
    """`ab` for specs that are read already."""
    return conduct(_held_to(limits), a, ABWork(settings=settings, b=b), options)


def _held_to(limits: Mapping[str, float] | None) -> Kind[ABWork, ABResult]:
    return replace(AB, result=partial(ab_result, limits=limits))


def ab_in(place: Workplace, work: ABWork, *, directory: Path | None = None, resume: bool = False) -> Path:
    """Runs the workload of `place` and B in turns there; returns the directory. Raises BrimlineError."""
    settings, b = work.settings, work.b
    place_b = place.beside(b)
    both = place.naming({SPEC_FILE: place.spec, SPEC_B_FILE: b.spec})
    plan_a, plan_b = _plan(place), _plan(place_b)
    if _collide(place, place_b):
        place_b = _moved(place_b)
        plan_b = _plan(place_b)
        there = plan_b.namespace.database if place_b.spec.is_own else plan_b.namespace.collection
        place.context.progress.note(f"the data differs, so that of B goes into {there}")
    # What is put back before each run is said once, whichever arm it is for.
    place_b.context.carried.told = place.context.carried.told
    place_b.context.carried.taken_s = place.context.carried.taken_s
    plan_hash = f"{plan_a.hash8()}-{plan_b.hash8()}"
    require_same(directory if resume else None, plan_hash=plan_hash, environment=both.context.environment)
    for plan in (plan_a, plan_b):
        allow_descriptors(plan)
    for each in (place, place_b):
        each.prepare()
    place.stop.raise_if_requested()
    measured_a, measured_b = (_measured(each, settings) for each in (place, place_b))
    arms: dict[Arm, ArmPlan] = {
        "A": ArmPlan(plan=plan_a, context=place.context, title="A", label="a", measured=measured_a),
        "B": ArmPlan(plan=plan_b, context=place_b.context, title="B", label="b", measured=measured_b),
        "A2": ArmPlan(plan=plan_a, context=place.context, title="A against itself", label="a2", measured=measured_a),
    }
    name = " and ".join(dict.fromkeys((place.spec.name, b.spec.name)))
    with recording(
        both,
        plan_a,
        kind=AB_KIND,
        settings=asdict(settings),
        directory=directory,
        resume=resume,
        name=name,
        plan_hash=plan_hash,
    ) as writer:
        if not resume:
            replace_text(writer.directory / SPEC_B_FILE, redact_text(place_b.context.spec_text))
        run_pairs(place, settings.arms, settings.pairs, arms, writer)
    return writer.directory


def ab_result(experiment: ExperimentRecord, *, limits: Mapping[str, float] | None = None) -> ABResult:
    """What the runs show, now or years later.

    Raises InvalidRun where an arm has no run that counts, TargetError where that is because the target went away.
    """
    runs: dict[Arm, list[ComparedRun]] = {}
    for probe, entry in pair_entries(experiment):
        runs.setdefault(probe.arm, []).append(read_compared(entry.directory))
    for arm in ("A", "B"):
        if arm not in runs:
            raise InvalidRun(f"there is no run of {arm} in {experiment.directory}", hint="repeat the comparison")
        lost = [run for run in runs[arm] if run.ended_by == TARGET_LOST]
        if lost and all(run.problems for run in runs[arm]):
            raise TargetError(
                f"the target went away: {lost[0].problems[0]}",
                hint=way_on(AB_KIND, experiment.directory),
            )
    again = [run for run in runs.get("A2", ()) if not run.problems]
    floors = noise_floor(runs["A"], again) if again else None
    margin = float(experiment.settings.get("margin", ABSettings().margin))
    comparison = compare_runs(runs["A"], runs["B"], margin=margin, floors=floors)
    cases = gate(comparison, limits or {})
    return ABResult(
        report=comparison_report(comparison, cases, experiment=experiment),
        directory=experiment.directory,
        experiment=experiment,
        comparison=comparison,
        cases=cases,
    )


def _measured(place: Workplace, settings: ABSettings) -> Callable[[Path], tuple[ComparedRun, str]] | None:
    """Makes what an arm measures in a directory, or goes on with it; None: a run."""
    made = measure_named(settings.measure)
    if made is None:
        return None
    asked = made.settings(place.spec, settings.said)

    def measured(directory: Path) -> tuple[ComparedRun, str]:
        made.made_in(place, asked, directory=directory, resume=is_there(directory / EXPERIMENT_FILE))
        from brimline.api.reopen import open_result  # which opens comparisons as well

        result = open_result(directory)
        result.write(place.options.language)
        said = result.report.verdict
        figure = " ".join(filter(None, (said.figure, said.unit, said.interval and f"({said.interval})")))
        return read_compared(directory), f"{said.caption}: {figure}" if figure else said.sentence

    return measured


def _plan(place: Workplace) -> Plan:
    return resolve(place.spec, target=place.target)


def _collide(a: Workplace, b: Workplace) -> bool:
    """Whether one collection would have to hold two kinds of data, or be two things."""
    there = {each.namespace: each for each in a.wanted}
    return any(each.namespace in there and each.is_other_than(there[each.namespace]) for each in b.wanted)


def _moved(place: Workplace) -> Workplace:
    """B with a collection of its own; with a database of its own where it has several. Raises UsageError."""
    spec = place.spec
    if not spec.is_own:
        data = spec.data.model_copy(update={"collection": f"{spec.data.collection}{_OWN_COLLECTION}"})
        return place.with_spec(spec.model_copy(update={"data": data}))
    if len(spec.shapes) < len(spec.collections or {}):
        raise UsageError(
            "the data of A and B differ in the same collections, and live ones are beside them",
            hint="give one of the workloads a database of its own",
        )
    database = f"{spec.data.database}{_OWN_COLLECTION}"
    data = spec.data.model_copy(update={"database": database})
    return place.with_spec(spec.model_copy(update={"data": data, "database": database}))


def _arm_time(spec: Spec, settings: ABSettings) -> TimeEstimate:
    made = measure_named(settings.measure)
    if made is not None:
        return made.estimate(spec, made.settings(spec, settings.said))
    return run_time(None if spec.effective_duration_ns is None else run_s(spec))


def _estimate(a: Spec, work: ABWork) -> TimeEstimate:
    arms = {"A": _arm_time(a, work.settings), "B": _arm_time(work.b.spec, work.settings)}
    return pairs_time(work.settings.pairs, arms | ({"A2": arms["A"]} if work.settings.floor else {}))


def _stored(experiment: ExperimentRecord) -> ABWork:
    directory = experiment.directory
    if not (directory / SPEC_B_FILE).exists():
        raise UsageError(f"{directory} doesn't say what B is", hint="it was begun by an older brimline; begin anew")
    return ABWork(settings=stored_settings(ABSettings, experiment), b=stored_workload(directory, SPEC_B_FILE))


AB = Kind(kind=AB_KIND, verb="ab", made_in=ab_in, stored=_stored, result=ab_result, estimate=_estimate)

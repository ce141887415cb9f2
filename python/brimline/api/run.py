"""Owns the verb `run`: one run of a workload, observed and reported."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brimline.analysis.objective import Slo
from brimline.analysis.observation import observe
from brimline.analysis.steady import counted, steady_state
from brimline.analysis.verdict import judge
from brimline.api.options import Options
from brimline.api.results import RunResult
from brimline.api.workload import load_workload, objective
from brimline.api.workplace import Workplace, workplace
from brimline.errors import Interrupted, TargetError
from brimline.execution import StopToken, execute, restore_data
from brimline.plan import Plan, resolve
from brimline.record import RunRecord
from brimline.report import run_report
from brimline.report.apdex import JMETER_THRESHOLDS, ApdexThresholds
from brimline.spec import LoadedSpec


def run(
    workload: str | Path | None = None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    options: Options | None = None,
) -> RunResult:
    """Runs a workload once and writes its record and report.

    `workload` is a shipped name or a file; `overrides` maps dotted spec paths to values ({"connections": 64}).

    Raises BrimlineError where nothing was measured; a run that was measured and is no good has `RunResult.error`.
    """
    loaded = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides)
    return run_loaded(loaded, options or Options())


def run_loaded(loaded: LoadedSpec, options: Options) -> RunResult:
    """`run` for a spec that is read already."""
    with workplace(loaded, options) as place:
        plan = resolve(place.spec, target=place.target)
        place.ensure_data(plan)
        place.stop.raise_if_requested()
        directory = place.directory(plan)
        record = execute(plan, directory=directory, title=plan.name, context=place.context)
        result = run_result(record, objective(place.spec), interrupted=interruption(place.stop, directory))
        result.write(options.language)
        if record.complete:
            _restore(plan, place)
    return result


def _restore(plan: Plan, place: Workplace) -> None:
    """Takes inserted documents away again. The run is measured and written: a failure here must not cost it."""
    try:
        restore_data(plan, deployment=place.context.deployment)
    except TargetError as error:
        place.context.progress.note(f"the documents that the run inserted are still there: {error.message}")


def interruption(stop: StopToken, directory: Path) -> Interrupted | None:
    """The error of a verb that a signal ended."""
    return stop.error(kept=str(directory)) if stop.requested else None


def run_result(
    record: RunRecord,
    slo: Slo | None,
    *,
    interrupted: Interrupted | None = None,
    apdex: ApdexThresholds = JMETER_THRESHOLDS,
) -> RunResult:
    """What a record shows, now or years later."""
    steady = steady_state(record)
    told_apart = counted(record, steady)  # here, so that observation and report don't each do it
    observation = observe(told_apart, objectives=slo.latencies if slo else (), steady=steady)
    judgement = judge(observation, slo) if slo is not None and not observation.closed_loop else None
    return RunResult(
        report=run_report(told_apart, observation, slo=slo, judgement=judgement, apdex=apdex),
        directory=record.directory,
        interrupted=interrupted,
        record=record,
        observation=observation,
        slo=slo,
        judgement=judgement,
    )

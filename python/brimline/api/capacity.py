"""Owns the verb `capacity`: the highest rate a deployment sustains within its objective, and why it stops there."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from brimline.analysis.verdict import Slo
from brimline.api.options import Options
from brimline.api.results import CapacityResult
from brimline.api.run import interruption
from brimline.api.workload import load_workload, objective
from brimline.api.workplace import workplace
from brimline.errors import Interrupted
from brimline.experiments.capacity import Capacity
from brimline.experiments.runner import run_trials
from brimline.experiments.settings import CapacitySettings, TimeEstimate, capacity_time, quick, standard
from brimline.experiments.trial import Trial
from brimline.plan import resolve
from brimline.record import ExperimentRecord, ExperimentWriter, read_experiment, read_record
from brimline.report import capacity_report, detail_trial
from brimline.spec import LoadedSpec, Spec

Preset = Literal["quick", "standard"]


def capacity(
    workload: str | Path | None = None,
    *,
    preset: Preset = "standard",
    settings: CapacitySettings | None = None,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    options: Options | None = None,
) -> CapacityResult:
    """Searches the highest sustained rate. `settings` replaces `preset`; the spec's `slo` is the objective.

    Raises BrimlineError where nothing was measured; a search without a number has `CapacityResult.error`.
    """
    loaded = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides)
    return capacity_loaded(loaded, settings or settings_for(loaded.spec, preset), options or Options())


def settings_for(spec: Spec, preset: Preset) -> CapacitySettings:
    """The preset with the objective of `spec`."""
    slo: Slo | None = objective(spec)
    return quick(slo) if preset == "quick" else standard(slo)


def time_estimate(settings: CapacitySettings) -> TimeEstimate:
    """How long a search takes, without loading."""
    return capacity_time(settings)


def capacity_loaded(loaded: LoadedSpec, settings: CapacitySettings, options: Options) -> CapacityResult:
    """`capacity` for a spec that is read already."""
    with workplace(loaded, options) as place:
        plan = resolve(place.spec, target=place.target)
        place.ensure_data(plan)
        directory = place.directory(plan, kind="capacity")
        seed = place.spec.seed
        with ExperimentWriter(
            directory,
            kind="capacity",
            name=place.spec.name,
            settings={**asdict(settings), "seed": seed},
            spec_text=loaded.text,
            environment=place.context.environment,
        ) as writer:
            trials = run_trials(
                Capacity(settings, seed), spec=place.spec, target=place.target, writer=writer, context=place.context
            )
            writer.seal(ended_by="interrupt" if place.stop.requested else "completed")
    result = capacity_result(
        read_experiment(directory), trials, settings, seed, interrupted=interruption(place.stop, directory)
    )
    result.write()
    return result


def capacity_result(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    settings: CapacitySettings,
    seed: int,
    *,
    interrupted: Interrupted | None = None,
) -> CapacityResult:
    """What the trials show, now or years later."""
    conclusion = Capacity(settings, seed).conclude(trials)
    index = detail_trial(trials, conclusion)
    detail = None if index is None else read_record(experiment.trials[index].directory)
    return CapacityResult(
        report=capacity_report(experiment, trials, conclusion, settings, detail=detail),
        directory=experiment.directory,
        interrupted=interrupted,
        experiment=experiment,
        trials=trials,
        settings=settings,
        conclusion=conclusion,
    )

"""Owns the verb `sweep`: throughput and service time over the number of connections."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from brimline.api.options import Options
from brimline.api.results import SweepResult
from brimline.api.run import interruption
from brimline.api.workload import load_workload
from brimline.api.workplace import workplace
from brimline.errors import Interrupted
from brimline.experiments.runner import run_trials
from brimline.experiments.settings import SweepSettings
from brimline.experiments.sweep import Sweep
from brimline.experiments.trial import Trial
from brimline.plan import resolve
from brimline.record import ExperimentRecord, ExperimentWriter, read_experiment, read_record
from brimline.report import detail_trial, sweep_report
from brimline.spec import LoadedSpec


def sweep(
    workload: str | Path | None = None,
    *,
    settings: SweepSettings | None = None,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    options: Options | None = None,
) -> SweepResult:
    """Runs a workload in a closed loop over 1, 2, 4 … connections until throughput stops rising.

    Raises BrimlineError where nothing was measured; a sweep without a plateau has `SweepResult.error`.
    """
    loaded = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides)
    return sweep_loaded(loaded, settings or SweepSettings(), options or Options())


def sweep_loaded(loaded: LoadedSpec, settings: SweepSettings, options: Options) -> SweepResult:
    """`sweep` for a spec that is read already."""
    with workplace(loaded, options) as place:
        plan = resolve(place.spec, target=place.target)
        place.ensure_data(plan)
        directory = place.directory(plan, kind="sweep")
        seed = place.spec.seed
        with ExperimentWriter(
            directory,
            kind="sweep",
            name=place.spec.name,
            settings={**asdict(settings), "seed": seed},
            spec_text=loaded.text,
            environment=place.context.environment,
        ) as writer:
            trials = run_trials(
                Sweep(settings, seed), spec=place.spec, target=place.target, writer=writer, context=place.context
            )
            writer.seal(ended_by="interrupt" if place.stop.requested else "completed")
    result = sweep_result(
        read_experiment(directory), trials, settings, seed, interrupted=interruption(place.stop, directory)
    )
    result.write()
    return result


def sweep_result(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    settings: SweepSettings,
    seed: int,
    *,
    interrupted: Interrupted | None = None,
) -> SweepResult:
    """What the trials show, now or years later."""
    conclusion = Sweep(settings, seed).conclude(trials)
    index = detail_trial(trials, conclusion)
    detail = None if index is None else read_record(experiment.trials[index].directory)
    return SweepResult(
        report=sweep_report(experiment, trials, conclusion, detail=detail),
        directory=experiment.directory,
        interrupted=interrupted,
        experiment=experiment,
        trials=trials,
        conclusion=conclusion,
    )

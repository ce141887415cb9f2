"""Owns conducting an experiment: surroundings up, data in place, trials run, the experiment's record sealed."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from brimline.api.options import Options
from brimline.api.run import interruption
from brimline.api.workplace import workplace
from brimline.errors import BrimlineError, Interrupted
from brimline.experiments.conclusion import CapacityConclusion
from brimline.experiments.runner import Experiment, run_trials
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.experiments.sweep import SweepConclusion
from brimline.experiments.trial import Trial
from brimline.plan import resolve
from brimline.record import ExperimentRecord, ExperimentWriter, RunRecord, read_experiment, read_record
from brimline.report import detail_trial
from brimline.spec import LoadedSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Conducted:
    """An experiment that has been conducted, as far as it came. `seed` is that of its own choices."""

    experiment: ExperimentRecord
    trials: Sequence[Trial]
    seed: int
    interrupted: Interrupted | None = None


def conduct(
    loaded: LoadedSpec,
    options: Options,
    *,
    kind: str,
    settings: CapacitySettings | SweepSettings,
    make: Callable[[int], Experiment],
) -> Conducted:
    """Runs the experiment that `make` makes from a seed. Raises BrimlineError; the trials until then are kept."""
    with workplace(loaded, options) as place:
        plan = resolve(place.spec, target=place.target)
        place.ensure_data(plan)
        place.stop.raise_if_requested()
        directory = place.directory(plan, kind=kind)
        seed = place.spec.seed
        with ExperimentWriter(
            directory,
            kind=kind,
            name=place.spec.name,
            settings={**asdict(settings), "seed": seed},
            spec_text=loaded.text,
            environment=place.context.environment,
        ) as writer:
            try:
                trials = run_trials(
                    make(seed), spec=place.spec, target=place.target, writer=writer, context=place.context
                )
            except BrimlineError as error:
                writer.seal(ended_by="error", message=error.message)
                error.hint = error.hint or f"what was measured is kept: brimline show {directory}"
                raise
            writer.seal(ended_by="interrupt" if place.stop.requested else "completed")
    return Conducted(
        experiment=read_experiment(directory),
        trials=trials,
        seed=seed,
        interrupted=interruption(place.stop, directory),
    )


def detail_record(conducted: Conducted, conclusion: CapacityConclusion | SweepConclusion) -> RunRecord | None:
    """The run of the trial that the report shows more closely."""
    index = detail_trial(conducted.trials, conclusion)
    return None if index is None else read_record(conducted.experiment.trials[index].directory)

"""Owns conducting an experiment: surroundings up, data in place, trials run, the experiment's record sealed."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

from brimline.analysis.objective import Slo
from brimline.api.options import Options
from brimline.api.recording import recording
from brimline.api.resume import require_same, resuming_verb
from brimline.api.run import interruption
from brimline.api.workplace import Workplace, workplace
from brimline.errors import Interrupted
from brimline.execution import allow_descriptors, connections_allowed
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.frontier import FrontierConclusion, FrontierSettings
from brimline.experiments.cost import TimeEstimate
from brimline.experiments.runner import Experiment, run_trials
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.experiments.stored import stored_trials
from brimline.experiments.sweep import SweepConclusion
from brimline.experiments.trial import Trial
from brimline.plan import resolve
from brimline.record import ExperimentRecord, RunRecord, read_experiment, read_record
from brimline.report import detail_trial
from brimline.spec import LoadedSpec

Settings = TypeVar("Settings", CapacitySettings, SweepSettings, FrontierSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conducted(Generic[Settings]):
    """An experiment that has been conducted, as far as it came. `seed` is that of its own choices."""

    experiment: ExperimentRecord
    settings: Settings
    trials: Sequence[Trial]
    seed: int
    interrupted: Interrupted | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Generic[Settings]):
    """What is conducted: the experiment that `make` makes from `settings` and a seed.

    `slo` says which figures of a run are needed.
    """

    kind: str
    settings: Settings
    make: Callable[[Settings, int], Experiment]
    slo: Slo | None = None


def conduct(
    loaded: LoadedSpec,
    options: Options,
    search: Search[Settings],
    *,
    estimate: TimeEstimate,
    resume: Path | None = None,
) -> Conducted[Settings]:
    """Brings a target up and conducts `search` on it. Raises BrimlineError; its trials are kept.

    `estimate` is said first, unless part of it is spent. `resume`: the directory of an experiment of the same kind to
    go on with, whose finished trials count.
    """
    if resume is None:
        options.progress.note(estimate.text)
    with workplace(loaded, options, resume=resume) as place:
        return conduct_in(place, search, directory=resume, resume=resume is not None)


def conduct_in(
    place: Workplace, search: Search[Settings], *, directory: Path | None = None, resume: bool = False
) -> Conducted[Settings]:
    """Conducts `search` in a place that is up. Raises BrimlineError; its trials are kept.

    The settings are those of `search` within the connections that there may be. `directory` is where the record goes,
    None: a new one; with `resume` it holds the experiment that is gone on with.
    """
    plan = resolve(place.spec, target=place.target)
    seed = place.spec.seed
    if directory is not None and resume:
        require_same(read_experiment(directory), plan_hash=plan.hash8(), environment=place.context.environment)
    allow_descriptors(plan, connections=search.settings.connections_needed)
    settings = search.settings.within(connections_allowed(plan))
    place.prepare()
    place.stop.raise_if_requested()
    with recording(
        place, plan, kind=search.kind, settings=asdict(settings), directory=directory, resume=resume
    ) as writer:
        done = stored_trials(read_experiment(writer.directory), slo=search.slo) if resume else []
        trials = run_trials(
            search.make(settings, seed),
            spec=place.spec,
            target=place.target,
            writer=writer,
            context=place.context,
            slo=search.slo,
            done=done,
        )
    return Conducted(
        experiment=read_experiment(writer.directory),
        settings=settings,
        trials=trials,
        seed=seed,
        interrupted=interruption(place.stop, writer.directory, resumed_by=resuming_verb(search.kind)),
    )


def detail_record(
    conducted: Conducted[Settings], conclusion: CapacityConclusion | SweepConclusion | FrontierConclusion
) -> RunRecord | None:
    """The run of the trial that the report shows more closely."""
    chosen = conclusion.points[0].conclusion if isinstance(conclusion, FrontierConclusion) else conclusion
    index = detail_trial(conducted.trials, chosen)
    return None if index is None else read_record(conducted.experiment.trials[index].directory)

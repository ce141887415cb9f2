"""Owns conducting a search in a place that is up: data in place, trials run, the record sealed."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

from brimline.analysis.objective import Slo
from brimline.api.recording import recording
from brimline.api.resume import require_same
from brimline.api.workplace import Workplace
from brimline.execution import allow_descriptors, connections_allowed
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.frontier import FrontierConclusion, FrontierSettings
from brimline.experiments.runner import Experiment, run_trials
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.experiments.stored import stored_trials
from brimline.experiments.sweep import SweepConclusion
from brimline.experiments.trial import SEARCH_STAGES, Trial
from brimline.plan import resolve
from brimline.record import ExperimentRecord, RunRecord, read_experiment, read_record
from brimline.report import detail_trial

Settings = TypeVar("Settings", CapacitySettings, SweepSettings, FrontierSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Generic[Settings]):
    """What is conducted: the experiment that `make` makes from `settings` and a seed.

    `slo` says which figures of a run are needed.
    """

    kind: str
    settings: Settings
    make: Callable[[Settings, int], Experiment]
    slo: Slo | None = None


def conduct_in(
    place: Workplace, search: Search[Settings], *, directory: Path | None = None, resume: bool = False
) -> Path:
    """Conducts `search` in a place that is up; returns its directory. Raises BrimlineError; its trials are kept.

    The settings are those of `search` within the connections that there may be. `directory` is where the record goes,
    None: a new one; with `resume` it holds the experiment that is gone on with.
    """
    plan = resolve(place.spec, target=place.target)
    require_same(directory if resume else None, plan_hash=plan.hash8(), environment=place.context.environment)
    allow_descriptors(plan, connections=search.settings.connections_needed)
    settings = search.settings.within(connections_allowed(plan))
    place.prepare()
    place.stop.raise_if_requested()
    with recording(
        place,
        plan,
        kind=search.kind,
        settings=asdict(settings),
        directory=directory,
        resume=resume,
        settled_by=SEARCH_STAGES,
    ) as writer:
        run_trials(
            search.make(settings, place.spec.seed),
            spec=place.spec,
            target=place.target,
            writer=writer,
            context=place.context,
            slo=search.slo,
            done=stored_trials(read_experiment(writer.directory), slo=search.slo) if resume else (),
        )
    return writer.directory


def detail_record(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    conclusion: CapacityConclusion | SweepConclusion | FrontierConclusion,
) -> RunRecord | None:
    """The run of the trial that the report shows more closely."""
    chosen = conclusion.points[0] if isinstance(conclusion, FrontierConclusion) else conclusion
    index = detail_trial(trials, chosen)
    return None if index is None else read_record(experiment.trials[index].directory)

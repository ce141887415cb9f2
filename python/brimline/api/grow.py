"""Owns the verb `grow`: a collection that grows by steps, import and queries at each, and where they break."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from brimline.api.kinds import Kind, MeasureInPlace, conduct
from brimline.api.options import Options, typed
from brimline.api.own_lab import wants_lab
from brimline.api.protocols import require_mongodb
from brimline.api.recording import recording
from brimline.api.results import Result
from brimline.api.resume import require_same, resuming_command, uri_option
from brimline.api.workload import WorkloadWords, load_workload
from brimline.api.workplace import Workplace, given_uri
from brimline.errors import BrimlineError, InvalidRun, TargetError, UsageError
from brimline.execution import allow_connections, allow_descriptors
from brimline.experiments.conductor import conduct_trials
from brimline.experiments.growth.conclusion import GrowthConclusion, conclude
from brimline.experiments.growth.cost import growth_cost, require_room
from brimline.experiments.growth.figures import growth_figures
from brimline.experiments.growth.order import (
    Growth,
    GrowthEnd,
    GrowthSettings,
    GrowthTrial,
    IndexSet,
    Protocol,
    with_budget,
)
from brimline.experiments.growth.runner import GrowthWork, step_spec
from brimline.experiments.growth.stored import GROWTH_KIND, stored_growth_trials
from brimline.experiments.measure import Measure
from brimline.experiments.stored import read_part, stored_settings
from brimline.plan import load_plan
from brimline.record import ExperimentRecord, read_experiment
from brimline.report.growth.view import growth_report
from brimline.spec import LoadedSpec, Spec


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GrowthResult(Result):
    """One growth experiment. Without a breakpoint it has an answer all the same: none."""

    experiment: ExperimentRecord
    trials: Sequence[GrowthTrial]
    settings: GrowthSettings
    conclusion: GrowthConclusion

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, or nothing measured."""
        if self.interrupted is not None:
            return self.interrupted
        if self.conclusion.ended_by is GrowthEnd.BROKEN_OFF:
            return TargetError(
                f"the growth broke off: {self.trials[-1].ended_by}",
                hint=self.where_to_go_on("grow"),
            )
        if not self.conclusion.sets:
            return InvalidRun("nothing was measured", hint=self.where_to_look)
        return None


@typed
def grow(
    workload: str | Path | None = None,
    *,
    settings: GrowthSettings,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> GrowthResult:
    """Grows the collection of a workload step by step, measures import and queries, and looks for breakpoints.

    Of the workload its data, target and seed count; queries are reads of one document by a uniformly drawn primary key.
    Raises BrimlineError where nothing was measured, UsageError where the data won't fit on the server's disk.
    """
    loaded = load_workload(workload, **words)
    return grow_loaded(loaded, settings, options or Options())


def grow_loaded(
    loaded: LoadedSpec, settings: GrowthSettings, options: Options, *, resume: Path | None = None
) -> GrowthResult:
    """`grow` for a spec that is read already. `resume`: the directory of one to go on with."""
    return conduct(GROWTH, loaded, settings, options, resume=resume)


def _check(loaded: LoadedSpec, settings: GrowthSettings, options: Options) -> None:
    """Raises UsageError for what can't be, before anything is started."""
    if options.null:
        raise UsageError("a null target holds no data that could grow", hint="leave --null out")
    _require_indexable(settings, loaded.spec)
    require_mongodb("grow", given_uri(loaded.spec, options), options)
    if settings.protocol is not Protocol.HOT and wants_lab(options):
        raise UsageError(
            f"{settings.protocol} queries need a server that brimline may start again, and those of a lab stay up",
            hint="leave --topology, --network and --cpu-share out, or give --protocol hot",
        )
    allow_connections(max(settings.connections))  # known before a server is started; again when it is known what it is


def growth_result(experiment: ExperimentRecord) -> GrowthResult:
    """What the trials show, now or years later."""
    settings, trials = stored_settings(GrowthSettings, experiment), stored_growth_trials(experiment)
    conclusion = conclude(settings, trials)
    return GrowthResult(
        report=growth_report(experiment, trials, conclusion, settings),
        directory=experiment.directory,
        experiment=experiment,
        trials=trials,
        settings=settings,
        conclusion=conclusion,
    )


def grow_in(place: Workplace, settings: GrowthSettings, *, directory: Path | None = None, resume: bool = False) -> Path:
    """A growth in a place that is up; returns its directory. Raises BrimlineError; what was measured is kept."""
    deployment = place.context.deployment
    if deployment is None:
        raise UsageError("a null target holds no data that could grow", hint="leave --null out")
    _require_indexable(settings, place.spec)
    if settings.protocol is not Protocol.HOT and deployment.own is None:
        raise UsageError(
            f"{settings.protocol} queries need a server that brimline may start again",
            hint="leave --uri out, or give --protocol hot",
        )
    require_room(growth_cost(settings, place.spec.data), deployment)
    plan = load_plan(step_spec(place.spec, settings.to_records), target=place.target)
    allow_descriptors(plan, connections=max(plan.connections, *settings.connections))
    require_same(directory if resume else None, plan_hash=plan.hash8(), environment=place.context.environment)
    with recording(
        place,
        plan,
        kind=GROWTH_KIND,
        settings=asdict(settings),
        directory=directory,
        resume=resume,
    ) as writer:
        directory = writer.directory
        done = stored_growth_trials(read_experiment(directory)) if resume else []
        work = GrowthWork(
            spec=place.spec,
            target=place.target,
            writer=writer,
            context=place.context,
            make_directory=lambda plan: place.directory(plan, kind="load"),
            drop=place.options.drop,
        )
        conduct_trials(
            Growth(settings),
            work,
            writer=writer,
            stop=place.stop,
            progress=place.context.progress,
            done=done,
        )
        if place.stop.requested and place.uri is not None:
            namespace = f"{plan.namespace.database}.{plan.namespace.collection}"
            command = f"{resuming_command('grow', directory)}{uri_option(place.context.environment)}"
            goes_on = f"{command} goes on with it, brimline load replaces it"
            place.context.progress.warning(f"{namespace} holds what grew until now: {goes_on}")
    return directory


def _require_indexable(settings: GrowthSettings, spec: Spec) -> None:
    if IndexSet.COMPOUND in settings.indexes and spec.data.field_count < 2:
        raise UsageError(
            "a compound index needs two fields, and the workload's documents have one",
            hint="leave compound out of --indexes, or give the documents more fields",
        )


GROWTH = Kind(
    kind=GROWTH_KIND,
    verb="grow",
    made_in=grow_in,
    stored=partial(stored_settings, GrowthSettings),
    result=growth_result,
    estimate=lambda spec, settings: growth_cost(settings, spec.data).time,
    check=_check,
    with_budget=with_budget,
)


def _said(spec: Spec, said: Mapping[str, Any]) -> GrowthSettings:
    """The settings of one growth; a level of `connections` or `indexes` is the only one that it has."""
    words = dict(said)
    if isinstance(words.get("connections"), int):
        words["connections"] = (words["connections"],)
    if isinstance(level := words.get("indexes"), str):
        try:
            words["indexes"] = (IndexSet.PRIMARY if level == "none" else IndexSet(level),)
        except ValueError as error:
            raise UsageError(
                f"a growth has no index over {level}", hint=f"index sets are {', '.join(IndexSet)}"
            ) from error
    settings = read_part(GrowthSettings, words)
    _require_indexable(settings, spec)
    return settings


MEASURE = MeasureInPlace(
    measure=Measure(
        name="grow",
        kind=GROWTH_KIND,
        figures=growth_figures,
        meaningless={
            "records": "it grows to what --to says",
            **dict.fromkeys(
                ("in-flight", "rate", "tlr-threads", "loops", "ramp-up", "keys"),
                "its queries are a closed loop over keys drawn uniformly",
            ),
        },
    ),
    made_in=grow_in,
    settings=_said,
    estimate=lambda spec, settings: growth_cost(settings, spec.data).time,
    words=frozenset({"connections", "indexes"}),
    on_data=False,
)
"""A growth as a design crosses it; said to it are `GrowthSettings`."""

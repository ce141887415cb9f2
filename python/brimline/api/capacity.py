"""Owns the verb `capacity`: the highest load a deployment sustains within its objective, and why it stops there.

`frontier` is the same search for each of several limits. Both go the same way: words to settings, `search_loaded`,
`search_result`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, overload

from brimline.api.conducting import Search, conduct_in, detail_record
from brimline.api.kinds import Kind, MeasureInPlace, conduct, go_on
from brimline.api.options import Options, typed
from brimline.api.results import CapacityResult, FrontierResult
from brimline.api.search_settings import Preset, SearchWords, frontier_settings, settings_for, with_budget
from brimline.api.workload import WorkloadWords, load_workload, objective
from brimline.api.workplace import Workplace
from brimline.experiments.axis import On
from brimline.experiments.capacity.figures import CAPACITY
from brimline.experiments.capacity.frontier import Frontier, FrontierSettings
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.cost import TimeEstimate, capacity_time
from brimline.experiments.settings import CapacitySettings, Grade
from brimline.experiments.stored import (
    stored_capacity_settings,
    stored_frontier_settings,
    stored_seed,
    stored_trials,
)
from brimline.record import ExperimentRecord
from brimline.report import capacity_report
from brimline.report.search.frontier_view import frontier_report
from brimline.spec import LoadedSpec, Spec


@typed
def capacity(
    workload: str | Path | None = None,
    *,
    preset: Preset = "standard",
    on: On | str = On.RATE,
    loops: int | None = None,
    ramp_up_s: float | None = None,
    budget_s: float | None = None,
    connections: int | None = None,
    hold: float | None = None,
    max_width: float | None = None,
    require: Grade | str | None = None,
    settings: CapacitySettings | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> CapacityResult:
    """Searches the highest load that is sustained; the spec's `slo` is the objective.

    `on`: what is searched, a `rate`, the `connections` of a closed loop, or the `threads` of T-L-R, whose L and R are
    `loops` and `ramp_up_s`. `budget_s`: end within this time, without loading and putting data back. `connections`: of
    every probe at a rate, else twice those of the sweep's knee. `hold`: the share of windows that meets the objective
    at the sustained load, 0.9 unless said. `max_width` of the interval, as a share of the figure, and `require`, the
    grade (`verified`, `estimated`): where they are missed `CapacityResult.error` says so. `settings` replaces all of
    these.

    Raises BrimlineError where nothing was measured; a search without a number has `CapacityResult.error`.
    """
    loaded = load_workload(workload, **words)
    search = SearchWords.of(
        on=on,
        loops=loops,
        ramp_up_s=ramp_up_s,
        budget_s=budget_s,
        connections=connections,
        hold=hold,
        width_max=max_width,
        require=require,
    )
    chosen = settings or settings_for(loaded.spec, preset, search)
    if settings is not None:
        slo = objective(loaded.spec) or settings.slo
        chosen = replace(settings, slo=slo.on_service_time() if settings.axis.closed_loop else slo)
    return search_loaded(loaded, chosen, options or Options())


@typed
def frontier(
    workload: str | Path | None = None,
    *,
    limits_ns: Sequence[int],
    preset: Preset = "standard",
    on: On | str = On.RATE,
    loops: int | None = None,
    ramp_up_s: float | None = None,
    budget_s: float | None = None,
    connections: int | None = None,
    hold: float | None = None,
    max_width: float | None = None,
    require: Grade | str | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> FrontierResult:
    """`capacity` for each of `limits_ns` on the objective's leading percentile; `budget_s` is for all together.

    Raises BrimlineError where nothing was measured; a frontier that isn't whole has `FrontierResult.error`.
    """
    loaded = load_workload(workload, **words)
    search = SearchWords.of(
        on=on,
        loops=loops,
        ramp_up_s=ramp_up_s,
        budget_s=budget_s,
        connections=connections,
        hold=hold,
        width_max=max_width,
        require=require,
    )
    return search_loaded(loaded, frontier_settings(loaded.spec, preset, limits_ns, search), options or Options())


@typed
def resume_search(
    directory: str | Path, *, budget_s: float | None = None, options: Options | None = None
) -> CapacityResult | FrontierResult:
    """Goes on with a capacity search or a frontier that was cut short; its finished probes count.

    `budget_s` replaces the one it was begun with. Raises BrimlineError where there is nothing to go on with.
    """
    result: CapacityResult | FrontierResult = go_on(
        Path(directory), options or Options(), CAPACITY_KIND, FRONTIER_KIND, budget_s=budget_s
    )
    return result


@overload
def search_loaded(
    loaded: LoadedSpec, settings: CapacitySettings, options: Options, *, resume: Path | None = None
) -> CapacityResult: ...
@overload
def search_loaded(
    loaded: LoadedSpec, settings: FrontierSettings, options: Options, *, resume: Path | None = None
) -> FrontierResult: ...
def search_loaded(
    loaded: LoadedSpec, settings: CapacitySettings | FrontierSettings, options: Options, *, resume: Path | None = None
) -> CapacityResult | FrontierResult:
    """A search for a spec that is read already. `resume`: the directory of one to go on with."""
    if isinstance(settings, FrontierSettings):
        return conduct(FRONTIER_KIND, loaded, settings, options, resume=resume)
    return conduct(CAPACITY_KIND, loaded, settings, options, resume=resume)


def capacity_in(
    place: Workplace, settings: CapacitySettings, *, directory: Path | None = None, resume: bool = False
) -> Path:
    """A capacity search in a place that is up; returns its directory. See `conduct_in`."""
    search = Search(kind="capacity", settings=settings, make=Capacity, slo=settings.slo)
    return conduct_in(place, search, directory=directory, resume=resume)


def frontier_in(
    place: Workplace, settings: FrontierSettings, *, directory: Path | None = None, resume: bool = False
) -> Path:
    """An SLO frontier in a place that is up; returns its directory. See `conduct_in`."""
    search = Search(kind="frontier", settings=settings, make=Frontier, slo=settings.search.slo)
    return conduct_in(place, search, directory=directory, resume=resume)


def capacity_result(experiment: ExperimentRecord) -> CapacityResult:
    """What the trials show, now or years later."""
    settings = stored_capacity_settings(experiment.settings)
    trials = stored_trials(experiment, slo=settings.slo)
    conclusion = Capacity(settings, stored_seed(experiment)).conclude(trials)
    detail = detail_record(experiment, trials, conclusion)
    return CapacityResult(
        report=capacity_report(experiment, trials, conclusion, detail=detail),
        directory=experiment.directory,
        experiment=experiment,
        trials=trials,
        settings=settings,
        conclusion=conclusion,
    )


def frontier_result(experiment: ExperimentRecord) -> FrontierResult:
    """What the trials show, now or years later."""
    settings = stored_frontier_settings(experiment)
    trials = stored_trials(experiment, slo=settings.search.slo)
    conclusion = Frontier(settings, stored_seed(experiment)).conclude(trials)
    detail = detail_record(experiment, trials, conclusion)
    return FrontierResult(
        report=frontier_report(experiment, trials, conclusion, settings, detail=detail),
        directory=experiment.directory,
        experiment=experiment,
        trials=trials,
        settings=settings,
        conclusion=conclusion,
    )


def _said(spec: Spec, said: Mapping[str, Any]) -> CapacitySettings | FrontierSettings:
    words = {name: value for name, value in said.items() if name not in ("preset", "limits_ns")}
    search, preset, limits_ns = SearchWords.of(**words), said.get("preset", "standard"), said.get("limits_ns")
    return frontier_settings(spec, preset, limits_ns, search) if limits_ns else settings_for(spec, preset, search)


def _estimate(_spec: Spec, settings: CapacitySettings | FrontierSettings) -> TimeEstimate:
    if isinstance(settings, FrontierSettings):
        return capacity_time(settings.search, goals=len(settings.limits_ns))
    return capacity_time(settings)


def _search_in(
    place: Workplace, settings: CapacitySettings | FrontierSettings, *, directory: Path, resume: bool
) -> Path:
    if isinstance(settings, FrontierSettings):
        return frontier_in(place, settings, directory=directory, resume=resume)
    return capacity_in(place, settings, directory=directory, resume=resume)


MEASURE = MeasureInPlace(
    measure=CAPACITY,
    made_in=_search_in,
    settings=_said,
    estimate=_estimate,
    words=frozenset({"connections", "loops", "ramp_up_s"}),
)
"""A search as a design crosses it. Said to it are `SearchWords`, the `preset`, and `limits_ns` of a frontier."""


CAPACITY_KIND = Kind(
    kind="capacity",
    verb="capacity",
    made_in=capacity_in,
    stored=lambda experiment: stored_capacity_settings(experiment.settings),
    result=capacity_result,
    estimate=lambda _spec, settings: capacity_time(settings),
    with_budget=with_budget,
)
FRONTIER_KIND = Kind(
    kind="frontier",
    verb="capacity",
    made_in=frontier_in,
    stored=stored_frontier_settings,
    result=frontier_result,
    estimate=lambda _spec, settings: capacity_time(settings.search, goals=len(settings.limits_ns)),
    with_budget=lambda settings, budget_s: replace(settings, search=with_budget(settings.search, budget_s)),
)

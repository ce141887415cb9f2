"""Owns the verb `sweep`: throughput and service time over the number of connections."""

from functools import partial
from pathlib import Path
from typing import Unpack

from brimline.api.conducting import Search, conduct_in, detail_record
from brimline.api.kinds import Kind, MeasureInPlace, conduct
from brimline.api.options import Options, typed
from brimline.api.results import SweepResult
from brimline.api.workload import WorkloadWords, check_no_think_time, load_workload
from brimline.api.workplace import Workplace
from brimline.experiments.cost import sweep_time
from brimline.experiments.settings import SweepSettings
from brimline.experiments.stored import stored_seed, stored_settings, stored_trials
from brimline.experiments.sweep import Sweep
from brimline.experiments.sweep_figures import SWEEP
from brimline.record import ExperimentRecord
from brimline.report import sweep_report
from brimline.spec import LoadedSpec


@typed
def sweep(
    workload: str | Path | None = None,
    *,
    settings: SweepSettings | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> SweepResult:
    """Runs a workload in a closed loop over 1, 2, 4 … connections until throughput stops rising.

    Raises BrimlineError where nothing was measured; a sweep without a plateau has `SweepResult.error`.
    """
    loaded = load_workload(workload, **words)
    return sweep_loaded(loaded, settings or SweepSettings(), options or Options())


def sweep_loaded(
    loaded: LoadedSpec, settings: SweepSettings, options: Options, *, resume: Path | None = None
) -> SweepResult:
    """`sweep` for a spec that is read already. `resume`: the directory of one to go on with."""
    return conduct(SWEEP_KIND, loaded, settings, options, resume=resume)


def sweep_in(place: Workplace, settings: SweepSettings, *, directory: Path | None = None, resume: bool = False) -> Path:
    """A sweep in a place that is up; returns its directory. See `conduct_in`."""
    check_no_think_time(place.spec)
    search = Search(kind="sweep", settings=settings, make=Sweep)
    return conduct_in(place, search, directory=directory, resume=resume)


def sweep_result(experiment: ExperimentRecord) -> SweepResult:
    """What the trials show, now or years later."""
    settings, trials = stored_settings(SweepSettings, experiment), stored_trials(experiment)
    conclusion = Sweep(settings, stored_seed(experiment)).conclude(trials)
    detail = detail_record(experiment, trials, conclusion)
    return SweepResult(
        report=sweep_report(experiment, trials, conclusion, detail=detail),
        directory=experiment.directory,
        experiment=experiment,
        trials=trials,
        conclusion=conclusion,
    )


MEASURE = MeasureInPlace(
    measure=SWEEP,
    made_in=sweep_in,
    settings=lambda _spec, said: SweepSettings(**said),
    estimate=lambda _spec, settings: sweep_time(settings),
)
"""A sweep as a design crosses it; said to it are `SweepSettings`."""


SWEEP_KIND = Kind(
    kind="sweep",
    verb="sweep",
    made_in=sweep_in,
    stored=partial(stored_settings, SweepSettings),
    result=sweep_result,
    estimate=lambda _spec, settings: sweep_time(settings),
    check=lambda loaded, _settings, _options: check_no_think_time(loaded.spec),
)

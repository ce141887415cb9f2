"""Owns the verb `sweep`: throughput and service time over the number of connections."""

from pathlib import Path
from typing import Unpack

from brimline.api.conducting import Conducted, Search, conduct, conduct_in, detail_record
from brimline.api.measures import MeasureInPlace
from brimline.api.options import Options
from brimline.api.results import SweepResult
from brimline.api.workload import WorkloadWords, check_no_think_time, load_workload
from brimline.api.workplace import Workplace
from brimline.experiments.cost import sweep_time
from brimline.experiments.settings import SweepSettings
from brimline.experiments.sweep import Sweep
from brimline.experiments.sweep_figures import SWEEP
from brimline.report import sweep_report
from brimline.spec import LoadedSpec


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
    check_no_think_time(loaded.spec)
    result = sweep_result(conduct(loaded, options, _search(settings), estimate=sweep_time(settings), resume=resume))
    result.write(options.language)
    return result


def sweep_in(place: Workplace, settings: SweepSettings, *, directory: Path | None = None, resume: bool = False) -> Path:
    """A sweep in a place that is up; returns its directory. See `conduct_in`."""
    check_no_think_time(place.spec)
    return conduct_in(place, _search(settings), directory=directory, resume=resume).experiment.directory


def _search(settings: SweepSettings) -> Search[SweepSettings]:
    return Search(kind="sweep", settings=settings, make=Sweep)


def sweep_result(conducted: Conducted[SweepSettings]) -> SweepResult:
    """What the trials show, now or years later."""
    conclusion = Sweep(conducted.settings, conducted.seed).conclude(conducted.trials)
    report = sweep_report(
        conducted.experiment, conducted.trials, conclusion, detail=detail_record(conducted, conclusion)
    )
    return SweepResult(
        report=report,
        directory=conducted.experiment.directory,
        interrupted=conducted.interrupted,
        experiment=conducted.experiment,
        trials=conducted.trials,
        conclusion=conclusion,
    )


MEASURE = MeasureInPlace(measure=SWEEP, measure_in=sweep_in, settings=lambda _spec, said: SweepSettings(**said))
"""A sweep as a design crosses it; said to it are `SweepSettings`."""

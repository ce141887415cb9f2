"""Owns the verb `capacity`: the highest rate a deployment sustains within its objective, and why it stops there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from brimline.api.experiment import Conducted, conduct, detail_record
from brimline.api.options import Options
from brimline.api.results import CapacityResult
from brimline.api.search_settings import Preset, settings_for
from brimline.api.workload import load_workload, objective
from brimline.experiments.capacity import Capacity
from brimline.experiments.cost import TimeEstimate, capacity_time
from brimline.experiments.settings import CapacitySettings
from brimline.report import capacity_report
from brimline.spec import LoadedSpec


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
    chosen = settings_for(loaded.spec, preset)
    if settings is not None:
        slo = objective(loaded.spec) or settings.slo
        chosen = replace(settings, slo=slo.on_service_time() if settings.axis.closed_loop else slo)
    return capacity_loaded(loaded, chosen, options or Options())


def time_estimate(settings: CapacitySettings) -> TimeEstimate:
    """How long a search takes, without loading."""
    return capacity_time(settings)


def capacity_loaded(
    loaded: LoadedSpec, settings: CapacitySettings, options: Options, *, resume: Path | None = None
) -> CapacityResult:
    """`capacity` for a spec that is read already. `resume`: the directory of one to go on with."""
    conducted = conduct(
        loaded,
        options,
        kind="capacity",
        settings=settings,
        make=lambda seed: Capacity(settings, seed),
        slo=settings.slo,
        resume=resume,
    )
    result = capacity_result(conducted, settings)
    result.write(options.language)
    return result


def capacity_result(conducted: Conducted, settings: CapacitySettings) -> CapacityResult:
    """What the trials show, now or years later."""
    conclusion = Capacity(settings, conducted.seed).conclude(conducted.trials)
    report = capacity_report(
        conducted.experiment,
        conducted.trials,
        conclusion,
        settings,
        detail=detail_record(conducted, conclusion),
    )
    return CapacityResult(
        report=report,
        directory=conducted.experiment.directory,
        interrupted=conducted.interrupted,
        experiment=conducted.experiment,
        trials=conducted.trials,
        settings=settings,
        conclusion=conclusion,
    )

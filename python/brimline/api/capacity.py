"""Owns the verb `capacity`: the highest rate a deployment sustains within its objective, and why it stops there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from brimline.analysis.verdict import Slo
from brimline.api.experiment import Conducted, conduct, detail_record
from brimline.api.options import Options
from brimline.api.results import CapacityResult
from brimline.api.workload import load_workload, objective
from brimline.experiments.capacity import Capacity
from brimline.experiments.settings import CapacitySettings, TimeEstimate, capacity_time, quick, standard
from brimline.report import capacity_report
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
    chosen = settings_for(loaded.spec, preset)
    if settings is not None:
        chosen = replace(settings, slo=objective(loaded.spec) or settings.slo)
    return capacity_loaded(loaded, chosen, options or Options())


def settings_for(spec: Spec, preset: Preset) -> CapacitySettings:
    """The preset with the objective of `spec`."""
    slo: Slo | None = objective(spec)
    return quick(slo) if preset == "quick" else standard(slo)


def time_estimate(settings: CapacitySettings) -> TimeEstimate:
    """How long a search takes, without loading."""
    return capacity_time(settings)


def capacity_loaded(loaded: LoadedSpec, settings: CapacitySettings, options: Options) -> CapacityResult:
    """`capacity` for a spec that is read already."""
    conducted = conduct(loaded, options, kind="capacity", settings=settings, make=lambda seed: Capacity(settings, seed))
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

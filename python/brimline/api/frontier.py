"""Owns the SLO frontier: the capacity for each of several limits, in one search."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brimline.api.experiment import Conducted, conduct, detail_record
from brimline.api.options import Options
from brimline.api.results import FrontierResult
from brimline.api.search_settings import Preset, frontier_settings
from brimline.api.workload import load_workload
from brimline.experiments.frontier import Frontier, FrontierSettings
from brimline.report.frontier_view import frontier_report
from brimline.spec import LoadedSpec


def frontier(
    workload: str | Path | None = None,
    *,
    limits_ns: Sequence[int],
    preset: Preset = "standard",
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    options: Options | None = None,
) -> FrontierResult:
    """Searches the highest sustained rate for each of `limits_ns` on the objective's leading percentile.

    Raises BrimlineError where nothing was measured; a frontier that isn't whole has `FrontierResult.error`.
    """
    loaded = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides)
    return frontier_loaded(loaded, frontier_settings(loaded.spec, preset, limits_ns), options or Options())


def frontier_loaded(
    loaded: LoadedSpec, settings: FrontierSettings, options: Options, *, resume: Path | None = None
) -> FrontierResult:
    """`frontier` for a spec that is read already."""
    conducted = conduct(
        loaded,
        options,
        kind="frontier",
        settings=settings,
        make=lambda seed: Frontier(settings, seed),
        slo=settings.search.slo,
        resume=resume,
    )
    result = frontier_result(conducted, settings)
    result.write(options.language)
    return result


def frontier_result(conducted: Conducted, settings: FrontierSettings) -> FrontierResult:
    """What the trials show, now or years later."""
    conclusion = Frontier(settings, conducted.seed).conclude(conducted.trials)
    report = frontier_report(
        conducted.experiment,
        conducted.trials,
        conclusion,
        settings,
        detail=detail_record(conducted, conclusion),
    )
    return FrontierResult(
        report=report,
        directory=conducted.experiment.directory,
        interrupted=conducted.interrupted,
        experiment=conducted.experiment,
        trials=conducted.trials,
        settings=settings,
        conclusion=conclusion,
    )

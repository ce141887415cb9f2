"""Owns the verb `run`: one run of a workload, observed and reported."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brimline.api.options import Options
from brimline.api.workload import load_workload, objective
from brimline.api.workplace import Workplace, workplace
from brimline.errors import Interrupted, TargetError
from brimline.execution import StopToken, allow_descriptors, execute, restore_data
from brimline.plan import Plan, resolve
from brimline.plan.pacing import load_line
from brimline.spec import LoadedSpec

if TYPE_CHECKING:
    from brimline.api.results import RunResult


def run(
    workload: str | Path | None = None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    options: Options | None = None,
) -> "RunResult":
    """Runs a workload once and writes its record and report.

    `workload` is a shipped name or a file; `overrides` maps dotted spec paths to values ({"connections": 64}).

    Raises BrimlineError where nothing was measured; a run that was measured and is no good has `RunResult.error`.
    """
    loaded = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides)
    return run_loaded(loaded, options or Options())


def run_loaded(loaded: LoadedSpec, options: Options) -> "RunResult":
    """`run` for a spec that is read already."""
    with workplace(loaded, options) as place:
        plan = resolve(place.spec, target=place.target)
        slo = objective(place.spec)
        allow_descriptors(plan)
        place.ensure_data(plan)
        place.stop.raise_if_requested()
        options.progress.note(load_line(plan))
        directory = place.directory(plan)
        record = execute(plan, directory=directory, title=plan.name, context=place.context)
        from brimline.api.run_result import run_result  # not before: the load has the memory to itself

        result = run_result(record, slo, interrupted=interruption(place.stop, directory))
        result.write(options.language)
        if record.complete:
            _restore(plan, place)
    return result


def _restore(plan: Plan, place: Workplace) -> None:
    """Takes inserted documents away again. The run is measured and written: a failure here must not cost it."""
    try:
        restore_data(plan, deployment=place.context.deployment)
    except TargetError as error:
        place.context.progress.note(f"the documents that the run inserted are still there: {error.message}")


def interruption(stop: StopToken, directory: Path) -> Interrupted | None:
    """The error of a verb that a signal ended."""
    return stop.error(kept=str(directory)) if stop.requested else None

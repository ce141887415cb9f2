"""Owns the verb `run`: one run of a workload, observed and reported."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from brimline.api.options import Options, typed
from brimline.api.planning import run_cost, tell
from brimline.api.resume import tell_way_on
from brimline.api.workload import WorkloadWords, load_workload, objective
from brimline.api.workplace import workplace
from brimline.errors import Interrupted
from brimline.execution import StopToken, allow_descriptors, execute, putting_back
from brimline.plan import Plan, resolve
from brimline.plan.pacing import load_line
from brimline.spec import LoadedSpec

if TYPE_CHECKING:
    from brimline.api.results import RunResult


@typed
def run(
    workload: str | Path | None = None,
    *,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> "RunResult":
    """Runs a workload once and writes its record and report.

    `workload` is a shipped name or a file; `WorkloadWords` says what can be changed of it.

    Raises BrimlineError where nothing was measured; a run that was measured and is no good has `RunResult.error`.
    """
    loaded = load_workload(workload, **words)
    return run_loaded(loaded, options or Options())


def run_loaded(loaded: LoadedSpec, options: Options) -> "RunResult":
    """`run` for a spec that is read already."""
    tell(run_cost(loaded.spec))
    with workplace(loaded, options) as place:
        plan = resolve(place.spec, target=place.target)
        slo = objective(place.spec)
        allow_descriptors(plan)
        _check_figures(plan, options)
        place.prepare()
        place.stop.raise_if_requested()
        options.progress.note(load_line(plan, nodes=place.nodes_for(plan)))
        directory = place.directory(plan)
        with putting_back(plan, place.context):
            record = execute(plan, directory=directory, title=plan.name, context=place.context)
            from brimline.api.run_result import run_result  # not before: the load has the memory to itself

            result = run_result(record, slo, interrupted=interruption(place.stop, directory))
            result.write(options.language)
    return result


def _check_figures(plan: Plan, options: Options) -> None:
    """Refuses a figure to show of an operation that the workload doesn't have, before anything is done."""
    if options.figures:
        from brimline.analysis.metric_names import check_names  # of no use to a load, which has memory to itself

        check_names(options.figures, plan.operation_names)


def interruption(stop: StopToken, directory: Path, *, resumed_by: str = "") -> Interrupted | None:
    """The error of a verb that a signal ended; `resumed_by` is the verb that goes on with it, if any."""
    if not stop.requested:
        return None
    error = stop.error(kept=str(directory))
    if resumed_by:
        tell_way_on(error, resumed_by, directory)
    return error

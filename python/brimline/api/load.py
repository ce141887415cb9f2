"""Owns the verb `load`: a collection filled with exactly the records of a workload."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from brimline.api.options import Options
from brimline.api.run import interruption
from brimline.api.workload import WorkloadWords, load_workload
from brimline.api.workplace import given_uri, workplace
from brimline.errors import UsageError
from brimline.execution import load_data
from brimline.plan import Plan, load_plan
from brimline.plan.pacing import load_line
from brimline.spec import LoadedSpec

if TYPE_CHECKING:
    from brimline.api.results import AlreadyLoaded, LoadResult


def load(
    workload: str | Path | None = None,
    *,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> "LoadResult | AlreadyLoaded":
    """Loads the records of a workload into a server that stays; has the server count them.

    `Options.resume` goes on with one that did not end; `AlreadyLoaded` when nothing was missing.

    Raises BrimlineError, InvalidRun among them when the count is not the intended one.
    """
    loaded = load_workload(workload, loads_only=True, **words)
    return load_loaded(loaded, options or Options())


def load_loaded(loaded: LoadedSpec, options: Options) -> "LoadResult | AlreadyLoaded":
    """`load` for a spec that is read already."""
    _require_a_server_that_stays(loaded, options)
    with workplace(loaded, options) as place:
        plan = load_plan(place.spec, target=place.target)

        def begin(plan: Plan) -> Path:
            """Where something is sent at all: of a load that goes on, what is missing."""
            options.progress.note(load_line(plan))
            return place.directory(plan, kind="load")

        report = load_data(
            plan,
            make_directory=begin,
            context=place.context,
            drop=options.drop,
            resume=options.resume,
        )
    # Not before: the load has the memory to itself.
    from brimline.api.results import AlreadyLoaded
    from brimline.api.run_result import load_result

    if report.record is None:
        return AlreadyLoaded(namespace=report.namespace, document_count=report.document_count)
    result = load_result(report, report.record, interrupted=interruption(place.stop, report.record.directory))
    result.write(options.language)
    return result


def _require_a_server_that_stays(loaded: LoadedSpec, options: Options) -> None:
    """Raises UsageError, before anything is started."""
    if options.null:
        raise UsageError("the null target holds no data", hint="leave --null out")
    if given_uri(loaded.spec, options) is None:
        raise UsageError(
            "a load into brimline's own server would be gone with it",
            hint="give --uri; run, sweep and capacity load their own server by themselves",
        )

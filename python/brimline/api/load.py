"""Owns the verb `load`: a collection filled with exactly the records of a workload."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from brimline.api.options import Options, typed
from brimline.api.planning import run_cost, tell
from brimline.api.protocols import DATABASES, require_protocol
from brimline.api.run import interruption
from brimline.api.workload import WorkloadWords, load_workload
from brimline.api.workplace import given_uri, workplace
from brimline.errors import Interrupted, UsageError
from brimline.execution import RESUME_HINT, LoadReport, StopToken, keeper
from brimline.plan import Plan
from brimline.plan.pacing import load_line
from brimline.spec import LoadedSpec

if TYPE_CHECKING:
    from brimline.api.results import AlreadyLoaded, LoadResult, Loads


@typed
def load(
    workload: str | Path | None = None,
    *,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> "LoadResult | AlreadyLoaded | Loads":
    """Loads the records of a workload into a server that stays; has the server count them.

    `Options.resume` goes on with one that did not end; `AlreadyLoaded` when nothing was missing, `Loads` where there
    are several collections.

    Raises BrimlineError, InvalidRun among them when the count is not the intended one.
    """
    loaded = load_workload(workload, loads_only=True, **words)
    return load_loaded(loaded, options or Options())


def load_loaded(loaded: LoadedSpec, options: Options) -> "LoadResult | AlreadyLoaded | Loads":
    """`load` for a spec that is read already."""
    _require_a_server_that_stays(loaded, options)
    tell(run_cost(loaded.spec))
    with workplace(loaded, options) as place:
        wanted = place.wanted
        if not wanted:
            raise UsageError(
                f"{loaded.source} has no collection with a shape: there is nothing to load",
                hint="give one of its collections records and fields; live collections are taken as they are",
            )

        def begin(plan: Plan) -> Path:
            """Where something is sent at all: of a load that goes on, what is missing."""
            options.progress.note(load_line(plan, nodes=place.nodes_for(plan)))
            return place.directory(plan, kind="load")

        reports = keeper(place.context).load(
            wanted,
            make_directory=begin,
            drop=options.drop,
            going_on=wanted if options.resume else (),
        )
    results = [_result(report, place.stop, options) for report in reports]
    if len(wanted) == 1:
        return results[0]
    from brimline.api.results import Loads

    cut_short = place.stop.requested and len(results) < len(wanted)
    return Loads(results=results, interrupted=_between_loads(place.stop) if cut_short else None)


def _between_loads(stop: StopToken) -> Interrupted:
    error = stop.error()
    error.hint = RESUME_HINT
    return error


def _result(report: LoadReport, stop: StopToken, options: Options) -> "LoadResult | AlreadyLoaded":
    """What one load shows; its report is written."""
    # Not before: the load has the memory to itself.
    from brimline.api.results import AlreadyLoaded
    from brimline.api.run_result import load_result

    if report.record is None:
        return AlreadyLoaded(namespace=report.namespace, document_count=report.document_count)
    result = load_result(report, report.record, interrupted=interruption(stop, report.record.directory))
    result.write(options.language)
    return result


def _require_a_server_that_stays(loaded: LoadedSpec, options: Options) -> None:
    """Raises UsageError, before anything is started."""
    if options.null:
        raise UsageError("the null target holds no data", hint="leave --null out")
    require_protocol("load", given_uri(loaded.spec, options), of=DATABASES)
    if given_uri(loaded.spec, options) is None:
        raise UsageError(
            "a load into brimline's own server would be gone with it",
            hint="give --uri; run, sweep and capacity load their own server by themselves",
        )

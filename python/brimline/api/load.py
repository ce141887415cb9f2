"""Owns the verb `load`: a collection filled with exactly the records of a workload."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brimline.analysis.observation import observe
from brimline.api.options import Options
from brimline.api.results import LoadResult
from brimline.api.run import interruption
from brimline.api.workload import load_workload
from brimline.api.workplace import workplace
from brimline.errors import UsageError
from brimline.execution import load_data
from brimline.plan import load_plan
from brimline.report import run_report
from brimline.spec import LoadedSpec


def load(
    workload: str | Path | None = None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    options: Options | None = None,
) -> LoadResult:
    """Loads the records of a workload into a server that stays; has the server count them.

    Raises BrimlineError, InvalidRun among them when the count is not the intended one.
    """
    loaded = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides)
    return load_loaded(loaded, options or Options())


def load_loaded(loaded: LoadedSpec, options: Options) -> LoadResult:
    """`load` for a spec that is read already."""
    with workplace(loaded, options) as place:
        if place.context.deployment is None:
            raise UsageError("the null target holds no data", hint="leave --null out")
        if place.context.deployment.binary is not None:
            raise UsageError(
                "a load into brimline's own server would be gone with it",
                hint="give --uri; run, sweep and capacity load their own server by themselves",
            )
        plan = load_plan(place.spec, target=place.target)
        directory = place.directory(plan, kind="load")
        report = load_data(plan, directory=directory, context=place.context, drop=options.drop)
    observation = observe(report.record)
    result = LoadResult(
        report=run_report(report.record, observation),
        directory=directory,
        interrupted=interruption(place.stop, directory),
        record=report.record,
        observation=observation,
        slo=None,
        judgement=None,
        document_count=report.document_count,
        namespace=report.namespace,
    )
    result.write()
    return result

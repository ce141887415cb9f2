"""Owns `brimline run`."""

from typing import Annotated

from brimline.api.options import DataOptions, LoadOptions, ObjectiveOptions, ServerOptions, WorkloadOptions
from brimline.api.run import run_loaded
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed
from brimline.cli.grouped import going_on_with, grouped, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.spec.load_models import is_closed


@grouped
def run(
    workload: WorkloadOptions,
    server: ServerOptions,
    data: Annotated[DataOptions, without("resume")],
    load: LoadOptions,
    objective: ObjectiveOptions,
    design: DesignOptions,
    output: opt.OutputOptions,
    *,
    resume: Annotated[str | None, going_on_with("a design")] = None,
) -> int:
    """Run a workload once and report it, or at each level of what is varied."""
    options = opt.surroundings(server, output, data)
    if resume is not None:
        return finish(resumed(resume, "run", options), output, suite="run")
    design.require_asked()
    if design.is_asked:
        result = designed(design, "run", {}, workload, options, load=load, objective=objective)
        return finish(result, output, suite="run")
    loaded = opt.loaded(workload, load, objective)
    if objective.given and is_closed(loaded.spec.load):
        raise UsageError(
            "a closed loop has no response time, so an objective has no effect on it",
            hint="offer a rate, such as --rate 5000/s, or leave --p99, --error-rate and --slo out",
        )
    return finish(run_loaded(loaded, options), output, suite="run")

"""Owns `brimline run`."""

from typing import Annotated

from brimline.api.options import DataOptions, LoadOptions, ObjectiveOptions, ServerOptions, WorkloadOptions
from brimline.api.run import run_loaded
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
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
    output: opt.OutputOptions,
) -> int:
    """Run a workload once and report it."""
    loaded = opt.loaded(workload, load, objective)
    if objective.given and is_closed(loaded.spec.load):
        raise UsageError(
            "a closed loop has no response time, so an objective has no effect on it",
            hint="offer a rate, such as --rate 5000/s, or leave --p99, --error-rate and --slo out",
        )
    result = run_loaded(loaded, opt.surroundings(server, output, data))
    return finish(result, output, suite="run")

"""Owns `brimline scan`."""

from typing import Annotated

import typer

from brimline.api.options import DataOptions, LoadOptions, ServerOptions, WorkloadOptions
from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.api.scan import scan_loaded
from brimline.cli import options as opt
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.experiments.scan.order import SCAN_KIND


@grouped
def scan(
    workload: WorkloadOptions,
    server: Annotated[ServerOptions, without("null")],
    data: DataOptions,
    load: Annotated[LoadOptions, only("records", "seed")],
    output: opt.OutputOptions,
    *,
    within: Annotated[
        str | None,
        typer.Option("--within", help="Time to answer in that the rule is about, such as 10s.", show_default=False),
    ] = None,
    warm: Annotated[
        bool, typer.Option("--warm", help="Don't restart brimline's own server before each first touch.")
    ] = False,
    resume: Annotated[str | None, going_on_with("a scan")] = None,
) -> int:
    """Measure single queries: plan, entries, time cold and warm, and how many entries fit a time to answer."""
    options = opt.surroundings(server, output, data)
    if resume is None:
        loaded = opt.loaded(workload, load, changes={"scans.answer_within": within})
        directory, restarts = None, not warm
    else:
        directory = find_record(resume, runs_directory=options.runs_directory)
        found = resumption(directory, kinds=(SCAN_KIND,))
        loaded, restarts = found.loaded, bool(found.experiment.settings.get("restarts", True))
    result = scan_loaded(loaded, options, restarts=restarts, resume=directory)
    return finish(result, output, suite="scan")

"""Owns `brimline scan`."""

from dataclasses import dataclass
from typing import Annotated

from brimline.api.kinds import go_on
from brimline.api.options import DataOptions, Group, LoadOptions, ServerOptions, WorkloadOptions, option
from brimline.api.options.server import OF_A_HOST
from brimline.api.reopen import find_record
from brimline.api.scan import SCAN, scan_loaded
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.experiments.scan.order import ScanSettings


@dataclass(frozen=True, kw_only=True)
class ScanOptions(Group):
    """How queries are measured."""

    within: str | None = option("--within", "", "Time to answer in that the rule is about, such as 10s.")
    warm: bool = option("--warm", "", "Don't restart brimline's own server before each first touch.", default=False)


@grouped
def scan(
    workload: WorkloadOptions,
    server: Annotated[
        ServerOptions, without("null", "mariadb", "postgres", "workers", "workers_per_node", "profiler", *OF_A_HOST)
    ],
    data: Annotated[DataOptions, without("allow_writes")],
    load: Annotated[LoadOptions, only("records", "seed")],
    design: DesignOptions,
    output: Annotated[opt.OutputOptions, without("prometheus", "otlp")],
    said: ScanOptions,
    *,
    resume: Annotated[str | None, going_on_with("a scan")] = None,
) -> int:
    """Measure single queries: plan, entries, time cold and warm, and how many entries fit a time to answer."""
    options = opt.surroundings(server, output, data)
    if resume is not None and (gone_on := resumed_design(resume, "scan", options)) is not None:
        return finish(gone_on, output, suite="scan")
    if resume is not None:
        directory = find_record(resume, runs_dir=options.runs_dir)
        return finish(go_on(directory, options, SCAN), output, suite="scan")
    design.require_asked()
    if design.is_asked:
        words, changes = {"restarts": not said.warm}, {"scans.answer_within": said.within}
        result = designed(design, "scan", words, workload, options, load=load, overrides=changes)
        return finish(result, output, suite="scan")
    loaded = opt.loaded(workload, load, changes={"scans.answer_within": said.within})
    return finish(scan_loaded(loaded, ScanSettings(restarts=not said.warm), options), output, suite="scan")

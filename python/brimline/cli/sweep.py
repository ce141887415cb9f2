"""Owns `brimline sweep`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from brimline.api.kinds import go_on
from brimline.api.options import DataOptions, Group, LoadOptions, Options, ServerOptions, WorkloadOptions, option
from brimline.api.reopen import find_record
from brimline.api.results import Result
from brimline.api.sweep import SWEEP_KIND
from brimline.api.sweep import sweep as sweep_api
from brimline.api.workload import WorkloadWords
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, only
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.settings import SweepSettings
from brimline.experiments.vary.factor_kinds import CONNECTIONS
from brimline.experiments.vary.factors import factor_named
from brimline.units import NS_PER_S, parse_duration

_DEFAULTS = SweepSettings()
_WRITTEN = "write them like --connections-max 256 --repeats 3 --duration 10s --warmup 3s --budget 30m"


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Group):
    """What is swept, and for how long."""

    connections: str | None = option(
        "--connections",
        "LIST",
        "Short for --vary connections=LIST, such as 1,8,64; one number beside --vary is that of all runs.",
    )
    connections_max: int | None = option(
        "--connections-max", "COUNT", f"Most connections to try; default {_DEFAULTS.connections_max}."
    )
    budget: str | None = option("--budget", "TIME", "With --vary: begin no block that it doesn't take.")
    duration: str = option("--duration", "TIME", "Measured window of each level.", default="10s")
    warmup: str = option("--warmup", "TIME", "Warm-up of each level.", default="2s")


@grouped
def sweep(
    workload: WorkloadOptions,
    server: ServerOptions,
    data: DataOptions,
    load: Annotated[LoadOptions, only("records", "seed", "client", "max_pool_size", "threads", "in_flight")],
    design: DesignOptions,
    output: opt.OutputOptions,
    said: SweepOptions,
    *,
    resume: Annotated[str | None, going_on_with("a sweep")] = None,
) -> int:
    """Measure throughput over 1, 2, 4 … connections, in a closed loop, until it stops rising; or vary other factors."""
    options = opt.surroundings(server, output, data)
    if resume is not None:
        return finish(_resumed(resume, options), output, suite="sweep")
    fixed = _fixed(design, said.connections)
    varied = design if fixed is not None or said.connections is None else _with_connections(design, said.connections)
    load = replace(load, connections=fixed)
    window = {"duration_s": _seconds(said.duration), "warmup_s": _seconds(said.warmup)}
    if varied.is_asked and said.connections_max is None:
        times = {**window, **({} if said.budget is None else {"budget_s": _seconds(said.budget)})}
        result = designed(varied, "", {}, workload, options, load=load, times=times)
        return finish(result, output, suite="sweep")
    if said.budget is not None:
        raise UsageError("--budget has no effect without --vary", hint="name a factor, or leave it out")
    if varied.is_asked:
        ladder = {**window, "connections_max": said.connections_max}
        return finish(designed(varied, "sweep", ladder, workload, options, load=load), output, suite="sweep")
    varied.require_asked("repeats")
    settings = _settings(said.connections_max, design.repeats, window)
    words: WorkloadWords = {"property_files": workload.property_files, "properties": workload.properties, "load": load}
    return finish(sweep_api(workload.workload, settings=settings, options=options, **words), output, suite="sweep")


def _settings(connections_max: int | None, repeats: int | None, window: Mapping[str, float]) -> SweepSettings:
    """What is swept; defaults where nothing is said. Raises UsageError."""
    most = _DEFAULTS.connections_max if connections_max is None else connections_max
    times = _DEFAULTS.repeats if repeats is None else repeats
    try:
        return SweepSettings(connections_max=most, repeats=times, **window)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(str(error), hint=_WRITTEN) from error


def _fixed(design: DesignOptions, connections: str | None) -> str | None:
    """The one number of connections that all combinations of other factors share; None where it is varied itself."""
    if connections is None or "," in connections or not design.is_asked:
        return None
    return None if any(factor_named(each) == CONNECTIONS for each in design.vary) else connections


def _with_connections(design: DesignOptions, connections: str) -> DesignOptions:
    """With numbers of connections among the factors. Raises UsageError where they are there already."""
    if any(factor_named(each) == CONNECTIONS for each in design.vary):
        raise UsageError("--connections and --vary connections say the same", hint="give one of them")
    return replace(design, vary=(*design.vary, f"{CONNECTIONS}={connections}"))


def _resumed(name: str, options: Options) -> Result:
    """Goes on with either kind of sweep."""
    if (gone_on := resumed_design(name, "sweep", options)) is not None:
        return gone_on
    result: Result = go_on(find_record(name, runs_dir=options.runs_dir), options, SWEEP_KIND)
    return result


def _seconds(text: str) -> float:
    try:
        return parse_duration(text) / NS_PER_S
    except ValueError as error:
        raise UsageError(str(error), hint=_WRITTEN) from error

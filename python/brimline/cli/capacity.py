"""Owns `brimline capacity`."""

from dataclasses import asdict
from typing import Annotated

import typer

from brimline.api.capacity import resume_search, search_loaded
from brimline.api.options import DataOptions, LoadOptions, ObjectiveOptions, ServerOptions, WorkloadOptions
from brimline.api.reopen import find_record
from brimline.api.results import Result
from brimline.api.search_settings import Preset, SearchWords, frontier_settings, settings_for
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.settings import CapacitySettings, Grade
from brimline.spec import readers
from brimline.units import NS_PER_S, parse_duration, parse_percentage


@grouped
def capacity(
    workload: WorkloadOptions,
    server: ServerOptions,
    data: Annotated[DataOptions, without("resume")],
    load: Annotated[LoadOptions, only("records", "seed", "client", "max_pool_size", "threads", "in_flight")],
    objective: ObjectiveOptions,
    output: opt.OutputOptions,
    design: DesignOptions,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look in under two minutes, marked as not quotable.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="End within this time, such as 20m, without server starts, loading and putting data back.",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        On, typer.Option("--on", help="What is searched: a rate, connections of a closed loop, or T of T-L-R.")
    ] = On.RATE,
    connections: Annotated[
        str | None,
        typer.Option(
            "--connections",
            metavar="COUNT",
            help="Of every probe at a rate; default: twice the knee's, 64 to 512.",
            show_default=False,
        ),
    ] = None,
    loops: Annotated[
        int | None,
        typer.Option(
            "--loops", metavar="COUNT", min=1, help="L of T-L-R: operations of each thread.", show_default=False
        ),
    ] = None,
    ramp_up: Annotated[
        str | None,
        typer.Option(
            "--ramp-up", metavar="TIME", help="R of T-L-R: in which the threads start, such as 10s.", show_default=False
        ),
    ] = None,
    frontier: Annotated[
        str | None,
        typer.Option(
            "--frontier",
            metavar="TIME,...",
            help="Search for each of several limits, such as 5ms,10ms,20ms.",
            show_default=False,
        ),
    ] = None,
    hold: Annotated[
        str | None,
        typer.Option(
            "--hold",
            metavar="SHARE",
            help="Share of the windows that meet the objective at the sustained load; default: 90%.",
            show_default=False,
        ),
    ] = None,
    max_width: Annotated[
        str | None,
        typer.Option(
            "--max-width",
            metavar="SHARE",
            help="For CI: exit code 4 where the interval is wider than this share of the figure, such as 5%.",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        Grade | None,
        typer.Option("--require", help="For CI: exit code 4 where the figure is known less well.", show_default=False),
    ] = None,
    resume: Annotated[str | None, going_on_with("a search", "budget")] = None,
) -> int:
    """Find the highest load that the server sustains within the objective, and why it stops there."""
    options = opt.surroundings(server, output, data)
    budget_s = _seconds(budget, "--budget")
    result: Result
    if resume is not None:
        if (gone_on := resumed_design(resume, "capacity", options)) is not None:
            return finish(gone_on, output, suite="capacity")
        directory = find_record(resume, runs_dir=options.runs_dir)
        result = resume_search(directory, budget_s=budget_s, options=options)
        return finish(result, output, suite="capacity")
    design.require_asked()
    preset: Preset = "quick" if quick else "standard"
    words = SearchWords(
        on=on,
        loops=loops,
        ramp_up_s=_seconds(ramp_up, "--ramp-up"),
        budget_s=budget_s,
        connections=opt.whole_number("--connections", connections, maximum=readers.CONNECTION_COUNT_MAX, example="128"),
        hold=_share(hold, "--hold", "90%"),
        width_max=_share(max_width, "--max-width", "5%"),
        require=require,
    )
    if design.is_asked:
        limits_ns = None if frontier is None else _limits_ns(frontier)
        said = {**asdict(words), "preset": preset, "limits_ns": limits_ns}
        result = designed(design, "capacity", said, workload, options, load=load, objective=objective)
        return finish(result, output, suite="capacity")
    loaded = opt.loaded(workload, load, objective)
    settings: CapacitySettings | FrontierSettings
    if frontier is not None:
        settings = frontier_settings(loaded.spec, preset, _limits_ns(frontier), words)
    else:
        settings = settings_for(loaded.spec, preset, words)
    result = search_loaded(loaded, settings, options)
    return finish(result, output, suite="capacity")


def _seconds(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        seconds = parse_duration(text) / NS_PER_S
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint=f"write it like {option} 20m") from error
    if seconds <= 0:
        raise UsageError(f"{option} must be longer than nothing", hint=f"write it like {option} 20m")
    return seconds


def _share(text: str | None, option: str, example: str) -> float | None:
    if text is None:
        return None
    try:
        return parse_percentage(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint=f"write it like {option} {example}") from error


def _limits_ns(text: str) -> list[int]:
    try:
        return [parse_duration(part.strip()) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--frontier: {error}", hint="write it like --frontier 5ms,10ms,20ms") from error

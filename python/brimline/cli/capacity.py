"""Owns `brimline capacity`."""

from pathlib import Path
from typing import Annotated

import typer

from brimline.api.capacity import resume_search, search_loaded
from brimline.api.reopen import find_record
from brimline.api.results import Result
from brimline.api.search_settings import Preset, SearchWords, frontier_settings, settings_for
from brimline.api.workload import load_workload
from brimline.cli import junit as junit_file
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.settings import CapacitySettings
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.spec import readers
from brimline.units import NS_PER_S, parse_duration


def capacity(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    target: opt.Target = None,
    password_file: opt.PasswordFile = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look in under two minutes, marked as not quotable.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="End within this time, such as 20m, without server starts and loading.",
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
    resume: Annotated[str | None, opt.going_on_with("a search")] = None,
    response_p99: opt.ResponseP99 = None,
    error_rate: opt.ErrorRate = None,
    limits: opt.Limits = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    null: opt.Null = False,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    topology: opt.TopologyName = None,
    mongos: opt.Mongos = None,
    network: opt.NetworkName = None,
    cpu_share: opt.CpuShare = None,
    runs_dir: opt.RunsDir = None,
    junit: junit_file.OutcomeJunit = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Find the highest load that the server sustains within the objective, and why it stops there."""
    options = opt.surroundings(
        uri=uri,
        password_file=password_file,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        topology=topology,
        mongos=mongos,
        network=network,
        cpu_share=cpu_share,
        data=data,
        drop=drop,
        null=null,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    overrides = opt.spec_overrides(
        records=records,
        threads=threads,
        seed=seed,
        target=target,
        response_p99=response_p99,
        error_rate=error_rate,
        limits=limits,
    )
    budget_s = _seconds(budget, "--budget")
    if resume is not None:
        others = (workload, property_files, properties, connections, loops, ramp_up, frontier, *overrides.values())
        if quick or on is not On.RATE or any(each is not None for each in others):
            raise UsageError(
                "--resume goes on with the search as it was begun",
                hint="write brimline capacity --resume DIR, without a workload; only --budget can change",
            )
        directory = find_record(resume, runs_directory=options.runs_directory)
        result = resume_search(directory, budget_s=budget_s, options=options)
        return _shown(result, junit, details=details, as_json=as_json, lang=lang)
    loaded = load_workload(
        workload, property_files=property_files or (), properties=properties or (), overrides=overrides
    )
    preset: Preset = "quick" if quick else "standard"
    words = SearchWords(
        on=on,
        loops=loops,
        ramp_up_s=_seconds(ramp_up, "--ramp-up"),
        budget_s=budget_s,
        connections=opt.whole_number("--connections", connections, maximum=readers.CONNECTION_COUNT_MAX, example="128"),
    )
    settings: CapacitySettings | FrontierSettings
    if frontier is not None:
        settings = frontier_settings(loaded.spec, preset, _limits_ns(frontier), words)
    else:
        settings = settings_for(loaded.spec, preset, words)
    result = search_loaded(loaded, settings, options)
    return _shown(result, junit, details=details, as_json=as_json, lang=lang)


def _shown(result: Result, junit: Path | None, *, details: bool, as_json: bool, lang: str | None) -> int:
    junit_file.write_outcome(result, junit, suite="capacity")
    return show_result(result, details=details, as_json=as_json, lang=lang)


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


def _limits_ns(text: str) -> list[int]:
    try:
        return [parse_duration(part.strip()) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--frontier: {error}", hint="write it like --frontier 5ms,10ms,20ms") from error

"""Owns `brimline sweep`."""

from typing import Annotated

import typer

from brimline import api
from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.api.sweep import sweep_loaded
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.settings import SweepSettings
from brimline.experiments.stored import stored_sweep_settings
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.units import NS_PER_S, parse_duration

_DEFAULTS = SweepSettings()


def sweep(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    connections_max: Annotated[
        int, typer.Option("--connections-max", metavar="COUNT", help="Most connections to try.")
    ] = _DEFAULTS.connections_max,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="COUNT", help="How often each level is measured.")
    ] = _DEFAULTS.repeats,
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Measured window of each level.")] = "10s",
    warmup: Annotated[str, typer.Option("--warmup", metavar="TIME", help="Warm-up of each level.")] = "2s",
    resume: Annotated[str | None, opt.going_on_with("a sweep")] = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    null: opt.Null = False,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Measure throughput over 1, 2, 4 … connections, in a closed loop, until it stops rising."""
    options = opt.surroundings(
        uri=uri,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        data=data,
        drop=drop,
        null=null,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    if resume is not None:
        if workload is not None or property_files or properties:
            raise UsageError("--resume goes on with the sweep as it was begun", hint="leave the workload out")
        found = resumption(find_record(resume, runs_directory=options.runs_directory), kinds=("sweep",))
        settings = stored_sweep_settings(found.experiment)
        resumed = sweep_loaded(found.loaded, settings, options, resume=found.experiment.directory)
        return show_result(resumed, as_json=as_json, lang=lang, full=True)
    result = api.sweep(
        workload,
        settings=_settings(connections_max, repeats, duration, warmup),
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(records=records, threads=threads, seed=seed),
        options=options,
    )
    return show_result(result, as_json=as_json, lang=lang, full=True)


def _settings(connections_max: int, repeats: int, duration: str, warmup: str) -> SweepSettings:
    try:
        return SweepSettings(
            connections_max=connections_max,
            repeats=repeats,
            duration_s=parse_duration(duration) / NS_PER_S,
            warmup_s=parse_duration(warmup) / NS_PER_S,
        )
    except ValueError as error:
        hint = "write them like --connections-max 256 --repeats 3 --duration 10s --warmup 3s"
        raise UsageError(str(error), hint=hint) from error

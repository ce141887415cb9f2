"""Owns `brimline capacity`."""

from typing import Annotated

import typer

from brimline.api.capacity import capacity_loaded, settings_for, time_estimate
from brimline.api.workload import load_workload
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.units import NS_PER_S, format_duration


def capacity(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look in under two minutes, marked as not quotable.")
    ] = False,
    response_p99: opt.ResponseP99 = None,
    error_rate: opt.ErrorRate = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    null: opt.Null = False,
    mongod: opt.Mongod = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    runs_dir: opt.RunsDir = None,
    junit: gating.OutcomeJunit = None,
    lang: opt.Lang = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Find the highest rate that the server sustains within the objective, and why it stops there."""
    loaded = load_workload(
        workload,
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(
            records=records, threads=threads, seed=seed, response_p99=response_p99, error_rate=error_rate
        ),
    )
    settings = settings_for(loaded.spec, "quick" if quick else "standard")
    options = opt.surroundings(
        uri=uri,
        mongod=mongod,
        cache_gb=cache_gb,
        data=data,
        drop=drop,
        null=null,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    estimate = time_estimate(settings)
    typical, most = (format_duration(round(each * NS_PER_S)) for each in (estimate.typical_s, estimate.max_s))
    options.progress.note(f"this takes about {typical}, at most {most}, without loading")
    result = capacity_loaded(loaded, settings, options)
    gating.write_outcome(result, junit, suite="capacity")
    return show_result(result, as_json=as_json, lang=lang)

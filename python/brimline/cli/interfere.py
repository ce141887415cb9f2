"""Owns `brimline interfere`."""

from typing import Annotated

import typer

from brimline.api.interfere import (
    default_rows,
    interfere_loaded,
    interfere_time_s,
    stored_interference_settings,
)
from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.api.workload import load_workload
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.paired.ab import PAIRS_DEFAULT
from brimline.experiments.paired.interference import INTERFERENCE_KIND, BackgroundKind, InterferenceSettings
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.spec import LoadedSpec
from brimline.units import NS_PER_S, format_count, format_duration


def interfere(
    workload: opt.Workload = None,
    background: Annotated[
        BackgroundKind,
        typer.Option(
            "--with",
            help="What goes on beside it: import (rows, as fast as the load engine inserts them), scan, index builds, "
            "or backup with mongodump.",
        ),
    ] = "import",
    pairs: Annotated[int, typer.Option("--pairs", help="Runs alone and with it; fewer than 2 prove nothing.")] = (
        PAIRS_DEFAULT
    ),
    background_rows: Annotated[
        str | None,
        typer.Option(
            "--background-rows",
            help="Documents of the background; default: as many as an import can't run out of, else 500k.",
            show_default=False,
        ),
    ] = None,
    margin: gating.Margin = gating.MARGIN_TEXT,
    resume: Annotated[str | None, opt.going_on_with("an experiment")] = None,
    uri: opt.Uri = None,
    password_file: opt.PasswordFile = None,
    connections: opt.Connections = None,
    rate: opt.Rate = None,
    duration: opt.Duration = None,
    warmup: opt.Warmup = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Run a workload alone and with a background one, and say what that changes."""
    options = opt.surroundings(
        uri=uri,
        password_file=password_file,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        data=data,
        drop=drop,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    if resume is not None:
        if workload is not None:
            raise UsageError("--resume goes on with the experiment as it was begun", hint="leave the workload out")
        directory = find_record(resume, runs_directory=options.runs_directory)
        found = resumption(directory, kinds=(INTERFERENCE_KIND,))
        settings = stored_interference_settings(found.experiment)
        result = interfere_loaded(found.loaded, settings, options, resume=directory)
        return show_result(result, details=details, as_json=as_json, lang=lang)
    loaded = load_workload(
        workload,
        overrides=opt.spec_overrides(
            records=records,
            connections=connections,
            threads=threads,
            load=opt.load_model(rate=rate),
            duration=duration,
            warmup=warmup,
            seed=seed,
        ),
    )
    settings = _settings(loaded, background, pairs, background_rows, gating.share_of(margin, "--margin"))
    estimate = format_duration(round(interfere_time_s(loaded.spec, settings) * NS_PER_S))
    options.progress.note(
        f"{2 * settings.pairs} runs, about {estimate} without server starts and loading; "
        f"up to {format_count(settings.rows)} documents in the background"
    )
    return show_result(interfere_loaded(loaded, settings, options), details=details, as_json=as_json, lang=lang)


def _settings(
    loaded: LoadedSpec,
    background: BackgroundKind,
    pairs: int,
    rows: str | None,
    margin: float,
) -> InterferenceSettings:
    count = opt.whole_number("--background-rows", rows, maximum=10**10, example="1M")
    if count is None:
        count = default_rows(loaded.spec, background)
    try:
        return InterferenceSettings(background=background, pairs=pairs, rows=count, margin=margin)
    except ValueError as error:
        raise UsageError(str(error), hint="--pairs 5 finds a change of 5 % where runs vary by 1.5 %") from error

"""Owns `brimline grow`."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from brimline.api.grow import grow as grow_api
from brimline.api.grow import grow_loaded
from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.growth.order import GrowthSettings, IndexSet, Protocol, with_budget
from brimline.experiments.growth.stored import GROWTH_KIND, stored_growth_settings
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.units import NS_PER_S, parse_count, parse_duration, parse_percentage

_Value = TypeVar("_Value")


def grow(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    password_file: opt.PasswordFile = None,
    to: Annotated[str | None, typer.Option("--to", help="Records to grow to, such as 10M.", show_default=False)] = None,
    step: Annotated[
        str | None, typer.Option("--step", help="Records of a step, such as 1M.", show_default=False)
    ] = None,
    connections: Annotated[str, typer.Option("--connections", help="Connections of the queries.")] = "1,8,16,32",
    queries: Annotated[str, typer.Option("--queries", help="Queries in a batch; several: each.")] = "10k",
    repeats: Annotated[int, typer.Option("--repeats", help="How often each batch is asked.")] = 3,
    indexes: Annotated[
        str, typer.Option("--indexes", help="Index sets, one growth each: primary, single, compound.")
    ] = "primary",
    protocol: Annotated[
        Protocol,
        typer.Option("--protocol", help="Before queries: nothing dropped, server restarted, files dropped as well."),
    ] = Protocol.HOT,
    query_factor: Annotated[
        float | None,
        typer.Option("--stop-query-factor", help="Stop when a query takes so many times as long.", show_default=False),
    ] = None,
    import_factor: Annotated[
        float | None,
        typer.Option(
            "--stop-import-factor", help="Stop when the import rate is divided by this much.", show_default=False
        ),
    ] = None,
    disk_share: Annotated[
        str, typer.Option("--stop-disk-share", help="Stop when so much of the file system is in use.")
    ] = "90%",
    budget: Annotated[
        str | None, typer.Option("--budget", help="Stop after this time, such as 2h.", show_default=False)
    ] = None,
    resume: Annotated[str | None, opt.going_on_with("a growth")] = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
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
    """Grow a collection step by step: import rate, sizes and query time over the volume, and where they break."""
    options = opt.surroundings(
        uri=uri,
        password_file=password_file,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        drop=drop,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    budget_s = None if budget is None else _read(budget, parse_duration, "--budget") / NS_PER_S
    if budget_s == 0:
        raise UsageError("--budget: no time measures nothing", hint="give one such as 2h, or leave it out")
    if resume is not None:
        if workload is not None or property_files or properties or to is not None or step is not None:
            raise UsageError(
                "--resume goes on with the growth as it was begun", hint="of its options only --budget can change"
            )
        found = resumption(find_record(resume, runs_directory=options.runs_directory), kinds=(GROWTH_KIND,))
        settings = with_budget(stored_growth_settings(found.experiment), budget_s)
        resumed = grow_loaded(found.loaded, settings, options, resume=found.experiment.directory)
        return show_result(resumed, details=details, as_json=as_json, lang=lang)
    if to is None or step is None:
        raise UsageError("grow needs to know how far and in which steps", hint="give --to 10M --step 1M")
    records = _read(to, parse_count, "--to")
    try:
        settings = GrowthSettings(
            to_records=records,
            step_records=_read(step, parse_count, "--step"),
            connections=_each(connections, parse_count, "--connections"),
            queries=_each(queries, parse_count, "--queries"),
            repeats=repeats,
            indexes=_each(indexes, IndexSet, "--indexes"),
            protocol=protocol,
            query_time_factor_max=query_factor,
            import_rate_factor_max=import_factor,
            disk_share_max=_read(disk_share, parse_percentage, "--stop-disk-share"),
            budget_s=budget_s,
        )
    except ValueError as error:
        raise UsageError(
            str(error), hint="write them like --to 10M --step 1M --connections 1,8 --queries 10k"
        ) from error
    result = grow_api(
        workload,
        settings=settings,
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(records=str(records), threads=threads, seed=seed),
        options=options,
    )
    return show_result(result, details=details, as_json=as_json, lang=lang)


def _each(text: str, read: Callable[[str], _Value], option: str) -> tuple[_Value, ...]:
    return tuple(_read(part.strip(), read, option) for part in text.split(","))


def _read(text: str, read: Callable[[str], _Value], option: str) -> _Value:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint="see brimline grow --help") from error

"""Owns `brimline grow`."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from brimline.api.grow import grow_loaded
from brimline.api.options import DataOptions, LoadOptions, ServerOptions, WorkloadOptions
from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.cli import options as opt
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.growth.order import GrowthSettings, IndexSet, Protocol, with_budget
from brimline.experiments.growth.stored import GROWTH_KIND, stored_growth_settings
from brimline.units import NS_PER_S, parse_count, parse_duration, parse_percentage

_Value = TypeVar("_Value")


@grouped
def grow(
    workload: WorkloadOptions,
    server: Annotated[ServerOptions, without("null")],
    data: Annotated[DataOptions, only("drop")],
    load: Annotated[LoadOptions, only("seed", "target", "threads")],
    output: opt.OutputOptions,
    *,
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
    resume: Annotated[str | None, going_on_with("a growth", "budget")] = None,
) -> int:
    """Grow a collection step by step: import rate, sizes and query time over the volume, and where they break."""
    options = opt.surroundings(server, output, data)
    budget_s = None if budget is None else _read(budget, parse_duration, "--budget") / NS_PER_S
    if budget_s == 0:
        raise UsageError("--budget: no time measures nothing", hint="give one such as 2h, or leave it out")
    if resume is not None:
        found = resumption(find_record(resume, runs_directory=options.runs_directory), kinds=(GROWTH_KIND,))
        settings = with_budget(stored_growth_settings(found.experiment), budget_s)
        resumed = grow_loaded(found.loaded, settings, options, resume=found.experiment.directory)
        return finish(resumed, output, suite="grow")
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
    loaded = opt.loaded(workload, load, changes={"data.records": records})
    return finish(grow_loaded(loaded, settings, options), output, suite="grow")


def _each(text: str, read: Callable[[str], _Value], option: str) -> tuple[_Value, ...]:
    return tuple(_read(part.strip(), read, option) for part in text.split(","))


def _read(text: str, read: Callable[[str], _Value], option: str) -> _Value:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint="see brimline grow --help") from error

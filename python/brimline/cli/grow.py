"""Owns `brimline grow`."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, TypeVar

from brimline.api.grow import GROWTH, grow_loaded
from brimline.api.kinds import go_on
from brimline.api.options import DataOptions, Group, LoadOptions, ServerOptions, WorkloadOptions, option
from brimline.api.reopen import find_record
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.growth.order import GrowthSettings, IndexSet, Protocol
from brimline.units import NS_PER_S, parse_count, parse_duration, parse_percentage

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class GrowOptions(Group):
    """How far a collection grows, and what is asked of it."""

    to: str | None = option("--to", "", "Records to grow to, such as 10M.")
    step: str | None = option("--step", "", "Records of a step, such as 1M.")
    connections: str = option("--connections", "", "Connections of the queries.", default="1,8,16,32")
    queries: str = option("--queries", "", "Queries in a batch; several: each.", default="10k")
    repeats: int = option("--repeats", "", "How often each batch is asked.", default=3)
    indexes: str = option("--indexes", "", "Index sets, one growth each: primary, single, compound.", default="primary")
    protocol: Protocol = option(
        "--protocol",
        "",
        "Before queries: nothing dropped, server restarted, files dropped as well.",
        default=Protocol.HOT,
    )
    query_factor: float | None = option("--stop-query-factor", "", "Stop when a query takes so many times as long.")
    import_factor: float | None = option(
        "--stop-import-factor", "", "Stop when the import rate is divided by this much."
    )
    disk_share: str = option("--stop-disk-share", "", "Stop when so much of the file system is in use.", default="90%")
    budget: str | None = option("--budget", "", "Stop after this time, such as 2h.")


@grouped
def grow(
    workload: WorkloadOptions,
    server: Annotated[ServerOptions, without("null", "mariadb", "postgres", "profiler")],
    data: Annotated[DataOptions, only("drop")],
    load: Annotated[LoadOptions, only("seed", "client", "threads")],
    design: DesignOptions,
    output: opt.OutputOptions,
    said: GrowOptions,
    *,
    resume: Annotated[str | None, going_on_with("a growth", "budget")] = None,
) -> int:
    """Grow a collection step by step: import rate, sizes and query time over the volume, and where they break."""
    options = opt.surroundings(server, output, data)
    budget_s = None if said.budget is None else _read(said.budget, parse_duration, "--budget") / NS_PER_S
    if budget_s == 0:
        raise UsageError("--budget: no time measures nothing", hint="give one such as 2h, or leave it out")
    if resume is not None and (gone_on := resumed_design(resume, "grow", options)) is not None:
        return finish(gone_on, output, suite="grow")
    if resume is not None:
        directory = find_record(resume, runs_dir=options.runs_dir)
        return finish(go_on(directory, options, GROWTH, budget_s=budget_s), output, suite="grow")
    if said.to is None or said.step is None:
        raise UsageError("grow needs to know how far and in which steps", hint="give --to 10M --step 1M")
    design.require_asked("repeats")
    records = _read(said.to, parse_count, "--to")
    try:
        settings = GrowthSettings(
            to_records=records,
            step_records=_read(said.step, parse_count, "--step"),
            connections=_each(said.connections, parse_count, "--connections"),
            queries=_each(said.queries, parse_count, "--queries"),
            repeats=said.repeats,
            indexes=_each(said.indexes, IndexSet, "--indexes"),
            protocol=said.protocol,
            query_time_factor_max=said.query_factor,
            import_rate_factor_max=said.import_factor,
            disk_share_max=_read(said.disk_share, parse_percentage, "--stop-disk-share"),
            budget_s=budget_s,
        )
    except ValueError as error:
        raise UsageError(
            str(error), hint="write them like --to 10M --step 1M --connections 1,8 --queries 10k"
        ) from error
    if design.is_asked:
        changes = {"data.records": records}
        result = designed(design, "grow", asdict(settings), workload, options, load=load, overrides=changes)
        return finish(result, output, suite="grow")
    loaded = opt.loaded(workload, load, changes={"data.records": records})
    return finish(grow_loaded(loaded, settings, options), output, suite="grow")


def _each(text: str, read: Callable[[str], _Value], option: str) -> tuple[_Value, ...]:
    return tuple(_read(part.strip(), read, option) for part in text.split(","))


def _read(text: str, read: Callable[[str], _Value], option: str) -> _Value:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint="see brimline grow --help") from error

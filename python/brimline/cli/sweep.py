"""Owns `brimline sweep`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from brimline.api.options import DataOptions, Group, LoadOptions, Options, ServerOptions, WorkloadOptions, option
from brimline.api.reopen import find_record
from brimline.api.results import Result
from brimline.api.resume import resumption
from brimline.api.sweep import sweep as sweep_api
from brimline.api.sweep import sweep_loaded
from brimline.api.vary import resumed_vary
from brimline.api.vary import vary as vary_api
from brimline.api.workload import WorkloadWords
from brimline.cli import options as opt
from brimline.cli.grouped import going_on_with, grouped, only
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.settings import SweepSettings
from brimline.experiments.stored import stored_settings
from brimline.experiments.vary.factors import CONNECTIONS, KINDS, factor_named
from brimline.experiments.vary.order import BLOCKS_DEFAULT, BLOCKS_MAX_DEFAULT, VARY_KIND
from brimline.units import NS_PER_S, parse_duration, parse_percentage

_DEFAULTS = SweepSettings()
_FACTORS = ", ".join(KINDS)


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Group):
    """What is varied, how often and for how long."""

    vary: Sequence[str] = option(
        "--vary",
        "NAME=V1,V2",
        f"Vary this instead of a ladder of connections; repeatable, every combination runs. Factors: {_FACTORS}.",
        default=(),
    )
    connections: str | None = option(
        "--connections",
        "LIST",
        "Short for --vary connections=LIST, such as 1,8,64; one number beside --vary is that of all runs.",
    )
    connections_max: int | None = option(
        "--connections-max", "COUNT", f"Most connections to try; default {_DEFAULTS.connections_max}."
    )
    repeats: int | None = option(
        "--repeats",
        "COUNT",
        f"How often each level is measured, with --vary at least; default {_DEFAULTS.repeats}, "
        f"with --vary {BLOCKS_DEFAULT}.",
    )
    repeats_max: int | None = option(
        "--repeats-max", "COUNT", f"With --vary: how often at most; default {BLOCKS_MAX_DEFAULT}."
    )
    precision: str | None = option(
        "--precision", "SHARE", "With --vary: repeat until each mean throughput is known within this; default 5%."
    )
    budget: str | None = option("--budget", "TIME", "With --vary: begin no block that it doesn't take.")
    duration: str = option("--duration", "TIME", "Measured window of each level.", default="10s")
    warmup: str = option("--warmup", "TIME", "Warm-up of each level.", default="2s")


@grouped
def sweep(
    workload: WorkloadOptions,
    server: ServerOptions,
    data: DataOptions,
    load: Annotated[LoadOptions, only("records", "seed", "target", "threads")],
    output: opt.OutputOptions,
    said: SweepOptions,
    *,
    resume: Annotated[str | None, going_on_with("a sweep")] = None,
) -> int:
    """Measure throughput over 1, 2, 4 … connections, in a closed loop, until it stops rising; or vary other factors."""
    options = opt.surroundings(server, output, data)
    if resume is not None:
        return finish(_resumed(resume, options), output, suite="sweep")
    fixed = _fixed(said.vary, said.connections)
    factors = _varied(said.vary, None if fixed is not None else said.connections)
    words: WorkloadWords = {
        "property_files": workload.property_files,
        "properties": workload.properties,
        "load": replace(load, connections=fixed),
    }
    result: Result
    if factors:
        if said.connections_max is not None:
            raise UsageError(
                "--connections-max belongs to the ladder of connections", hint="--connections 1,8,64 names them"
            )
        of_factors = _vary_settings(
            said.repeats, said.repeats_max, said.precision, said.budget, said.duration, said.warmup
        )
        result = vary_api(workload.workload, factors=factors, settings=of_factors, options=options, **words)
    else:
        for name, value in (
            ("--repeats-max", said.repeats_max),
            ("--precision", said.precision),
            ("--budget", said.budget),
        ):
            if value is not None:
                raise UsageError(f"{name} has no effect without --vary", hint="name a factor, or leave it out")
        settings = _settings(
            _DEFAULTS.connections_max if said.connections_max is None else said.connections_max,
            _DEFAULTS.repeats if said.repeats is None else said.repeats,
            said.duration,
            said.warmup,
        )
        result = sweep_api(workload.workload, settings=settings, options=options, **words)
    return finish(result, output, suite="sweep")


def _fixed(factors: Sequence[str], connections: str | None) -> str | None:
    """The one number of connections that all combinations of other factors share; None where it is varied itself."""
    if connections is None or "," in connections or not factors:
        return None
    return None if any(factor_named(each) == CONNECTIONS for each in factors) else connections


def _varied(factors: Sequence[str], connections: str | None) -> Sequence[str]:
    """The factors, numbers of connections among them however they were said. Raises UsageError."""
    if connections is None:
        return factors
    if any(factor_named(each) == CONNECTIONS for each in factors):
        raise UsageError("--connections and --vary connections say the same", hint="give one of them")
    return [*factors, f"{CONNECTIONS}={connections}"]


def _resumed(name: str, options: Options) -> Result:
    """Goes on with either kind of sweep."""
    directory = find_record(name, runs_dir=options.runs_dir)
    found = resumption(directory, kinds=("sweep", VARY_KIND))
    if found.experiment.kind == VARY_KIND:
        return resumed_vary(directory, options)
    return sweep_loaded(found.loaded, stored_settings(SweepSettings, found.experiment), options, resume=directory)


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


def _vary_settings(
    repeats: int | None,
    repeats_max: int | None,
    precision: str | None,
    budget: str | None,
    duration: str,
    warmup: str,
) -> dict[str, int | float]:
    """Settings of a factor sweep, as far as they are given. Raises UsageError."""
    blocks = BLOCKS_DEFAULT if repeats is None else repeats
    try:
        return {
            "blocks": blocks,
            "blocks_max": max(BLOCKS_MAX_DEFAULT, blocks) if repeats_max is None else repeats_max,
            "duration_s": parse_duration(duration) / NS_PER_S,
            "warmup_s": parse_duration(warmup) / NS_PER_S,
            **({} if precision is None else {"precision": parse_percentage(precision)}),
            **({} if budget is None else {"budget_s": parse_duration(budget) / NS_PER_S}),
        }
    except ValueError as error:
        hint = "write them like --repeats 3 --precision 5% --budget 30m --duration 10s"
        raise UsageError(str(error), hint=hint) from error

"""Owns `brimline failover`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from brimline.api.failover import (
    FAILOVER,
    FAULT_DEFAULT,
    FailoverSettings,
    failover_loaded,
    parse_limit,
    surroundings,
)
from brimline.api.kinds import go_on
from brimline.api.options import DataOptions, Group, LoadOptions, ServerOptions, WorkloadOptions, named_uri, option
from brimline.api.reopen import find_record
from brimline.api.workplace import given_uri
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.failover.order import AFTER_S, BEFORE_S, HOLD_S, LEDGER_MOST_PER_S, REPEATS_DEFAULT
from brimline.servers.faults.kinds import KINDS
from brimline.servers.faults.site import PRIMARY
from brimline.units import NS_PER_S, parse_duration, parse_rate

_FAULTS = ", ".join(KINDS)


@dataclass(frozen=True, kw_only=True)
class FailoverOptions(Group):
    """What befalls the servers, when, and what must hold."""

    fault: str | None = option(
        "--fault",
        "FAULT",
        f"What befalls the servers: {_FAULTS}; or a command, such as 'ssh db1 sudo systemctl stop mongod'. "
        f"Default, on servers that brimline starts: {FAULT_DEFAULT}.",
    )
    undo: str | None = option(
        "--undo", "COMMAND", "The command that puts right what that of --fault did.", requires=("fault",)
    )
    at: str = option(
        "--at", "SERVER", "Which server of a lab: primary, secondary, or its number, port or address.", default=PRIMARY
    )
    alone: bool = option("--alone", "", "It may be the only server, which nobody takes over from.", default=False)
    before: str = option("--before", "TIME", "How long the run goes on before the fault.", default=f"{BEFORE_S:g}s")
    hold: str = option("--hold", "TIME", "How long the fault lasts, until it is undone.", default=f"{HOLD_S:g}s")
    after: str = option("--after", "TIME", "How long the run goes on after that.", default=f"{AFTER_S:g}s")
    repeats: int = option("--repeats", "COUNT", "Runs with a fault, one after the other.", default=REPEATS_DEFAULT)
    ledger: str | None = option(
        "--ledger",
        "RATE",
        "Writes of a ledger beside the load, looked for one by one afterwards; 0: none. Default: as fast as they are "
        f"answered, up to {LEDGER_MOST_PER_S:g}/s.",
    )
    slo: Sequence[str] = option(
        "--slo",
        "LIMIT",
        "What must hold in each run: outage=10s, back=15s, p99=1s, lost=0, twice=0, unanswered=100; repeatable.",
        default=(),
    )


@grouped
def failover(
    workload: WorkloadOptions,
    server: Annotated[ServerOptions, without("null", "mariadb", "postgres")],
    data: DataOptions,
    load: Annotated[LoadOptions, without("operations", "tlr", "duration", "warmup", "think_time", "in_flight")],
    design: Annotated[DesignOptions, without("repeats")],
    output: opt.OutputOptions,
    said: FailoverOptions,
    *,
    resume: Annotated[str | None, going_on_with("a failover")] = None,
) -> int:
    """Let a fault befall the servers during a run: how long nothing is answered, and what becomes of writes."""
    options = opt.surroundings(server, output, data)
    if resume is not None and (gone_on := resumed_design(resume, "failover", options)) is not None:
        return finish(gone_on, output, suite="failover")
    if resume is not None:
        directory = find_record(resume, runs_dir=options.runs_dir)
        return finish(go_on(directory, options, FAILOVER), output, suite="failover")
    design.require_asked()
    loaded = opt.loaded(workload, load)
    fault = said.fault
    if fault is None and "fault" not in {each.partition("=")[0].strip() for each in design.vary}:
        if named_uri(given_uri(loaded.spec, options)) is not None:
            raise UsageError(
                "brimline does nothing to servers that are somebody's unless told what",
                hint="say it: --fault step-down, or a command with --fault and --undo",
            )
        fault = FAULT_DEFAULT
    settings = _settings(said, fault or FAULT_DEFAULT)
    if design.is_asked:
        varied = {name.strip(): levels for name, _, levels in (each.partition("=") for each in design.vary)}
        faults = varied.get("fault", settings.fault).split(",")
        options, words = surroundings(loaded, faults, options, varied=tuple(varied)), asdict(settings)
        return finish(designed(design, "failover", words, workload, options, load=load), output, suite="failover")
    return finish(failover_loaded(loaded, settings, options), output, suite="failover")


def _ledger_per_s(said: str) -> float:
    return 0.0 if said.strip() in ("0", "0/s") else parse_rate(said)


def _settings(said: FailoverOptions, fault: str) -> FailoverSettings:
    times = {name: _seconds(f"--{name}", getattr(said, name)) for name in ("before", "hold", "after")}
    try:
        ledger = None if said.ledger is None else _ledger_per_s(said.ledger)
        settings = FailoverSettings(
            fault=fault,
            undo=said.undo or "",
            at=said.at,
            alone=said.alone,
            before_s=times["before"],
            hold_s=times["hold"],
            after_s=times["after"],
            repeats=said.repeats,
            ledger_per_s=ledger,
            slo=tuple(parse_limit(each) for each in said.slo),
        )
    except ValueError as error:
        raise UsageError(str(error), hint="see brimline failover --help") from error
    _ = settings.asked
    return settings


def _seconds(option: str, text: str) -> float:
    try:
        return parse_duration(text) / NS_PER_S
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint=f"write it like {option} 20s") from error

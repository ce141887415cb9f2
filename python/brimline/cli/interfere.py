"""Owns `brimline interfere`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from brimline.api.interfere import INTERFERENCE, default_rows, interfere_loaded
from brimline.api.kinds import go_on
from brimline.api.options import DataOptions, Group, LoadOptions, ServerOptions, WorkloadOptions, option
from brimline.api.reopen import find_record
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.paired.interference import AND, InterferenceSettings, parse_background
from brimline.experiments.paired.order import PAIRS_DEFAULT
from brimline.spec import LoadedSpec

_HINT = "write it like --with import --with workload:ycsb-b,rate=500/s"
_PAIRS_HINT = "--pairs 5 finds a change of 5 % where runs vary by 1.5 %"


@dataclass(frozen=True, kw_only=True)
class InterfereOptions(Group):
    """What goes on beside the workload."""

    beside: Sequence[str] = option(
        "--with",
        "WHAT",
        "What goes on beside it; repeatable: import (rows, as fast as the load engine inserts them), import:FILE, "
        "scan, index builds, backup (by a client of brimline's own), backup:gzip, backup:mongodump, backup:files "
        "(copies, an own server's writes locked), or workload:NAME, also at a rate: workload:ycsb-b,rate=500/s. "
        "Default: import.",
        default=(),
    )
    pairs: int = option("--pairs", "", "Runs alone and with it; fewer than 2 prove nothing.", default=PAIRS_DEFAULT)
    background_rows: str | None = option(
        "--background-rows",
        "",
        "Documents of the background; default: as many as an import can't run out of, else 500k.",
    )

    @property
    def background(self) -> str:
        """All of them. Raises UsageError for one that isn't there."""
        try:
            return AND.join(parse_background(each).text for each in self.beside or ("import",))
        except ValueError as error:
            raise UsageError(str(error), hint=_HINT) from error


@grouped
def interfere(
    workload: WorkloadOptions,
    server: Annotated[ServerOptions, without("null", "mariadb", "postgres")],
    data: DataOptions,
    load: Annotated[LoadOptions, without("operations", "tlr")],
    gates: Annotated[gating.GateOptions, only("margin")],
    design: DesignOptions,
    output: opt.OutputOptions,
    said: InterfereOptions,
    *,
    resume: Annotated[str | None, going_on_with("an experiment")] = None,
) -> int:
    """Run a workload alone and with a background one, and say what that changes."""
    options = opt.surroundings(server, output, data)
    if resume is not None and (gone_on := resumed_design(resume, "interfere", options)) is not None:
        return finish(gone_on, output, suite="interfere")
    if resume is not None:
        directory = find_record(resume, runs_dir=options.runs_dir)
        return finish(go_on(directory, options, INTERFERENCE), output, suite="interfere")
    design.require_asked()
    if design.is_asked:
        rows = opt.whole_number("--background-rows", said.background_rows, maximum=10**10, example="1M")
        words = {"background": said.background, "pairs": said.pairs, "rows": rows, "margin": gates.margin_share}
        varied = designed(design, "interfere", words, workload, options, load=load)
        return finish(varied, output, suite="interfere")
    loaded = opt.loaded(workload, load)
    settings = _settings(loaded, said.background, said.pairs, said.background_rows, gates.margin_share)
    return finish(interfere_loaded(loaded, settings, options), output, suite="interfere")


def _settings(
    loaded: LoadedSpec,
    background: str,
    pairs: int,
    rows: str | None,
    margin: float,
) -> InterferenceSettings:
    count = opt.whole_number("--background-rows", rows, maximum=10**10, example="1M")
    try:
        count = default_rows(loaded.spec, background) if count is None else count
        return InterferenceSettings(background=background, pairs=pairs, rows=count, margin=margin)
    except ValueError as error:
        raise UsageError(str(error), hint=_PAIRS_HINT if "pair" in str(error) else _HINT) from error

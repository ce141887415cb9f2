"""Owns `brimline trend`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from brimline.analysis.run_trend import TREND_METRICS
from brimline.api.options import Group, option
from brimline.api.trend import NEWEST_DEFAULT
from brimline.api.trend import trend as trend_api
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.junit import write_cases
from brimline.errors import UsageError
from brimline.stats.change_points import MAGNITUDE_FLOOR
from brimline.units import percentage_text


@dataclass(frozen=True, kw_only=True)
class TrendOptions(Group):
    """What is followed, and when a change counts."""

    records: Sequence[str] = option(
        "", "RECORD", "Runs or directories of runs; without any those in the runs directory.", default=()
    )
    metric: Sequence[str] = option(
        "--metric", "NAME", f"Metric to follow; repeatable. Default: {', '.join(TREND_METRICS)}.", default=()
    )
    floor: str = option(
        "--floor", "SHARE", "Smallest change of level that is reported.", default=percentage_text(MAGNITUDE_FLOOR)
    )
    gate: str | None = option(
        "--gate",
        "LIMIT",
        "Fail (exit 3) when a metric became worse by more than this, such as 5%, among the newest runs; end "
        "with 4 when they are too few or vary too much.",
    )
    newest: int = option("--newest", "COUNT", "Runs among which the gate looks.", default=NEWEST_DEFAULT)


@grouped
def trend(
    output: Annotated[opt.OutputOptions, without("quiet", "details", "show", "prometheus", "otlp")],
    said: TrendOptions,
    *,
    html: gating.Html = None,
) -> int:
    """Find where the figures of many runs of one plan changed their level."""
    gating.require_gate(output.junit, gated=said.gate is not None)
    if said.newest < 1:
        raise UsageError(f"--newest must be at least 1, but is {said.newest}", hint="write it like --newest 10")
    least, gate = (
        gating.share_of(said.floor, "--floor"),
        None if said.gate is None else gating.share_of(said.gate, "--gate"),
    )
    result = trend_api(
        said.records or (),
        metrics=tuple(said.metric or TREND_METRICS),
        floor=least,
        gate=gate,
        newest=said.newest,
        runs_dir=output.runs_dir,
    )
    write_cases(result.cases, output.junit, suite="trend")
    return gating.show_report(result.report, output, error=result.error, html=html)

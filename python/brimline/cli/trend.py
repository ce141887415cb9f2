"""Owns `brimline trend`."""

from typing import Annotated

import typer

from brimline.analysis.run_trend import TREND_METRICS
from brimline.api.trend import NEWEST_DEFAULT
from brimline.api.trend import trend as trend_api
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.junit import write_cases
from brimline.errors import UsageError
from brimline.stats.change_points import MAGNITUDE_FLOOR
from brimline.units import percentage_text


@grouped
def trend(
    output: Annotated[opt.OutputOptions, without("quiet", "details")],
    *,
    records: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECORD",
            help="Runs or directories of runs; without any those in the runs directory.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help=f"Metric to follow; repeatable. Default: {', '.join(TREND_METRICS)}.",
            show_default=False,
        ),
    ] = None,
    floor: Annotated[
        str, typer.Option("--floor", metavar="SHARE", help="Smallest change of level that is reported.")
    ] = percentage_text(MAGNITUDE_FLOOR),
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="LIMIT",
            help="Fail (exit 3) when a metric became worse by more than this, such as 5%, among the newest runs; end "
            "with 4 when there are too few.",
            show_default=False,
        ),
    ] = None,
    newest: Annotated[
        int, typer.Option("--newest", metavar="COUNT", help="Runs among which the gate looks.")
    ] = NEWEST_DEFAULT,
    html: gating.Html = None,
) -> int:
    """Find where the figures of many runs of one plan changed their level."""
    gating.require_gate(output.junit, gated=gate is not None)
    if newest < 1:
        raise UsageError(f"--newest must be at least 1, but is {newest}", hint="write it like --newest 10")
    least, limit = gating.share_of(floor, "--floor"), None if gate is None else gating.share_of(gate, "--gate")
    result = trend_api(
        records or (),
        metrics=tuple(metric or TREND_METRICS),
        floor=least,
        limit=limit,
        newest=newest,
        runs_directory=output.runs_directory,
    )
    write_cases(result.cases, output.junit, suite="trend")
    return gating.show_report(result.report, output, error=result.error, html=html)

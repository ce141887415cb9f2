"""Owns `brimline compare`."""

from typing import Annotated

import typer

from brimline.api.comparison import compare as compare_api
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.junit import write_cases
from brimline.errors import UsageError
from brimline.units import counted

AGAINST = "vs"


@grouped
def compare(
    records: Annotated[
        list[str],
        typer.Argument(
            metavar="A... [vs] B...",
            help="Records of A and of B: two names, or several on either side of the word vs. A name is a run, a "
            "search, an import, a directory of them, or an arm of an A/B comparison (DIRECTORY:A); such a comparison "
            "alone: its arms.",
            show_default=False,
        ),
    ],
    gates: gating.GateOptions,
    output: Annotated[opt.OutputOptions, without("quiet", "details", "prometheus", "otlp")],
    *,
    html: gating.Html = None,
) -> int:
    """Compare records: what was configured differently, what changed, and how sure that is."""
    gating.require_gate(output.junit, gated=bool(gates.gate))
    a, b = _sides(records)
    result = compare_api(a, b, margin=gates.margin_share, gate=gates.limits_of_records, runs_dir=output.runs_dir)
    write_cases(result.cases, output.junit, suite="compare")
    return gating.show_report(result.report, output, error=result.error, html=html)


def _sides(records: list[str]) -> tuple[list[str], list[str]]:
    """The names of A and of B. Raises UsageError where it isn't clear which is which."""
    if records.count(AGAINST) > 1:
        raise UsageError(f"{AGAINST} stands more than once", hint=f"write: brimline compare A1 A2 {AGAINST} B1 B2")
    if AGAINST in records:
        place = records.index(AGAINST)
        a, b = records[:place], records[place + 1 :]
    elif len(records) == 1:
        a, b = [f"{records[0]}:A"], [f"{records[0]}:B"]
    else:
        a, b = records[:1], records[1:]
        if len(records) > 2:
            raise UsageError(
                f"{counted(len(records), 'record')} are given, and it isn't said which belong to A and which to B",
                hint=f"put {AGAINST} between them: brimline compare A1 A2 {AGAINST} B1 B2",
            )
    if not a or not b:
        raise UsageError(f"one side of {AGAINST} is empty", hint=f"write: brimline compare A1 A2 {AGAINST} B1 B2")
    return a, b

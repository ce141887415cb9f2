"""Owns what verbs that compare have in common: limits of a gate, a report that has no record."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from brimline.analysis.comparison import MARGIN
from brimline.analysis.gate import parse_limits
from brimline.cli.output import console, json_text, printing
from brimline.errors import BrimlineError, UsageError
from brimline.report import Report, in_language, print_report, said_in, write_html
from brimline.units import parse_percentage, percentage_text
from brimline.wording import wanted_language

Gate = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        metavar="LIMIT",
        help="Fail (exit 3) when a metric surely became worse and by more than this, end with 4 when that can't be "
        "told: 5% for throughput and p99, or NAME=LIMIT such as p95=10%; repeatable.",
        show_default=False,
    ),
]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML file.", show_default=False)
]
MARGIN_TEXT = percentage_text(MARGIN)
Margin = Annotated[str, typer.Option("--margin", metavar="SHARE", help="Largest change that doesn't matter.")]


def limits_of(gate: Sequence[str] | None) -> dict[str, float]:
    """The limits by metric key, empty without a gate. Raises UsageError."""
    try:
        return parse_limits(gate or ())
    except ValueError as error:
        raise UsageError(f"--gate: {error}", hint="write it like --gate 5% or --gate p99=10%") from error


def share_of(text: str, option: str) -> float:
    """A percentage between 0 and 100 %, both excluded. Raises UsageError."""
    try:
        share = parse_percentage(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint=f"write it like {option} 3%") from error
    if not 0 < share < 1:
        raise UsageError(f"{option} must be between 0% and 100%, but is {text}", hint=f"write it like {option} 3%")
    return share


def require_gate(junit: Path | None, *, gated: bool) -> None:
    """Raises UsageError for a JUnit file without a gate, which would have no test case."""
    if junit is not None and not gated:
        raise UsageError("--junit has no effect without a gate", hint="give --gate as well, such as --gate 5%")


def show_report(
    report: Report, *, error: BrimlineError | None, as_json: bool, html: Path | None, lang: str | None = None
) -> int:
    """Prints a report that was made of records, in the language asked for; raises `error` after that."""
    language = wanted_language(lang)
    if html is not None:
        write_html(in_language(report, language), html)
    with printing():
        if as_json:
            sys.stdout.write(json_text(report.data, error))
        else:
            out = console()
            print_report(in_language(report, language), out)
            if html is not None:
                out.print(f"{said_in(language, 'report')}: {html}", soft_wrap=True)
    if error is not None:
        raise error
    return 0

"""Owns what verbs that compare have in common: limits of a gate, a report that has no record."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from brimline.analysis.compared_run import METRIC_KEYS
from brimline.analysis.comparison import MARGIN
from brimline.analysis.gate import parse_limits
from brimline.api.options import Group, option
from brimline.cli.options import OutputOptions
from brimline.cli.output import console, json_text, printing
from brimline.errors import BrimlineError, UsageError
from brimline.report import Report, in_language, print_report, said_in, write_html
from brimline.report.showing import showing
from brimline.units import parse_percentage, percentage_text
from brimline.wording import wanted_language

Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML file.", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class GateOptions(Group):
    """Which differences matter, and which end the command with an error."""

    title: ClassVar[str] = "Comparison"

    margin: str = option("--margin", "SHARE", "Largest change that doesn't matter.", default=percentage_text(MARGIN))
    gate: Sequence[str] = option(
        "--gate",
        "LIMIT",
        "Fail (exit 3) when a metric surely became worse and by more than this, end with 4 when that can't be "
        "told: 5% for throughput and p99, of a search for what it found, or NAME=LIMIT such as p95=10%; repeatable.",
        default=(),
    )

    @property
    def limits(self) -> dict[str, float]:
        """By metric key of a run, "" for what decides; empty without a gate. Raises UsageError."""
        return self._limits(METRIC_KEYS)

    @property
    def limits_of_records(self) -> dict[str, float]:
        """The same where it depends on the records which metrics there are. Raises UsageError."""
        return self._limits(None)

    def _limits(self, known: Collection[str] | None) -> dict[str, float]:
        try:
            return parse_limits(self.gate, known=known)
        except ValueError as error:
            raise UsageError(f"--gate: {error}", hint="write it like --gate 5% or --gate p99=10%") from error

    @property
    def margin_share(self) -> float:
        """As a share of 1. Raises UsageError."""
        return share_of(self.margin, "--margin")


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


def show_report(report: Report, output: OutputOptions, *, error: BrimlineError | None, html: Path | None) -> int:
    """Prints a report that was made of records, in the language asked for; raises `error` after that."""
    language, report = wanted_language(output.language), showing(report, output.figures)
    if html is not None:
        write_html(in_language(report, language), html)
    with printing():
        if output.as_json:
            sys.stdout.write(json_text(report.data, error))
        else:
            out = console()
            print_report(in_language(report, language), out)
            if html is not None:
                out.print(f"{said_in(language, 'report')}: {html}", soft_wrap=True)
    if error is not None:
        raise error
    return 0

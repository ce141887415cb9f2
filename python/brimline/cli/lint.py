"""Owns `brimline lint`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from brimline.analysis.finding import Finding, Standing
from brimline.api.lint import lint as lint_api
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import console, json_text, printing
from brimline.errors import visible
from brimline.report.lint_section import check_name

_STYLES = {Standing.PASS: "green", Standing.UNKNOWN: "dim", Standing.WARN: "yellow", Standing.FAIL: "bold red"}


@grouped
def lint(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What a report claims, as YAML; docs/guides/lint.md lists the keys.")
    ],
    output: Annotated[opt.OutputOptions, only("as_json")],
) -> int:
    """Recompute what a report claims. Exits with 3 when something in it can't be true."""
    result = lint_api(file)
    with printing():
        if output.as_json:
            sys.stdout.write(json_text(result.to_dict(), result.error))
        elif result.findings:
            console().print(_table(result.findings))
        else:
            console().print("No claim could be held against another.")
    if result.error is not None:
        raise result.error
    return 0


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("Check", "Result", "Evidence"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        result = Text(finding.verdict.value, style=_STYLES[finding.verdict])
        table.add_row(check_name(finding.name), result, Text(visible(finding.evidence)))
    return table

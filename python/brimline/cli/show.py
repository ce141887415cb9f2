"""Owns `brimline show`."""

import sys
from typing import Annotated

import typer

from brimline.api.reopen import open_result
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.output import console, printing
from brimline.report import in_language, print_report, render_json
from brimline.wording import wanted_language


@grouped
def show(
    output: Annotated[opt.OutputOptions, without("junit", "quiet", "prometheus", "otlp")],
    *,
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help="A record: its directory, a part of its name, or latest.")
    ] = "latest",
) -> int:
    """Show a stored record on the terminal."""
    result = open_result(record, runs_dir=output.runs_dir).showing(output.figures)
    if output.as_json:
        with printing():
            sys.stdout.write(render_json(result.report))
    else:
        with printing():
            print_report(in_language(result.report, wanted_language(output.language)), console())
    return 0

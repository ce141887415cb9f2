"""Owns `brimline show`."""

import sys
from typing import Annotated

import typer

from brimline.api.options import default_runs_directory
from brimline.api.reopen import open_result
from brimline.cli import options as opt
from brimline.cli.output import console, printing
from brimline.report import in_language, print_report, render_json
from brimline.wording import wanted_language


def show(
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help="A record: its directory, a part of its name, or latest.")
    ] = "latest",
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    as_json: opt.Json = False,
) -> int:
    """Show a stored record on the terminal."""
    result = open_result(record, runs_directory=runs_dir or default_runs_directory())
    if as_json:
        with printing():
            sys.stdout.write(render_json(result.report))
    else:
        with printing():
            print_report(in_language(result.report, wanted_language(lang)), console())
    return 0

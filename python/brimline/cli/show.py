"""Owns `brimline show`."""

import sys
from typing import Annotated

import typer

from brimline import api
from brimline.api.options import default_runs_directory
from brimline.cli import options as opt
from brimline.cli.output import console, printing
from brimline.report import print_report, render_json


def show(
    record: Annotated[str, typer.Argument(help="A record: its directory, a part of its name, or latest.")] = "latest",
    runs_dir: opt.RunsDir = None,
    as_json: opt.Json = False,
) -> int:
    """Show a stored record on the terminal."""
    result = api.open_result(record, runs_directory=runs_dir or default_runs_directory())
    if as_json:
        with printing():
            sys.stdout.write(render_json(result.report))
    else:
        with printing():
            print_report(result.report, console())
    return 0

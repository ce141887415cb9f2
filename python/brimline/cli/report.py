"""Owns `brimline report`."""

import sys
from typing import Annotated

import typer

from brimline import api
from brimline.api.options import default_runs_directory
from brimline.cli import options as opt
from brimline.cli.output import printing
from brimline.report import render_json, wanted_language


def report(
    record: Annotated[str, typer.Argument(help="A record: its directory, a part of its name, or latest.")] = "latest",
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    as_json: opt.Json = False,
) -> int:
    """Analyse a stored record again and write its report; prints the report's path."""
    result = api.open_result(record, runs_directory=runs_dir or default_runs_directory())
    result.write(wanted_language(lang))
    with printing():
        sys.stdout.write(render_json(result.report) if as_json else f"{result.html}\n")
    return 0

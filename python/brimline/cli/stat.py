"""Owns `brimline stat`."""

import functools
import sys
from dataclasses import dataclass
from typing import Annotated, Literal

from brimline.api.options import Group, ServerOptions, option
from brimline.api.stat import stat as stat_api
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.left import Left, leaving
from brimline.cli.output import printing
from brimline.cli.talk import say
from brimline.compat.mongostat import json_lines, parse_fields, table_lines
from brimline.errors import UsageError
from brimline.units import counted


@dataclass(frozen=True, kw_only=True)
class StatOptions(Group):
    """What is watched, and how it is shown."""

    interval_s: float = option("", "SECONDS", "Seconds from one row to the next; default: 1.", default=1.0)
    row_count: int = option("-n --rowcount --rows", "COUNT", "Rows to print; 0: without an end.", default=0)
    columns: str | None = option("-o", "COLUMNS", "Columns to show, such as insert,net_in,mem.bits=bits.")
    more_columns: str | None = option("-O", "COLUMNS", "Columns to show behind the usual ones.")
    no_headers: bool = option("--noheaders", "", "No line of headings.", default=False)
    human: Literal["true", "false"] = option(
        "--humanReadable", "", "Amounts as 1.14m, or plain numbers.", default="true"
    )
    _every: bool = option(
        "--all", "", "As in mongostat, where it adds columns for storage engines of the past.", default=False
    )


@grouped
def stat(
    server: Annotated[
        ServerOptions,
        only(
            "password_file",
            uri="Server to watch, as mongodb://HOST:PORT; or set BRIMLINE_URI. Default: localhost:27017.",
        ),
    ],
    output: Annotated[opt.OutputOptions, only(as_json="A JSON object a line instead of a table.")],
    said: StatOptions,
) -> int:
    """Watch a server live, in mongostat's columns. Ends with Ctrl-C."""
    if said.columns and said.more_columns:
        raise UsageError("-o and -O are two choices of columns", hint="give one of them")
    if not 0.01 <= said.interval_s <= 86_400:
        raise UsageError(
            f"{said.interval_s:g} s is no interval to watch at", hint="give seconds, such as: brimline stat 2"
        )
    if said.row_count < 0:
        rows = counted(said.row_count, "row")
        raise UsageError(f"{rows} can't be printed", hint="give a number from 1 on, or 0 for no end")
    only = parse_fields(said.columns) if said.columns else ()
    more = parse_fields(said.more_columns) if said.more_columns else ()
    intervals = stat_api(
        server.uri,
        password=opt.password_source(server.password_file),
        interval_s=said.interval_s,
        rows=said.row_count or None,
        notice=say,
    )
    lines = json_lines if output.as_json else functools.partial(table_lines, headings=not said.no_headers)
    try:
        with printing(), leaving():
            for line in lines(intervals, only, more, human=said.human == "true"):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
    except Left as left:
        return left.exit_code  # how one leaves it, so there is nothing to say
    return 0

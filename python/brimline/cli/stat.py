"""Owns `brimline stat`."""

import functools
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Literal

import typer

from brimline.api.options import ServerOptions
from brimline.api.stat import stat as stat_api
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import printing
from brimline.errors import UsageError
from brimline.monitor.stat import Field, StatInterval, StatTable, chosen_fields, json_line, parse_fields

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXIT_SIGNAL_BASE = 128


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
    *,
    interval_s: Annotated[
        float,
        typer.Argument(metavar="SECONDS", help="Seconds from one row to the next; default: 1.", show_default=False),
    ] = 1.0,
    row_count: Annotated[
        int,
        typer.Option(
            "-n", "--rowcount", "--rows", metavar="COUNT", help="Rows to print; 0: without an end.", show_default=False
        ),
    ] = 0,
    columns: Annotated[
        str | None,
        typer.Option(
            "-o", metavar="COLUMNS", help="Columns to show, such as insert,net_in,mem.bits=bits.", show_default=False
        ),
    ] = None,
    more_columns: Annotated[
        str | None,
        typer.Option("-O", metavar="COLUMNS", help="Columns to show behind the usual ones.", show_default=False),
    ] = None,
    no_headers: Annotated[bool, typer.Option("--noheaders", help="No line of headings.")] = False,
    human: Annotated[
        Literal["true", "false"],
        typer.Option("--humanReadable", help="Amounts as 1.14m, or plain numbers.", show_default=False),
    ] = "true",
    _every: Annotated[
        bool, typer.Option("--all", help="As in mongostat, where it adds columns for storage engines of the past.")
    ] = False,
) -> int:
    """Watch a server live, in mongostat's columns. Ends with Ctrl-C."""
    if columns and more_columns:
        raise UsageError("-o and -O are two choices of columns", hint="give one of them")
    if not 0.01 <= interval_s <= 86_400:
        raise UsageError(f"{interval_s:g} s is no interval to watch at", hint="give seconds, such as: brimline stat 2")
    if row_count < 0:
        raise UsageError(f"{row_count} rows can't be printed", hint="give a number from 1 on, or 0 for no end")
    only = parse_fields(columns) if columns else ()
    more = parse_fields(more_columns) if more_columns else ()
    intervals = stat_api(
        server.uri,
        password=opt.password_source(server.password_file),
        interval_s=interval_s,
        row_count=row_count or None,
        notice=_notice,
    )
    lines = _json_lines if output.as_json else functools.partial(_table_lines, headings=not no_headers)
    try:
        with printing(), _leaving():
            for line in lines(intervals, only, more, human=human == "true"):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
    except _Left as left:
        return left.exit_code  # how one leaves it, so there is nothing to say
    return 0


class _Left(KeyboardInterrupt):
    """Ctrl-C or SIGTERM. No `Exception`, so that no library on the way takes it for trouble of its own."""

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.exit_code = _EXIT_SIGNAL_BASE + signal_number


@contextmanager
def _leaving() -> Iterator[None]:
    """Within the block both signals end the work at once, also a wait for a server that does not answer."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise _Left(number)

    previous = {number: signal.signal(number, leave) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _table_lines(
    intervals: Iterable[StatInterval], only: Sequence[Field], more: Sequence[Field], *, human: bool, headings: bool
) -> Iterator[str]:
    table: StatTable | None = None
    for interval in intervals:
        table = table or StatTable(chosen_fields(interval.after, only=only, more=more), headings=headings)
        yield from table.lines(interval, human=human)


def _json_lines(
    intervals: Iterable[StatInterval], only: Sequence[Field], more: Sequence[Field], *, human: bool
) -> Iterator[str]:
    for interval in intervals:
        yield json_line(chosen_fields(interval.after, only=only, more=more), interval, human=human)


def _notice(text: str) -> None:
    sys.stderr.write(f"{text}\n")

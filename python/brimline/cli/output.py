"""Owns how a result is printed: JSON for programs on stdout, or the verdict and the report's path for people."""

import sys

from rich.console import Console

from brimline.api import Result
from brimline.report import print_report, render_json

_WIDTH_WITHOUT_TERMINAL = 120


def console() -> Console:
    """Where data for people goes. Without a terminal there is no width to keep to, and tables are not squeezed."""
    plain = Console(highlight=False, markup=False, emoji=False)
    return plain if plain.is_terminal else Console(
        highlight=False, markup=False, emoji=False, width=_WIDTH_WITHOUT_TERMINAL
    )


def show_result(result: Result, *, as_json: bool, full: bool = False) -> int:
    """Prints a result and returns its exit code; raises the result's error after what was measured is printed."""
    if as_json:
        sys.stdout.write(render_json(result.report))
    else:
        out = console()
        print_report(result.report, out, full=full)
        out.print(f"report: {result.html}", soft_wrap=True)
    sys.stdout.flush()
    if result.error is not None:
        raise result.error
    return 0

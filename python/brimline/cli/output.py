"""Owns how a result is printed: JSON for programs on stdout, or the verdict and the report's path for people."""

import sys

from rich.console import Console

from brimline.api import Result
from brimline.report import print_report, render_json

_WIDTH_WITHOUT_TERMINAL = 120


def console() -> Console:
    """Where data for people goes. Without a terminal there is no width to keep to, and tables are not squeezed."""
    plain = _Console(highlight=False, markup=False, emoji=False)
    if not plain.is_terminal:
        plain.width = _WIDTH_WITHOUT_TERMINAL
    return plain


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to `app` what a reader who has had enough means; rich would end the process with 1."""
        raise BrokenPipeError


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

"""Findings made readable: terminal text, JSON, and one HTML file that opens offline.

`run_report`, `sweep_report` and `capacity_report` make a `Report`, plain values with every word ready;
`print_report`, `render_json` and `render_html` lay it out.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brimline.report.document import render_json, write_json
    from brimline.report.html import html_pieces, render_html, write_html
    from brimline.report.language import in_language, said_in
    from brimline.report.run.view import run_report
    from brimline.report.search.view import capacity_report, detail_trial, sweep_report
    from brimline.report.summary import summarised
    from brimline.report.terminal import print_figures, print_report, print_summary
    from brimline.report.view import Report

__all__ = [
    "Report",
    "capacity_report",
    "detail_trial",
    "html_pieces",
    "in_language",
    "print_figures",
    "print_report",
    "print_summary",
    "render_html",
    "render_json",
    "run_report",
    "said_in",
    "summarised",
    "sweep_report",
    "write_html",
    "write_json",
]
_HOMES = {
    "Report": "view",
    "capacity_report": "search.view",
    "detail_trial": "search.view",
    "html_pieces": "html",
    "in_language": "language",
    "print_figures": "terminal",
    "print_report": "terminal",
    "print_summary": "terminal",
    "render_html": "html",
    "render_json": "document",
    "run_report": "run.view",
    "said_in": "language",
    "summarised": "summary",
    "sweep_report": "search.view",
    "write_html": "html",
    "write_json": "document",
}


def __getattr__(name: str) -> Any:
    # Imported when first asked for: YCSB's status lines and JUnit files need little of it.
    if name not in _HOMES:
        raise AttributeError(f"module 'brimline.report' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"brimline.report.{_HOMES[name]}"), name)
    return value

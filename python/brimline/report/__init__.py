"""Findings made readable: terminal text, JSON, and one HTML file that opens offline.

`run_report`, `sweep_report` and `capacity_report` make a `Report`, plain values with every word ready;
`print_report`, `render_json` and `render_html` lay it out.
"""

from brimline.report.document import render_json, write_json
from brimline.report.experiment_view import capacity_report, detail_trial, sweep_report
from brimline.report.html import render_html, write_html
from brimline.report.language import in_language, said_in, wanted_language
from brimline.report.run_view import run_report
from brimline.report.terminal import print_report
from brimline.report.view import Report

__all__ = [
    "Report",
    "capacity_report",
    "detail_trial",
    "in_language",
    "print_report",
    "render_html",
    "render_json",
    "run_report",
    "said_in",
    "sweep_report",
    "wanted_language",
    "write_html",
    "write_json",
]

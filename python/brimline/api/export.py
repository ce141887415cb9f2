"""Owns a result in other formats than the two that are always written: Markdown, CSV and JTL beside HTML and JSON."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from brimline.analysis.steady import counted
from brimline.api.results import Result, RunResult
from brimline.compat.jmeter.jtl import jtl_lines
from brimline.errors import UsageError
from brimline.record.layout import ANALYSIS_FILE, REPORT_FILE
from brimline.record.operation_log import csv_text
from brimline.report import html_pieces, in_language, render_json
from brimline.report.csv_export import probes_csv, scans_csv, statistics_csv
from brimline.report.markdown import render_markdown
from brimline.report.showing import figures_csv

Format: TypeAlias = Literal["html", "md", "csv", "json", "jtl", "operations"]
FORMATS: tuple[Format, ...] = tuple(each for each in get_args(Format) if each != "operations")
"""The formats that are written together; a log of operations, which may be huge, only where it is asked for."""
FILE_NAMES: dict[Format, str] = {
    "html": REPORT_FILE,
    "md": "report.md",
    "csv": "statistics.csv",
    "jtl": "results.jtl",
    "json": ANALYSIS_FILE,
    "operations": "operation-log.csv",
}
"""What a format's file is called, beside the record unless said otherwise."""


def exported(
    result: Result,
    format: Format,  # noqa: A002 - the flag's word
    *,
    language: str = "en",
    show: Sequence[str] = (),
) -> Iterator[str]:
    """The text of `result` in pieces. HTML and Markdown are in `language`. Raises UsageError where there is none.

    `show`: the figures that CSV has, by name; without any, what everybody asks for.
    """
    match format:
        case "html":
            yield from html_pieces(in_language(result.report, language))
        case "md":
            yield render_markdown(in_language(result.report, language))
        case "json":
            yield render_json(result.report)
        case "csv":
            yield figures_csv(result.report, show) if show else _csv(result)
        case "jtl":
            yield from jtl_lines(_run(result).record)
        case "operations":
            yield from csv_text(_logged(result))


def formats_of(result: Result) -> tuple[Format, ...]:
    """Those of `FORMATS` that `result` can be written in."""
    if isinstance(result, RunResult):
        return FORMATS
    missing = {"jtl"} if _has_probes(result) or _is_scan(result) or result.report.grids else {"jtl", "csv"}
    return tuple(each for each in FORMATS if each not in missing)


def _has_probes(result: Result) -> bool:
    return bool(result.report.data.get("probes"))


def _is_scan(result: Result) -> bool:
    return result.report.kind == "scan"


def _csv(result: Result) -> str:
    if isinstance(result, RunResult):
        return statistics_csv(counted(result.record, result.observation.steady), result.observation)
    if _has_probes(result):
        return probes_csv(result.report.data)
    if _is_scan(result):
        return scans_csv(result.report.data)
    return figures_csv(result.report)


def _run(result: Result) -> RunResult:
    if isinstance(result, RunResult):
        return result
    trials = result.directory / "trials"
    example = next(iter(sorted(each for each in trials.glob("*") if each.is_dir())), None)
    raise UsageError(
        "only a single run can be written as JTL",
        hint=f"give one of the runs, such as {example}" if example else "give a run",
    )


def _logged(result: Result) -> Path:
    """The directory of a run that has a log of operations."""
    if isinstance(result, RunResult) and result.record.plan.operation_log:
        return result.directory
    raise UsageError(
        "only a run with a log of operations can be written operation by operation",
        hint="say operation_log: true in the workload, and run it again",
    )


def default_path(result: Result, format: Format) -> Path:  # noqa: A002 - the flag's word
    """Where a format goes when nothing else is said."""
    return result.directory / FILE_NAMES[format]

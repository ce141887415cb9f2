"""Owns what a scan's report claims: each printed rate beside the count and the time that it must be made of."""

from collections.abc import Iterator, Mapping
from typing import Any

from brimline.analysis.lint import Claims, Figure, Repeated, Result
from brimline.report.printed import printed_figure, significant
from brimline.report.view import Report, Table
from brimline.units import NS_PER_S

TIMES_SECTION = "scenarios"
ENTRIES_COLUMN, DOCUMENTS_COLUMN = "Entries/s", "Documents/s"
_DIGITS = 3


def scan_claims(report: Report) -> Claims:
    """Rates of the finished report, read back from its table, and its headline beside the rule's own figure."""
    results = [
        result
        for scenario, cells in zip(report.data["scenarios"], _rows(report), strict=False)
        for result in _results(scenario, cells)
    ]
    stated = [rule["entries_max"] for rule in report.data["rules"] if rule["entries_max"] is not None]
    printed = printed_figure(report.verdict.figure)
    repeated = []
    if stated and printed is not None:
        shown = significant(printed.value, digits=2)
        repeated.append(Repeated(name="headline", values=[shown, Figure(min(stated))], exact=True))
    return Claims(results=results, repeated=repeated)


def _results(scenario: Mapping[str, Any], cells: Mapping[str, str]) -> Iterator[Result]:
    """Entries per second and documents per second of one query."""
    time_ns = scenario["steady_time_ns"]
    if not time_ns:
        return
    duration = Figure(time_ns / NS_PER_S)
    documents, keys = scenario["documents_examined"], scenario["keys_examined"]
    name = f"{scenario['scenario']} {scenario['width'] or ''}".strip()
    for column, count in (
        (DOCUMENTS_COLUMN, documents),
        (ENTRIES_COLUMN, max((each for each in (documents, keys) if each is not None), default=None)),
    ):
        if count is not None:
            yield Result(
                name=name,
                documents=Figure(count),
                duration_s=duration,
                documents_per_s=_rate(cells.get(column, "")),
            )


def _rate(text: str) -> Figure | None:
    printed = printed_figure(text)
    return None if printed is None else significant(printed.value, digits=_DIGITS)


def _rows(report: Report) -> Iterator[Mapping[str, str]]:
    """The rows of the table of times, by column."""
    for section in report.sections:
        for block in section.blocks if section.id == TIMES_SECTION else ():
            labels = [column.label for column in block.columns] if isinstance(block, Table) else []
            if isinstance(block, Table) and DOCUMENTS_COLUMN in labels:
                for row in block.rows:
                    yield dict(zip(labels, (cell.text for cell in row), strict=True))

"""Owns reading back what a report prints: a cell or a headline as a figure with the digits that it shows."""

import math
import re
from collections.abc import Mapping

from brimline.analysis.lint import Figure
from brimline.report.view import Cell, Report, Table
from brimline.units import NS_PER_MS, NS_PER_S, NS_PER_US

_FACTORS = {
    "ns": 1.0,
    "µs": float(NS_PER_US),
    "ms": float(NS_PER_MS),
    "s": float(NS_PER_S),
    "%": 0.01,
    "points": 0.01,
}
_QUANTITY = re.compile(r"(?P<sign>[+-]?)(?P<number>[0-9][0-9 .]*)(?: (?P<unit>[^0-9 ]+))?")
_PRINTED = re.compile(r"(?P<whole>[0-9 ]+)(?:\.(?P<decimals>[0-9]+))?")


def printed_figure(text: str, *, factor: float = 1.0) -> Figure | None:
    """What "1 543.50" says, 1543.5 ± 0.005, times `factor`; None for a dash, a bound, or anything else."""
    match = _PRINTED.fullmatch(text.strip())
    if match is None:
        return None
    value = float(text.replace(" ", ""))
    return Figure(value, 0.5 * 10.0 ** -len(match["decimals"] or "")).times(factor)


def printed_quantity(text: str) -> Figure | None:
    """What "1.50 ms", "9 430 ops/s", "+5.12 %" or "-0.1 points" say: times in ns, shares of 1, rates as they are.

    None for a dash, or for a duration in several parts.
    """
    match = _QUANTITY.fullmatch(text.strip())
    figure = None if match is None else printed_figure(match["number"], factor=_FACTORS.get(match["unit"], 1.0))
    return figure if figure is None or match is None or match["sign"] != "-" else figure.times(-1)


def table_cells(report: Report, section_id: str) -> list[Mapping[str, Cell]]:
    """The rows of a section's first table, cells by column; the first of two columns of one name."""
    section = next((each for each in report.sections if each.id == section_id), None)
    blocks = () if section is None else section.blocks
    table = next((each for each in blocks if isinstance(each, Table)), None)
    rows: list[Mapping[str, Cell]] = []
    for row in table.rows if table is not None else ():
        cells: dict[str, Cell] = {}
        for column, cell in zip(table.columns if table is not None else (), row, strict=True):
            cells.setdefault(column.label, cell)
        rows.append(cells)
    return rows


def significant(value: float, *, digits: int) -> Figure:
    """A figure that was rounded to so many significant digits."""
    exponent = math.floor(math.log10(abs(value))) if value else 0
    return Figure(value, 0.5 * 10.0 ** (exponent - digits + 1))

"""Owns a report's figures: the section that has them, and which of them are shown because somebody chose them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brimline.analysis.metric_names import chosen
from brimline.analysis.metrics import Metric
from brimline.errors import UsageError
from brimline.report.grid import Grid
from brimline.report.grid_charts import grid_charts
from brimline.report.grid_tables import grid_csv, grid_document, metrics_table, operations_table, resources_table
from brimline.report.view import Block, Report, Section

FIGURES = "figures-shown"
"""The section of the figures; charts and tables that were chosen come first in their report."""


def figures_section(grid: Grid) -> Section:
    """What a report shows of its figures where nobody chose any: of each operation, and what client and server took."""
    found = (operations_table(grid), resources_table(grid))
    return Section(
        id=FIGURES,
        title="Figures of each operation, and what they took",
        short="Figures",
        blocks=[each for each in found if each is not None],
    )


def figures_document(grids: Sequence[Grid]) -> list[dict[str, Any]]:
    """All figures of a report for machines, row by row."""
    return [row for grid in grids for row in grid_document(grid)]


def showing(report: Report, names: Sequence[str]) -> Report:
    """`report` with the figures of these names in tables and charts at its beginning; itself without names.

    Raises UsageError for a name that it doesn't have.
    """
    if not names:
        return report
    grids = _having(report, names)
    blocks: list[Block] = []
    for grid, metrics in grids:
        blocks += [metrics_table(grid, metrics), *grid_charts(grid, metrics)]
    section = Section(id=FIGURES, title="Figures that were asked for", short="Figures", blocks=blocks)
    return replace(report, sections=[section, *(each for each in report.sections if each.id != FIGURES)])


def figures_csv(report: Report, names: Sequence[str] = ()) -> str:
    """The figures as CSV: those of `names`, or all. Raises UsageError where there are none."""
    if not names:
        if not report.grids:
            raise _no_figures(report)
        return "\n".join(grid_csv(grid, grid.known) for grid in report.grids)
    return "\n".join(grid_csv(grid, metrics) for grid, metrics in _having(report, names))


def _having(report: Report, names: Sequence[str]) -> list[tuple[Grid, list[Metric]]]:
    """Each grid of the report that has any of the metrics, with those of them that it has."""
    if not report.grids:
        raise _no_figures(report)
    every = list({metric.key: metric for grid in report.grids for metric in grid.metrics}.values())
    wanted = [metric.key for metric in chosen(names, every)]
    found = []
    for grid in report.grids:
        by_key = {each.key: each for each in grid.metrics}
        if own := [by_key[key] for key in wanted if key in by_key]:
            found.append((grid, own))
    return found


def _no_figures(report: Report) -> UsageError:
    return UsageError(
        f"a report of kind {report.kind} has no figures to choose from", hint="leave --show out; its tables have all"
    )

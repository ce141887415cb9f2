"""Owns how a grid is shown: tables, CSV and JSON of every kind of experiment. Charts are made in `grid_charts`.

What is shown is chosen by the metrics' keys, so that any figure can be shown of any record.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brimline.analysis.metrics import Known, Metric
from brimline.analysis.operation_names import shown
from brimline.report.comparison.figures import metric_text
from brimline.report.csv_text import csv_text
from brimline.report.grid import Grid, GridRow
from brimline.report.view import Cell, Column, Table
from brimline.units import UNKNOWN_TEXT, format_percentage
from brimline.wording import Verbatim

_OF_OPERATIONS = ("throughput", "mean", "p50", "p95", "p99", "errors")
_OF_THE_RUN = {
    "connections": ("Connections", "Client"),
    "server_connections": ("Connections", "Server"),
    "client_cpu": ("CPU per operation", "Client"),
    "server_cpu": ("CPU per operation", "Server"),
    "client_cpu_share": ("CPU used", "Client"),
    "server_cpu_share": ("CPU used", "Server"),
    "memory": ("Memory", "Server"),
    "driver_memory": ("Memory", "Driver"),
    "driver_collection": ("Garbage, per operation", "Driver"),
    "pool_wait": ("Wait for a connection", "Driver"),
    "received": ("Traffic", "Received"),
    "sent": ("Traffic", "Sent"),
}
"""What a row took, by metric: the heading over its column, and its own."""


def metrics_table(grid: Grid, metrics: Sequence[Metric]) -> Table:
    """A row for each of the grid, a column for each of `metrics`, with half its interval beside it where it has one."""
    known = [any((at := row.figures.get(each.key)) and at.high is not None for row in grid.rows) for each in metrics]
    columns = _level_columns(grid)
    for metric, has_interval in zip(metrics, known, strict=True):
        columns.append(Column(label=metric.label))
        columns += [Column(label="±", optional=True)] if has_interval else []
    rows = []
    for row in grid.rows:
        cells = _level_cells(row)
        for metric, has_interval in zip(metrics, known, strict=True):
            figure = row.figures.get(metric.key)
            cells.append(Cell(text=figure_text(metric, figure)))
            cells += [Cell(text=half_width_text(figure))] if has_interval else []
        rows.append(cells)
    caption = "± is half the 95 % interval, as a share of the figure." if any(known) else ""
    return Table(columns=columns, rows=rows, caption=grid.caption or caption)


def operations_table(grid: Grid) -> Table | None:
    """Each operation of each row, in the figures that everybody asks for; None without operations."""
    operations = grid.operations
    if not operations:
        return None
    by_key = {each.key: each for each in grid.known}
    names = [name for name in _OF_OPERATIONS if any(f"{each}.{name}" in by_key for each in operations)]
    return Table(
        columns=[
            *_level_columns(grid),
            Column(label="Operation", numeric=False, leading=not grid.axes),
            *(Column(label=_of_any(by_key, operations, name).short) for name in names),
        ],
        rows=[
            [*_level_cells(row), Cell(text=shown(operation)),
             *(_known_cell(by_key.get(f"{operation}.{name}"), row) for name in names)]
            for row in grid.rows
            for operation in operations
        ],
        caption="Times are means over the runs of a row. A dash: too few operations lie beyond it for a figure.",
    )  # fmt: skip


def resources_table(grid: Grid) -> Table | None:
    """What each row took of client and server; None where nothing is known of it."""
    by_key = {each.key: each for each in grid.known}
    known = [by_key[name] for name in _OF_THE_RUN if name in by_key]
    if not known:
        return None
    return Table(
        columns=[
            *_level_columns(grid),
            *(Column(label=label, group=group) for group, label in (_OF_THE_RUN[each.key] for each in known)),
        ],
        rows=[[*_level_cells(row), *(_known_cell(each, row) for each in known)] for row in grid.rows],
        caption="Connections are the most at once; those at the server hold what watches it as well. CPU used: by the "
        "client of one core, by the server of what it may use.",
    )


def grid_csv(grid: Grid, metrics: Sequence[Metric]) -> str:
    """A row for each of the grid; of each figure its value and the ends of its interval, named as in JSON."""
    ends = ("", "_low", "_high")
    names = [f"{metric.document_key or metric.key}{end}" for metric in metrics for end in ends]
    rows = [
        [*row.levels, *(value for metric in metrics for value in (row.figures.get(metric.key) or (None,) * 3))]
        for row in grid.rows
    ]
    return csv_text([*(axis.name for axis in grid.axes), *names], rows)


def grid_document(grid: Grid) -> list[dict[str, Any]]:
    """Every figure of every row, for machines."""
    names = {each.key: each.document_key or each.key for each in grid.metrics}
    return [
        {
            "levels": {axis.name: level for axis, level in zip(grid.axes, row.levels, strict=True)},
            "values": {
                names[key]: {"value": figure.value, "low": figure.low, "high": figure.high}
                for key, figure in row.figures.items()
                if key in names
            },
        }
        for row in grid.rows
    ]


def figure_text(metric: Metric, figure: Known | None) -> str:
    """A figure in its unit; a dash where it isn't known."""
    return UNKNOWN_TEXT if figure is None else metric_text(metric, figure.value)


def _known_cell(metric: Metric | None, row: GridRow) -> Cell:
    return Cell(text=UNKNOWN_TEXT if metric is None else figure_text(metric, row.figures.get(metric.key)))


def _of_any(metrics: Mapping[str, Metric], operations: Sequence[str], name: str) -> Metric:
    """The metric of this kind of the first operation that has it."""
    return next(metrics[key] for each in operations if (key := f"{each}.{name}") in metrics)


def half_width_text(figure: Known | None) -> str:
    """Half the interval as a share of the figure; a dash without one. From all of the figure on it tells nothing."""
    if figure is None or figure.high is None or not figure.value:
        return UNKNOWN_TEXT
    share = (figure.high - figure.value) / figure.value
    return format_percentage(share, digits=2) if share < 1 else "can't be told"


def _level_columns(grid: Grid) -> list[Column]:
    return [
        Column(label=axis.heading, numeric=axis.scale != "category", leading=place == 0)
        for place, axis in enumerate(grid.axes)
    ]


def _level_cells(row: GridRow) -> list[Cell]:
    return [Cell(text=Verbatim(level)) for level in row.levels]

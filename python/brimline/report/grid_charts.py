"""Charts of a grid: chosen metrics over the levels of one axis, a line for each combination of the others."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from brimline.analysis.metrics import Known, Metric
from brimline.report import figures
from brimline.report.comparison.figures import metric_text
from brimline.report.grid import Grid, GridRow
from brimline.report.view import Chart, Key, Mark, Sketch
from brimline.stats.estimate import interval_tells
from brimline.units import format_count
from brimline.wording import Verbatim, capitalised, joined, message

LINES_MAX = len(figures.SERIES)
_DASHES: tuple[tuple[str, Mark], ...] = (("solid", "line"), ("dot", "dot"), ("dash", "dash"))
_POINTS: tuple[Mark, ...] = ("circle", "diamond", "square")
"""Of metrics over names, between which there is nothing: no lines."""
_HEIGHT_PX = 340
_UNIT_SCALES: Mapping[str, tuple[str, float]] = {
    "bytes": ("MB", 1e-6),
    "bytes/s": ("MB/s", 1e-6),
    "share": ("%", 100.0),
}
"""How units stand at an axis, and what a figure is multiplied with for that."""

_Line = tuple[str, Sequence[GridRow]]


def grid_charts(grid: Grid, metrics: Sequence[Metric], *, over: str | None = None) -> list[Chart]:
    """`metrics` over each axis that has several levels, or over that of the name `over`; none where nothing is known.

    Those of one operation in one unit share a chart.
    """
    places = [place for place, axis in enumerate(grid.axes) if over in (None, axis.name)]
    ordered = sorted(metrics, key=lambda each: [*map(_group, metrics)].index(_group(each)))
    return [
        chart
        for place in places
        if len(grid.levels_of(place)) > 1
        for _, group in groupby(ordered, key=_group)
        if (chart := _shown(grid, place, list(group))) is not None
    ]


def _shown(grid: Grid, place: int, metrics: Sequence[Metric]) -> Chart | None:
    axis = grid.axes[place]
    title = message(
        "{figure} by {factor}",
        figure=capitalised(joined(", ", [each.label for each in metrics])),
        factor=axis.title or axis.heading,
    )
    return axis_chart(grid, place, metrics, id=f"shown-{axis.name}-{metrics[0].key}", title=title)


def _group(metric: Metric) -> tuple[str | None, str, bool]:
    """What shares a chart. CPU time is no latency."""
    return (metric.operation, metric.unit, "cpu" in metric.key)


def axis_chart(grid: Grid, place: int, metrics: Sequence[Metric], *, id: str, title: str) -> Chart | None:  # noqa: A002
    """`metrics`, all in one unit, over the axis at `place`; None where none of them is known."""
    lines = _lines(grid, place)
    known = [figure for _, rows in lines for row in rows for metric in metrics
             if (figure := row.figures.get(metric.key)) is not None]  # fmt: skip
    if not known:
        return None
    axis, alone, last = grid.axes[place], len(lines) == 1, metrics[-1]
    left_out = max(len(lines) - LINES_MAX, 0)
    more = message(" {count} further combinations are in the table.", count=format_count(left_out)) if left_out else ""
    if not all(map(_tells, known)):
        more = joined("", [message(" An interval that can't be told has none."), *filter(None, [more])])
    return Chart(
        id=id.replace(".", "-").replace("_", "-"),
        title=title,
        caption=message("Bars are 95 % intervals.{more}", more=more),
        summary=joined("; ", (_summary(name, rows, last, place) for name, rows in lines)),
        figure={
            "data": list(_traces(grid, place, lines[:LINES_MAX], metrics)),
            "layout": figures.layout(xaxis=_x_axis(grid, place), yaxis=_y_axis(metrics, known)),
        },
        legend=_legend(lines[:LINES_MAX], metrics, alone=alone, marks=_marks(grid, place)),
        height_px=_HEIGHT_PX,
        sketch=Sketch(axis="y", caption=message("{figure} over {factor}", figure=last.label, factor=axis.heading)),
    )


def _lines(grid: Grid, place: int) -> list[_Line]:
    """The rows by the levels of the other axes, each in the order of this one's levels."""
    found: dict[tuple[str, ...], list[GridRow]] = {}
    for row in grid.rows:
        found.setdefault(row.levels[:place] + row.levels[place + 1 :], []).append(row)
    names = [axis.heading for position, axis in enumerate(grid.axes) if position != place]
    order = {level: position for position, level in enumerate(grid.levels_of(place))}
    return [
        (
            joined(", ", [message("{factor} {level}", factor=name, level=Verbatim(level))
                          for name, level in zip(names, levels, strict=True)]),
            sorted(rows, key=lambda row: order[row.levels[place]]),
        )
        for levels, rows in found.items()
    ]  # fmt: skip


def _traces(grid: Grid, place: int, lines: Sequence[_Line], metrics: Sequence[Metric]) -> Iterator[dict[str, Any]]:
    for number, (name, rows) in enumerate(lines):
        for position, metric in enumerate(metrics):
            if not any(metric.key in row.figures for row in rows):
                continue
            color = figures.SERIES[(position if len(lines) == 1 else number) % LINES_MAX]
            style = 0 if len(lines) == 1 else position % len(_DASHES)
            yield _trace(grid, place, joined(", ", [*filter(None, [name]), metric.label]), rows, metric, color, style)


def _trace(
    grid: Grid, place: int, name: str, rows: Sequence[GridRow], metric: Metric, color: str, style: int
) -> dict[str, Any]:
    _, scale = _UNIT_SCALES.get(metric.unit, ("", 1.0))
    seen = [row.figures.get(metric.key) for row in rows]
    values = [None if each is None else each.value * scale for each in seen]
    line = figures.line(name, [_x(grid, place, row) for row in rows], values, color, line={"dash": _DASHES[style][0]})
    told = [None if each is None or not _tells(each) else each for each in seen]
    highs = [0.0 if each is None or each.high is None else (each.high - each.value) * scale for each in told]
    lows = [0.0 if each is None or each.low is None else min(each.value - each.low, 0.95 * each.value) * scale
            for each in told]  # fmt: skip
    error = {"type": "data", "symmetric": False, "array": highs, "arrayminus": lows, "thickness": 1, "width": 3}
    drawn: dict[str, Any] = {"mode": "lines+markers", "marker": {"size": 6}}
    if _is_of_names(grid, place):
        drawn = {"mode": "markers", "marker": {"size": 8, "color": color, "symbol": _POINTS[style]}}
    return line | drawn | {"error_y": {**error, "color": color}}


def _is_of_names(grid: Grid, place: int) -> bool:
    return grid.axes[place].scale == "category"


def _marks(grid: Grid, place: int) -> Sequence[Mark]:
    return _POINTS if _is_of_names(grid, place) else [mark for _, mark in _DASHES]


def _tells(figure: Known) -> bool:
    """Whether its interval, if it has one, is worth a bar."""
    return figure.low is None or figure.high is None or interval_tells(figure.value, figure.low, figure.high)


def _x(grid: Grid, place: int, row: GridRow) -> str | float:
    level = row.levels[place]
    return Verbatim(level) if _is_of_names(grid, place) else float(level)


def _x_axis(grid: Grid, place: int) -> dict[str, Any]:
    """Levels that are no numbers as they were given: a line that lacks one would else put it behind all others."""
    axis, levels = grid.axes[place], grid.levels_of(place)
    title = axis.title or axis.heading
    if axis.scale == "log2":
        return figures.log2_axis(title, [int(each) for each in levels])
    if axis.scale == "linear":
        return figures.zero_based(title, max(map(float, levels)))
    return figures.axis(title, type="category", categoryorder="array", categoryarray=list(map(Verbatim, levels)))


def _y_axis(metrics: Sequence[Metric], known: Sequence[Known]) -> dict[str, Any]:
    first = metrics[0]
    if first.unit == "ns":
        title = "CPU time" if "cpu" in first.key else "time"
        return figures.latency_axis(title, [each.value for each in known])
    unit, scale = _UNIT_SCALES.get(first.unit, (first.unit, 1.0))
    highest = max(each.value if each.high is None else min(each.high, 2 * each.value) for each in known) * scale
    name = first.short or first.label
    title = message("{figure}, {unit}", figure=name, unit=unit)
    return figures.zero_based(name if first.unit == "connections" else title, highest)


def _legend(lines: Sequence[_Line], metrics: Sequence[Metric], *, alone: bool, marks: Sequence[Mark]) -> list[Key]:
    first = marks[0]
    if alone:
        return [
            Key(name=metric.label, color=color, mark=first)
            for metric, color in zip(metrics, figures.SERIES, strict=False)
        ]
    keys = [Key(name=name, color=color, mark=first) for (name, _), color in zip(lines, figures.SERIES, strict=False)]
    if len(metrics) > 1:
        keys += [
            Key(name=metric.label, color=figures.INK, mark=marks[position % len(marks)])
            for position, metric in enumerate(metrics)
        ]
    return keys


def _summary(name: str, rows: Sequence[GridRow], metric: Metric, place: int) -> str:
    points = joined(
        ", ",
        [
            message("{level}: {value}", level=Verbatim(row.levels[place]), value=metric_text(metric, figure.value))
            for row in rows
            if (figure := row.figures.get(metric.key)) is not None
        ],
    )
    return message("{where}: {points}", where=name, points=points) if name else points

"""Owns a chart in characters: what a terminal shows of a figure, a few rows high.

Lines are drawn in braille dots, two by four in a cell; marks are characters of their own, each kind a different one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size

from brimline.report.view import Chart
from brimline.units import duration_label, format_number

WIDTH_MIN, POINTS_MIN = 40, 2
"""Columns and points that a chart needs."""
LIMIT = "┄"
_MARKS: Mapping[str, str] = {
    "circle": "●",
    "x": "×",
    "diamond-open": "◇",
    "square-open": "□",
    "cross-thin-open": "+",
}
_SERIES = "●○◆◇"
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille cell, by row and column."""


def sketched(chart: Chart, *, width: int, rows: int) -> list[str]:
    """`chart` in so many rows and one for its horizontal axis; empty where there is nothing to draw or no room."""
    if chart.sketch is None or width < WIDTH_MIN:
        return []
    drawn = _drawn(chart.figure["data"], chart.sketch.axis)
    layout = chart.figure["layout"]
    vertical = layout[f"yaxis{chart.sketch.axis.removeprefix('y')}"]
    categories = list(dict.fromkeys(x for each in drawn for x in each.xs if isinstance(x, str)))
    limits = _limits(layout, chart.sketch.axis)
    points = [(_place(x, categories), y) for each in drawn for x, y in each.points]
    if len(points) < POINTS_MIN:
        return []
    across = _Scale.of([x for x, _ in points], is_log=layout["xaxis"].get("type") == "log")
    up = _upwards(vertical, [*(y for _, y in points), *limits])
    labels = _labels(vertical, up, rows, first=limits)
    margin = max(map(cell_len, labels))
    canvas = _Canvas(width - margin - 2, rows)
    for limit in limits:
        canvas.across(up(limit))
    for each in drawn:
        canvas.draw([(across(_place(x, categories)), None if y is None else up(y)) for x, y in each.xy], each.mark)
    left, right = (_end(layout["xaxis"], value, categories) for value in (across.low, across.high))
    legend = [f"{each.mark} {each.name}" for each in drawn if each.mark and each.name]
    below = "  ".join([chart.sketch.caption, *dict.fromkeys(legend)])
    return [
        *(f"{' ' * (margin - cell_len(label))}{label} │{row}" for label, row in zip(labels, canvas.lines, strict=True)),
        f"{' ' * margin} └{_between(left, right, below, canvas.columns)}",
    ]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """One trace: as a line, or with a mark at each point."""

    name: str
    xy: Sequence[tuple[float | str, float | None]]
    mark: str

    @property
    def xs(self) -> list[float | str]:
        return [x for x, _ in self.xy]

    @property
    def points(self) -> list[tuple[float | str, float]]:
        return [(x, y) for x, y in self.xy if y is not None]


def _drawn(traces: Sequence[Mapping[str, Any]], axis: str) -> list[_Drawn]:
    """The traces of an axis: single marks where there are any, else the p99, else all of them."""
    there = [each for each in traces if each.get("yaxis", "y") == axis and "fill" not in each]
    own = [each for each in there if "lines" in each.get("mode", "") or _is_over_names(each)]
    marks = [each for each in there if each.get("mode") == "markers" and not _is_over_names(each)]
    chosen = marks or [each for each in own if "p99" in str(each.get("name", ""))] or own
    several = len(chosen) > 1
    found = []
    for index, each in enumerate(chosen):
        symbol = each.get("marker", {}).get("symbol", "circle")
        stands_alone = several or _is_over_names(each)  # as a mark at each point, without a line
        mark = _MARKS.get(symbol, "●") if each in marks else _SERIES[index % len(_SERIES)] if stands_alone else ""
        xy = list(zip(each["x"], each["y"], strict=True))
        found.append(_Drawn(each.get("name", "") if several or each in marks else "", xy, mark))
    return found


def _is_over_names(trace: Mapping[str, Any]) -> bool:
    """Whether it is over levels that are no numbers, between which there is nothing."""
    return trace.get("mode") == "markers" and any(isinstance(x, str) for x in trace["x"])


def _limits(layout: Mapping[str, Any], axis: str) -> list[float]:
    """Where lines lie across the plot."""
    lines = (each for each in layout.get("shapes", ()) if each["type"] == "line" and each.get("yref") == axis)
    return [each["y0"] for each in lines if each["y0"] == each["y1"] and each.get("xref") == "x domain"]


def _place(x: float | str, categories: Sequence[str]) -> float:
    return float(categories.index(x)) if isinstance(x, str) else float(x)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a value to its place between 0 and 1."""

    low: float
    high: float
    is_log: bool

    @classmethod
    def of(cls, values: Sequence[float], *, is_log: bool) -> "_Scale":
        usable = [value for value in values if math.isfinite(value) and (value > 0 or not is_log)]
        return cls(min(usable, default=1.0), max(usable, default=1.0), is_log)

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return 0.5 if high == low else (at - low) / (high - low)


class _Canvas:
    """Cells of dots, and characters over them."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self._rows = rows
        self._dots = [[0] * columns for _ in range(rows)]
        self._marks: dict[tuple[int, int], str] = {}

    def across(self, y: float) -> None:
        """A line from left to right."""
        row = self._row(y)
        for column in range(self.columns):
            self._marks[row, column] = LIMIT

    def draw(self, points: Sequence[tuple[float, float | None]], mark: str) -> None:
        """A line through the points, with a gap where one has no value; with a `mark` only that, at each of them."""
        before: tuple[int, int] | None = None
        for x, y in points:
            if y is None:
                before = None
            elif mark:
                self._marks[self._row(y), round(x * (self.columns - 1))] = mark
            else:
                at = round(x * (self.columns * 2 - 1)), round((1 - y) * (self._rows * 4 - 1))
                self._line(at if before is None else before, at)
                before = at

    def _line(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            x, y = (round(a + (b - a) * step / steps) for a, b in zip(start, end, strict=True))
            self._dots[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
            if self._marks.get((y // 4, x // 2)) == LIMIT:
                del self._marks[y // 4, x // 2]

    def _row(self, y: float) -> int:
        return _row_of(y, self._rows)

    @property
    def lines(self) -> list[str]:
        return [
            "".join(
                self._marks.get((row, column)) or (chr(_BRAILLE + dots) if dots else " ")
                for column, dots in enumerate(cells)
            ).rstrip()
            for row, cells in enumerate(self._dots)
        ]


def _row_of(y: float, rows: int) -> int:
    """The row of cells in which a height between 0 and 1 lies."""
    return round((1 - y) * (rows * 4 - 1)) // 4


def _upwards(axis: Mapping[str, Any], values: Sequence[float]) -> _Scale:
    """The scale of a vertical axis, with one of its ticks at least, by which a height can be told."""
    is_log, ticks = axis.get("type") == "log", axis.get("tickvals", ())
    scale = _Scale.of([*values, *([0.0] if axis.get("rangemode") == "tozero" else [])], is_log=is_log)
    if not ticks or any(scale.low <= tick <= scale.high for tick in ticks):
        return scale
    nearest = min(ticks, key=lambda tick: min(abs(tick - scale.low), abs(tick - scale.high)))
    return _Scale.of([scale.low, scale.high, nearest], is_log=is_log)


def _labels(axis: Mapping[str, Any], scale: _Scale, rows: int, *, first: Sequence[float]) -> list[str]:
    """What stands before each row: values in `first`, then the axis' own ticks, the outer ones before the others.

    A value that is no tick has a label only on an axis of times.
    """
    ticks = list(zip(axis.get("tickvals", ()), axis.get("ticktext", ()), strict=False))
    if ticks and ticks[0][1] == duration_label(ticks[0][0]):
        ticks = sorted({**{value: duration_label(value) for value in first}, **dict(ticks)}.items())
    if not ticks:
        ticks = [(value, format_number(value)) for value in (scale.high, scale.low)]
    inside = [each for each in ticks if scale.low <= each[0] <= scale.high]
    labels = [""] * rows
    limits = [each for each in inside if each[0] in first]
    for value, text in [*limits, inside[-1], inside[0], *inside[1:-1]]:
        row = _row_of(scale(value), rows)
        labels[row] = labels[row] or text
    return labels


def _end(axis: Mapping[str, Any], value: float, categories: Sequence[str]) -> str:
    """What stands at an end of the horizontal axis."""
    if categories:
        return categories[round(value)]
    texts = dict(zip(axis.get("tickvals", ()), axis.get("ticktext", ()), strict=False))
    return str(texts.get(value, "")) or str(format_number(value))


def _between(left: str, right: str, text: str, width: int) -> str:
    """`text` in the middle of a line that begins and ends with the two others."""
    room = width - cell_len(left) - cell_len(right) - 2
    if cell_len(text) > room:
        text = f"{set_cell_size(text, max(room - 1, 0))}…"
    space = width - cell_len(left) - cell_len(right) - cell_len(text)
    return f"{left}{' ' * (space // 2)}{text}{' ' * (space - space // 2)}{right}"

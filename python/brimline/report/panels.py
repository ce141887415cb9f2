"""Owns panels: small charts of a few lines over the run's time, one below the other, all with the same axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from brimline.report import figures
from brimline.report.time_axis import TimeSpan, overlay
from brimline.report.view import Chart, Key
from brimline.wording import message

POINT_COUNT_MAX = 600
"""Points in a line; more can't be told apart on a screen."""
PANEL_HEIGHT_PX = 210

Point: TypeAlias = tuple[float, float | None]
"""Time in s since the run's start, and a value; None: a gap."""


@dataclass(frozen=True, slots=True)
class Line:
    """One quantity over time."""

    name: str
    color: str
    points: Sequence[Point]
    dashed: bool = False

    @property
    def shown(self) -> bool:
        """Whether there is anything to draw."""
        return any(value is not None for _, value in self.points)


@dataclass(frozen=True, slots=True)
class Marked:
    """Spans of time in s that are to be seen behind the lines, such as checkpoints."""

    name: str
    spans: Sequence[tuple[float, float]]


def panel(
    id: str,  # noqa: A002 - the chart's own word
    title: str,
    axis_title: str,
    lines: Sequence[Line],
    span: TimeSpan,
    *,
    caption: str,
    unit: str = "",
    marked: Marked | None = None,
) -> Chart | None:
    """A chart of the `lines` that have values, from 0 up; None without any. `unit` stands behind a hovered value."""
    shown = [line for line in lines if line.shown]
    if not shown:
        return None
    drawn = [_trace(line, unit) for line in shown]
    highest = max(value for line in shown for _, value in line.points if value is not None)
    layout = figures.aligned(
        figures.layout(xaxis=span.axis(), yaxis=figures.zero_based(axis_title, highest, nticks=5), yaxis2=overlay("y"))
    )
    if marked is not None:
        layout["shapes"] += [_band(start, end) for start, end in marked.spans]
    return Chart(
        id=id,
        title=title,
        caption=caption,
        summary=message("Highest value: {value:.4g}.", value=highest),
        figure={"data": [*drawn, *span.hatching("y2")], "layout": layout},
        legend=[
            *(Key(name=line.name, color=line.color, mark="dash" if line.dashed else "line") for line in shown),
            *([Key(name=marked.name, color=_BAND, mark="band")] if marked is not None and marked.spans else []),
            *span.keys,
        ],
        height_px=PANEL_HEIGHT_PX,
    )


def thinned(points: Sequence[Point], *, count_max: int = POINT_COUNT_MAX) -> list[Point]:
    """At most about `count_max` points: of neighbours the lowest and the highest stay, so that no peak is lost."""
    if len(points) <= count_max:
        return list(points)
    size = math.ceil(len(points) / (count_max / 2))
    kept: list[Point] = []
    for first in range(0, len(points), size):
        kept += _extremes(points[first : first + size])
    return kept


_BAND = "rgba(168, 106, 0, 0.22)"


def _extremes(points: Sequence[Point]) -> list[Point]:
    """The lowest and the highest of some points, in the order of time; a gap where there is no value at all."""
    known = [(time, value) for time, value in points if value is not None]
    if not known:
        return [points[0]]
    lowest, highest = (choose(known, key=lambda point: point[1]) for choose in (min, max))
    extremes: set[Point] = {lowest, highest}
    return sorted(extremes, key=lambda point: point[0])


def _trace(line: Line, unit: str) -> dict[str, Any]:
    points = thinned(line.points)
    style = {"dash": "dash"} if line.dashed else {}
    times, values = [round(time, 3) for time, _ in points], [_short(value) for _, value in points]
    hover = message("{shown}{unit}<extra>{name}</extra>", shown="%{x:.1f} s: %{y:,.4~g} ", unit=unit, name=line.name)
    return figures.line(line.name, times, values, line.color, line=style) | {"hovertemplate": hover}


def _short(value: float | None) -> float | None:
    """Six digits: what a chart can show, and half the file."""
    return None if value is None else float(f"{value:.6g}")


def _band(start: float, end: float) -> dict[str, Any]:
    place = {"type": "rect", "xref": "x", "x0": round(start, 3), "x1": round(end, 3), "yref": "paper", "y0": 0, "y1": 1}
    return place | {"fillcolor": _BAND, "line": {"width": 0}, "layer": "below"}

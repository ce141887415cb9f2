"""Figures as plain JSON in plotly's form, of which `templates/charts` draws what is used: the shared style and parts.

Throughput axes start at zero, latency axes are logarithmic and say so, every axis names its unit.
"""

import math
from collections.abc import Sequence
from typing import Any

from brimline.units import duration_label
from brimline.wording import message

INK = "#1f2933"
MUTED = "#5f6b7a"
GRID = "#e6e9ee"
THROUGHPUT = "#0b7a6b"
OFFERED = "#8a94a3"
FAIL = "#b4322a"
PASSED = "#1e7b4f"
INCONCLUSIVE = "#a86a00"
BAND = "rgba(11, 122, 107, 0.14)"
HATCH = "#b9c1cc"
P50, P95, P99 = "#9cc3e6", "#4a8fd0", "#14477e"
SERIES = ("#14477e", "#0b7a6b", "#a86a00", "#7a4fa3", "#b4322a", "#4a5568")
FONT = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Hiragino Sans GB",'
    ' "Microsoft YaHei", "Noto Sans CJK SC", "Source Han Sans SC", sans-serif'
)


def layout(**axes: Any) -> dict[str, Any]:
    """The layout that all charts share; `axes` and other keys are added to it."""
    return {
        "font": {"family": FONT, "size": 12, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 64, "r": 18, "t": 22, "b": 46},
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "#ffffff", "bordercolor": GRID, "font": {"family": FONT, "color": INK}},
        "showlegend": False,  # legends are part of the page
        "separators": ".\u202f",
        "shapes": [],
        "annotations": [],
        **axes,
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """A linear axis. `title` names the quantity and its unit."""
    return {
        "title": {"text": title, "standoff": 8, "font": {"color": MUTED, "size": 12}},
        "gridcolor": GRID,
        "linecolor": "#c6ccd4",
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": "#c6ccd4",
        "tickfont": {"color": MUTED},
        "automargin": True,
        **more,
    }


def aligned(layout: dict[str, Any]) -> dict[str, Any]:
    """A layout whose plot begins at the same place whatever its labels are, so that charts below each other align.

    `charts/chart.js` knows it by the vertical axes that don't make room for themselves.
    """
    layout["margin"]["l"] = 78
    for name, axis_ in layout.items():
        if name.startswith("yaxis"):
            axis_["automargin"] = False
    return layout


def zero_based(title: str, highest: float, **more: Any) -> dict[str, Any]:
    """A linear axis from 0 to a little above `highest`, so that heights can be compared."""
    top = highest * 1.08 if highest > 0 and math.isfinite(highest) else 1.0
    return axis(title, range=[0, top], rangemode="tozero", separatethousands=True, exponentformat="none", **more)


def latency_axis(title: str, values_ns: Sequence[float], **more: Any) -> dict[str, Any]:
    """A logarithmic axis in ns whose ticks are written in the unit that people use: 500 µs, 1 ms, 2 ms."""
    positive = [value for value in values_ns if value > 0 and math.isfinite(value)]
    low, high = (min(positive), max(positive)) if positive else (1e6, 1e7)
    low, high = low / 1.25, high * 1.25
    ticks = _ticks(low, high)
    return axis(
        message("{title}, log scale", title=title),
        type="log",
        range=[math.log10(low), math.log10(high)],
        tickvals=ticks,
        ticktext=[duration_label(tick) for tick in ticks],
        **more,
    )


def log2_axis(title: str, values: Sequence[int], **more: Any) -> dict[str, Any]:
    """A logarithmic axis whose ticks are the measured values themselves."""
    ticks = sorted(set(values)) or [1]
    return axis(
        message("{title}, log scale", title=title),
        type="log",
        range=[math.log10(ticks[0] / 1.25), math.log10(ticks[-1] * 1.25)],
        tickvals=ticks,
        ticktext=[str(tick) for tick in ticks],
        **more,
    )


def line(name: str, x: Sequence[float | str], y: Sequence[float | None], color: str, **more: Any) -> dict[str, Any]:
    """A line with gaps where there is no value."""
    style = {"color": color, "width": 1.8} | more.pop("line", {})
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": style,
        **more,
    }


def horizontal(
    value: float, text: str, color: str, *, yref: str = "y", dash: str = "dash", at_right: bool = False
) -> dict[str, list[Any]]:
    """A line across the plot at `value`, labelled at its left end, where load is low and curves are far.

    For `extend`.
    """
    return {
        "shapes": [
            {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "yref": yref, "y0": value, "y1": value}
            | {"line": {"color": color, "width": 1.3, "dash": dash}}
        ],
        "annotations": [
            _label(text, color)
            | {"xref": "x domain", "x": 0.995 if at_right else 0.005, "xanchor": "right" if at_right else "left"}
            | {"yref": yref, "y": value}
        ],
    }


def extend(target: dict[str, Any], additions: dict[str, list[Any]], *, log_label: bool = False) -> None:
    """Adds shapes and annotations to a layout.

    Annotations on a log axis are placed by the logarithm, shapes are not.
    """
    for annotation in additions["annotations"]:
        if log_label:
            annotation["y"] = math.log10(annotation["y"])
    target["shapes"] += additions["shapes"]
    target["annotations"] += additions["annotations"]


def vertical(
    value: float, text: str, color: str, *, top: str = "paper", log_x: bool = False, place: float = 0.5
) -> dict[str, list[Any]]:
    """A line from bottom to top at `value`, labelled at its upper end.

    `place`: where it stands, from 0 at the left to 1; near an end a long label lies to the other side.
    """
    return {
        "shapes": [
            {"type": "line", "xref": "x", "x0": value, "x1": value, "yref": top, "y0": 0, "y1": 1}
            | {"line": {"color": color, "width": 1.3, "dash": "dot"}}
        ],
        "annotations": [
            _label(text, color)
            | {
                "xref": "x",
                "x": math.log10(value) if log_x else value,
                "xanchor": "left" if place < 1 / 3 else "right" if place > 2 / 3 else "center",
                "yref": top,
                "y": 1,
                "yanchor": "bottom",
            }
        ],
    }


def _label(text: str, color: str) -> dict[str, Any]:
    return {
        "text": text,
        "showarrow": False,
        "yanchor": "bottom",
        "font": {"size": 11, "color": color},
        "bgcolor": "rgba(255,255,255,0.75)",
    }


def hatch(start: float, end: float, *, xaxis: str = "x", yaxis: str = "y9") -> dict[str, Any]:
    """A hatched band over the whole height of the plot; `yaxis` goes from 0 to 1 and is invisible."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [start, end, end, start, start],
        "y": [0, 0, 1, 1, 0],
        "xaxis": xaxis,
        "yaxis": yaxis,
        "fill": "toself",
        "fillcolor": "rgba(0,0,0,0)",
        "fillpattern": {
            "shape": "/",
            "fgcolor": "#b9c1cc",
            "bgcolor": "rgba(120,130,145,0.06)",
            "size": 7,
            "solidity": 0.12,
        },
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": "warm-up, not counted",
    }


def _ticks(low: float, high: float) -> list[float]:
    """1-2-5 steps between `low` and `high`, only the decades when that would be more than a dozen."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high]
    if len(inside) > 9:
        inside = [tick for tick in inside if math.isclose(math.log10(tick) % 1, 0, abs_tol=1e-9)]
    return inside or [low, high]

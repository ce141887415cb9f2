"""Owns the charts of comparisons and trends: changes by metric, shift of the distribution, a series with its levels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brimline.analysis.change_text import change_text, interval_text
from brimline.analysis.changes import MetricChange, QuantileChange
from brimline.analysis.comparison import quantile_name
from brimline.analysis.judged_change import ChangeVerdict
from brimline.analysis.run_trend import MetricTrend, RunSeries
from brimline.report import figures
from brimline.report.comparison.figures import metric_text
from brimline.report.view import Chart, Key, Sketch
from brimline.stats.change import Change, geometric_mean
from brimline.wording import joined, message

_COLORS = {
    ChangeVerdict.IMPROVED: figures.PASSED,
    ChangeVerdict.REGRESSED: figures.FAIL,
    ChangeVerdict.EQUIVALENT: figures.THROUGHPUT,
    ChangeVerdict.INCONCLUSIVE: figures.INCONCLUSIVE,
}
_SHARE_SHOWN_MAX = 1.0
"""An interval of two runs a side can reach to any power of ten; the axis stops at a doubling, and says what goes on."""
_CHANGES_CAPTION = (
    "Each mark is the change from A to B with its 95 % interval. Shaded: too small to matter. Right of zero is more; "
    "the colour says whether that is better."
)
_SHIFT_CAPTION = (
    "How far each quantile moved from A to B, with its 95 % interval over runs. Above zero B is slower. "
    "Grey: too small to matter. A flat line is a change of everything alike; a rise to the right one of the tail."
)


def changes_chart(changes: Sequence[MetricChange]) -> Chart | None:
    """Each metric's change with its interval; None where no metric has one."""
    shown = [each for each in changes if each.change is not None and not each.metric.absolute]
    if not shown:
        return None
    labels = [each.metric.label for each in shown]
    traces = [_interval_trace(each) for each in shown]
    beyond = [(each.metric.label, each.change) for each in shown if each.change and _goes_on(each.change)]
    if beyond:
        edge: list[float | str] = [100 * _SHARE_SHOWN_MAX] * len(beyond)
        marks = {"symbol": "triangle-right", "textposition": "top left"}
        traces.append(_arrows(edge, [label for label, _ in beyond], [change for _, change in beyond], **marks))
    margin = max(each.margin for each in shown) * 100
    layout = figures.layout(
        xaxis=figures.axis("change from A to B, %", zeroline=True, zerolinecolor=figures.INK)
        | {"range": _range([bound for each in shown if each.change for bound in (each.change.low, each.change.high)])},
        yaxis=figures.axis("", type="category", categoryorder="array", categoryarray=labels[::-1]),
    )
    layout["shapes"].append(_band(-margin, margin, axis="x"))
    return Chart(
        id="changes",
        title="What changed, by metric",
        caption=_caption(_CHANGES_CAPTION, cut=bool(beyond)),
        summary=joined(
            "; ",
            (
                message("{metric}: {change}, {interval}", metric=each.metric.label, change=change_text(each.change),
                        interval=interval_text(each.change))
                for each in shown
            ),
        ),
        figure={"data": traces, "layout": layout},
        legend=[Key(name=verdict.value, color=color, mark="circle") for verdict, color in _COLORS.items()
                if any(each.verdict is verdict for each in shown)],
        height_px=90 + 42 * len(shown),
    )  # fmt: skip


def shift_chart(shift: Sequence[QuantileChange], *, clock: str, margin: float) -> Chart | None:
    """The change of every quantile with its band; None without intervals."""
    known = [(each, each.change) for each in shift if each.change is not None]
    if not known:
        return None
    names = [quantile_name(each.quantile) for each, _ in known]
    bounds = [[_shown(value) for value in (change.low, change.value, change.high)] for _, change in known]
    band = {
        "type": "scatter", "mode": "lines", "fill": "toself", "fillcolor": figures.BAND, "line": {"width": 0},
        "x": [*names, *reversed(names)], "y": [*(each[0] for each in bounds), *(each[2] for each in reversed(bounds))],
        "hoverinfo": "skip", "name": "95 % interval",
    }  # fmt: skip
    line = figures.line("change", [], [each[1] for each in bounds], figures.THROUGHPUT) | {
        "x": names,
        "mode": "lines+markers",
        "marker": {"size": 7},
        "text": [_change_hover(change) for _, change in known],
        "hovertemplate": "%{x}: %{text}<extra></extra>",
    }
    beyond = [(name, change) for name, (_, change) in zip(names, known, strict=True) if _goes_on(change)]
    edge: list[float | str] = [100 * _SHARE_SHOWN_MAX] * len(beyond)
    marks = {"symbol": "triangle-up", "textposition": "bottom center"}
    arrows = [_arrows([name for name, _ in beyond], edge, [change for _, change in beyond], **marks)] if beyond else []
    layout = figures.layout(
        xaxis=figures.axis(message("quantile of the {clock} time", clock=clock), type="category"),
        yaxis=figures.axis("change from A to B, %", zeroline=True, zerolinecolor=figures.INK)
        | {"range": _range([bound for _, change in known for bound in (change.low, change.high)])},
    )
    layout["shapes"].append(_band(-margin * 100, margin * 100, axis="y"))
    return Chart(
        id="shift",
        title="Shift of the whole distribution",
        caption=_caption(_SHIFT_CAPTION, cut=bool(beyond)),
        summary=joined(
            "; ", (message("{name}: {change}", name=quantile_name(e.quantile), change=change_text(c)) for e, c in known)
        ),
        figure={"data": [band, line, *arrows], "layout": layout},
        legend=[
            Key(name="change", color=figures.THROUGHPUT, mark="line"),
            Key(name="95 % interval", color=figures.BAND, mark="band"),
        ],
        height_px=340,
        sketch=Sketch(axis="y", caption="change from A to B, %, over quantile"),
    )


def trend_chart(series: RunSeries, trend: MetricTrend, *, id: str) -> Chart:  # noqa: A002 - the chart's own word
    """A metric run by run, with the level of each stretch between changes."""
    numbers = list(range(1, len(trend.values) + 1))
    scale, unit = _scale(trend)
    values = [value / scale for value in trend.values]
    starts = [0, *(point.index for point in trend.points)]
    ends = [*(point.index for point in trend.points), len(values)]
    levels = [
        figures.line("level", [start + 0.5, end + 0.5], [geometric_mean(values[start:end])] * 2, figures.INK)
        | {"hoverinfo": "skip"}
        for start, end in zip(starts, ends, strict=True)
    ]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": numbers,
        "y": values,
        "marker": {"color": figures.THROUGHPUT, "size": 7},
        "text": [
            joined("<br>", [run.name, metric_text(trend.metric, value)])
            for run, value in zip(trend.runs, trend.values, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "name": "run",
        "cliponaxis": False,
    }
    layout = figures.layout(
        xaxis=figures.axis("run, the newest at the right", range=[0.5, len(values) + 0.5]),
        yaxis=figures.zero_based(message("{metric}, {unit}", metric=trend.metric.label, unit=unit), max(values)),
    )
    for point in trend.points:
        worse = trend.worse(point) > 0
        color = figures.FAIL if worse else figures.PASSED
        figures.extend(layout, figures.vertical(point.index + 0.5, change_text(point.change), color))
    return Chart(
        id=id,
        title=message("{metric} of {name}, run by run", metric=trend.metric.label, name=series.name),
        caption="Each mark is one run; lines are the level between changes. Dotted: where the level changed.",
        summary=joined(
            "; ",
            (
                message("{change} at run {number} of {count}", change=change_text(point.change), number=point.index + 1,
                        count=len(values))
                for point in trend.points
            ),
        )
        if trend.points
        else "no change of level",
        figure={"data": [*levels, dots], "layout": layout},
        legend=[
            Key(name="run", color=figures.THROUGHPUT, mark="circle"),
            Key(name="level", color=figures.INK, mark="line"),
        ],
        height_px=280,
    )  # fmt: skip


def _interval_trace(each: MetricChange) -> dict[str, Any]:
    change = each.change
    assert change is not None  # noqa: S101 - the caller has chosen those with a change
    low, value, high = (_shown(bound) for bound in (change.low, change.value, change.high))
    color = _COLORS.get(each.verdict, figures.MUTED)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [value],
        "y": [each.metric.label],
        "error_x": {"type": "data", "symmetric": False, "array": [high - value], "arrayminus": [value - low]}
        | {"color": color, "thickness": 2, "width": 6},
        "marker": {"color": color, "size": 10},
        "text": [_change_hover(change)],
        "hovertemplate": "%{y}: %{text}<extra></extra>",
        "name": each.verdict.value,
    }


def _arrows(
    x: Sequence[float | str], y: Sequence[float | str], changes: Sequence[Change], *, symbol: str, textposition: str
) -> dict[str, Any]:
    """Marks at the edge of the plot, each with the value that the axis doesn't reach."""
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": list(x),
        "y": list(y),
        "marker": {"symbol": symbol, "color": figures.INK, "size": 11},
        "text": [_beyond_text(change) for change in changes],
        "textposition": textposition,
        "textfont": {"size": 11, "color": figures.INK},
        "hoverinfo": "skip",
        "cliponaxis": False,
        "name": "beyond the axis",
    }


def _beyond_text(change: Change) -> str:
    """The change itself where it lies beyond the axis, else how far its interval reaches."""
    if change.value > _SHARE_SHOWN_MAX:
        return change_text(change)
    if change.tells_nothing:
        return interval_text(change)
    return message("interval to {high}", high=change_text(replace(change, value=change.high)))


def _goes_on(change: Change) -> bool:
    """Whether it or its interval is cut where the axis ends; there is no change below -100 %."""
    return max(change.value, change.high) > _SHARE_SHOWN_MAX


def _caption(caption: str, *, cut: bool) -> str:
    if not cut:
        return caption
    return message(
        "{caption} The axis ends at +100 %; an arrow there says how far a change, or its interval, goes on.",
        caption=caption,
    )


def _band(low: float, high: float, *, axis: str) -> dict[str, Any]:
    other = "y" if axis == "x" else "x"
    return {
        "type": "rect", f"{axis}ref": axis, f"{axis}0": low, f"{axis}1": high,
        f"{other}ref": "paper", f"{other}0": 0, f"{other}1": 1,
        "fillcolor": "rgba(120,130,145,0.14)", "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def _shown(share: float) -> float:
    """In percent, cut where the axis ends."""
    return 100 * min(max(share, -1.0), _SHARE_SHOWN_MAX)


def _range(shares: Sequence[float]) -> list[float]:
    low, high = min(0.0, *(map(_shown, shares))), max(0.0, *(map(_shown, shares)))
    room = max((high - low) * 0.08, 1.0)
    return [low - room, high + room]


def _scale(trend: MetricTrend) -> tuple[float, str]:
    """What to divide values by, and the unit they then have."""
    if trend.metric.unit != "ns":
        return 1.0, trend.metric.unit
    largest = max(trend.values)
    return next(
        ((factor, unit) for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if largest >= factor), (1.0, "ns")
    )


def _change_hover(change: Change | None) -> str:
    return message("{change} ({interval})", change=change_text(change), interval=interval_text(change))

"""Charts of an experiment's probes: the closed-loop sweep, and the capacity curve of the open-loop probes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

from brimline.analysis.objective import LatencyObjective
from brimline.experiments.axis import Axis, On
from brimline.plan.pacing import connections_text
from brimline.report import figures
from brimline.report.view import Chart, Key, Mark, Sketch
from brimline.stats.estimate import Estimate
from brimline.units import UNKNOWN_TEXT, format_duration, format_rate
from brimline.wording import joined, message

_LOAD_TITLES: Mapping[On, str] = {
    On.RATE: "offered load, ops/s",
    On.CONNECTIONS: "connections, closed loop",
    On.THREADS: "threads (T of T-L-R)",
}
_MARKS: Mapping[str, tuple[str, str, str, Mark]] = {
    # verdict: colour, symbol, name, legend mark; the shapes differ too, for those who don't see the colours
    "pass": (figures.PASSED, "circle", "pass", "circle"),
    "fail": (figures.FAIL, "x", "fail", "x"),
    "inconclusive": (figures.INCONCLUSIVE, "diamond-open", "inconclusive", "diamond"),
    "client_limited": (figures.OFFERED, "square-open", "generator was the limit", "square"),
    "invalid": (figures.OFFERED, "cross-thin-open", "invalid", "cross"),
    "": (figures.INK, "circle", "measured", "circle"),
}


_WHERE_CAPACITY_IS = (
    " The capacity is the load that nearly all windows bear. A line of medians may cross the objective elsewhere."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePoint:
    """One probe as the charts need it.

    `load` is the offered rate, in a closed loop the number of connections or threads.
    """

    load: float
    throughput_ops_per_s: float
    p50_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    limited_ns: int | None = None  # at the quantile that the objective limits, or the bound from below
    p99_text: str  # a figure, or a bound where operations were too few
    verdict: str  # "pass" "fail" "inconclusive" "client_limited" "invalid", "" for a sweep
    label: str


def capacity_curve(
    points: Sequence[ProbePoint],
    *,
    limit: LatencyObjective,
    axis: Axis,
    capacity: Estimate | None,
    more_limits: Sequence[LatencyObjective] = (),
) -> Chart | None:
    """Throughput and latency against load; None without probes that were held to the objective.

    `more_limits`: others on the same quantile.
    """
    if not points:
        return None
    points = sorted(points, key=lambda point: point.load)
    loads = [point.load for point in points] + ([capacity.low, capacity.high] if capacity else [])
    margin = max((max(loads) - min(loads)) * 0.06, max(loads) * 0.01)
    left, right = max(0.0, min(loads) - margin), max(loads) + margin
    data: list[dict[str, Any]] = [
        *([] if axis.closed_loop else [_all_answered(left, right)]),
        *_marks(points, yaxis="y", value="throughput_ops_per_s"),
        *_quantile_lines(points, limit.clock, yaxis="y2"),
        *_marks(points, yaxis="y2", value="limited_ns"),
    ]
    latencies = [
        value for point in points for value in (point.p50_ns, point.p99_ns, point.limited_ns) if value is not None
    ]
    limits_ns = [each.limit_ns for each in (limit, *more_limits)]
    highest = max(point.throughput_ops_per_s for point in points)
    highest = highest if axis.closed_loop else max(highest, *loads)
    layout = figures.layout(
        xaxis=figures.axis(_LOAD_TITLES[axis.on], range=[left, right], exponentformat="none", anchor="y2")
        | {"separatethousands": True},
        yaxis=figures.zero_based("answered, ops/s", highest, domain=[0.56, 1]),
        yaxis2=figures.latency_axis(f"{limit.clock} time", [*latencies, *limits_ns], domain=[0, 0.46]),
    )
    if capacity is not None:
        layout["shapes"].append(
            {
                "type": "rect",
                "xref": "x",
                "x0": capacity.low,
                "x1": capacity.high,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
            }
            | {"fillcolor": figures.BAND, "line": {"width": 0}, "layer": "below"}
        )
        figures.extend(layout, figures.vertical(capacity.value, "capacity", figures.THROUGHPUT))
    for each in (limit, *more_limits):
        slo_text = message("objective: {limit}", limit=each.short_text)
        figures.extend(layout, figures.horizontal(each.limit_ns, slo_text, figures.FAIL, yref="y2"), log_label=True)
    return Chart(
        id="capacity-curve",
        title="Capacity curve",
        caption=_curve_caption(axis, limit, capacity),
        summary=message("{points}.", points=joined("; ", [_point_text(point, axis) for point in points])),
        figure={"data": data, "layout": layout},
        legend=[
            *_verdict_keys(points),
            *([] if axis.closed_loop else [Key(name="all answered", color=figures.OFFERED, mark="dash")]),
            *_quantile_keys(limit.clock),
            *([_band_key(capacity)] if capacity else []),
        ],
        height_px=560,
        sketch=Sketch(
            axis="y2",
            caption=message(
                "{quantile} over {load}",
                quantile=limit.short_name,
                load=axis.unit if axis.whole else "offered ops/s",
            ),
        ),
    )


def _all_answered(left: float, right: float) -> dict[str, Any]:
    """Where everything that is offered is answered."""
    line = {"dash": "dash", "width": 1.2}
    return figures.line("all answered", [left, right], [left, right], figures.OFFERED, line=line) | {
        "hoverinfo": "skip"
    }


def _curve_caption(axis: Axis, limit: LatencyObjective, capacity: Estimate | None) -> str:
    above = (
        "Above: throughput. "
        if axis.closed_loop
        else "Above: what was answered of what was offered; under the dashed line, work is left over. "
    )
    return message(
        "{above}Below: {clock} time, lines through the median of the probes at each load, marks at the {quantile}. "
        "Each mark is one probe; where only a bound is known, the mark lies there.{where}",
        above=above,
        where="" if capacity is None else _WHERE_CAPACITY_IS,
        clock=limit.clock,
        quantile=limit.short_name,
    )


def sweep_curve(
    points: Sequence[ProbePoint], *, knee_connections: int | None, plateau_ops_per_s: float | None
) -> Chart | None:
    """Throughput and service time against connections in a closed loop; None without a sweep."""
    if not points:
        return None
    points = sorted(points, key=lambda point: point.load)
    medians = _medians(points)
    data = [
        figures.line(
            "throughput",
            [load for load, _ in medians],
            [each.throughput_ops_per_s for _, each in medians],
            figures.THROUGHPUT,
        )
        | {"mode": "lines", "hoverinfo": "skip"},
        *_marks(points, yaxis="y", value="throughput_ops_per_s", color=figures.THROUGHPUT),
        *_quantile_lines(points, "service", yaxis="y2", markers=True),
    ]
    latencies = [value for point in points for value in (point.p50_ns, point.p99_ns) if value is not None]
    highest = max([point.throughput_ops_per_s for point in points] + ([plateau_ops_per_s] if plateau_ops_per_s else []))
    layout = figures.layout(
        xaxis=figures.log2_axis("connections", [int(p.load) for p in points], anchor="y2"),
        yaxis=figures.zero_based("throughput, ops/s", highest, domain=[0.56, 1]),
        yaxis2=figures.latency_axis("service time", latencies, domain=[0, 0.46]),
    )
    if plateau_ops_per_s is not None:
        text = message("plateau {rate}", rate=format_rate(plateau_ops_per_s, digits=4))
        # A knee at the left end has its own label there.
        at_right = knee_connections is not None and knee_connections <= points[0].load
        figures.extend(layout, figures.horizontal(plateau_ops_per_s, text, figures.MUTED, at_right=at_right))
    if knee_connections is not None:
        knee = figures.vertical(
            knee_connections,
            message("knee: {connections}", connections=knee_connections),
            figures.THROUGHPUT,
            log_x=True,
        )
        figures.extend(layout, knee)
    return Chart(
        id="sweep-curve",
        title="How throughput grows with connections",
        caption=(
            "Closed loop: each connection has one operation in flight at most and sends again once its answer is "
            "taken. The knee is the smallest number of connections with at least 95 % of the plateau; "
            "beyond it, more connections only wait longer."
        ),
        summary=message("{points}.", points=joined("; ", map(_level_text, points))),
        figure={"data": data, "layout": layout},
        legend=[Key(name="throughput", color=figures.THROUGHPUT, mark="line"), *_quantile_keys("service")],
        height_px=500,
        sketch=Sketch(axis="y2", caption="service p99 over connections"),
    )


def _marks(points: Sequence[ProbePoint], *, yaxis: str, value: str, color: str | None = None) -> list[dict[str, Any]]:
    """One marker per probe, a trace per verdict."""
    by_verdict = sorted(points, key=lambda point: (list(_MARKS).index(point.verdict), point.load))
    traces = []
    for verdict, group in groupby(by_verdict, key=lambda point: point.verdict):
        chosen = list(group)
        verdict_color, symbol, name, _ = _MARKS[verdict]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [point.load for point in chosen],
                "y": [getattr(point, value) for point in chosen],
                "yaxis": yaxis,
                "marker": _marker(color or verdict_color, symbol),
                "text": [_hover_text(point) for point in chosen],
                "hovertemplate": "%{text}<extra></extra>",
                "cliponaxis": False,
            }
        )
    return traces


def _marker(color: str, symbol: str) -> dict[str, Any]:
    outline = 2.0 if symbol.endswith("open") else 0.0
    return {"color": color, "symbol": symbol, "size": 9, "line": {"width": outline, "color": color}}


def _verdict_keys(points: Sequence[ProbePoint]) -> list[Key]:
    """Legend entries of the verdicts that occur."""
    seen = {point.verdict for point in points}
    return [
        Key(name=name, color=color, mark=mark)
        for verdict, (color, _, name, mark) in _MARKS.items()
        if verdict in seen and verdict
    ]


def _quantile_keys(clock: str) -> list[Key]:
    colors = {"p50": figures.P50, "p95": figures.P95, "p99": figures.P99}
    return [Key(name=f"{clock} {name}", color=color, mark="line") for name, color in colors.items()]


def _band_key(capacity: Estimate) -> Key:
    return Key(
        name=message("capacity, {confidence:g} % interval", confidence=capacity.confidence * 100),
        color=figures.BAND,
        mark="band",
    )


def _quantile_lines(
    points: Sequence[ProbePoint], clock: str, *, yaxis: str, markers: bool = False
) -> list[dict[str, Any]]:
    medians = _medians(points)
    styles = (("p50", "p50_ns", figures.P50), ("p95", "p95_ns", figures.P95), ("p99", "p99_ns", figures.P99))
    return [
        figures.line(
            f"{clock} {name}",
            [load for load, _ in medians],
            [getattr(each, field) for _, each in medians],
            color,
        )
        | {"yaxis": yaxis, "mode": "lines+markers" if markers else "lines", "marker": {"size": 6}}
        | {"text": [_duration(getattr(each, field)) for _, each in medians]}
        | {"hovertemplate": message("{shown}<extra>{name}</extra>", shown="%{x:,.0f}: %{text}", name=f"{clock} {name}")}
        for name, field, color in styles
    ]


def _medians(points: Sequence[ProbePoint]) -> list[tuple[float, ProbePoint]]:
    """Per load the medians over its probes, in the order of load."""
    result = []
    for load, group in groupby(points, key=lambda point: point.load):
        same = list(group)
        middle = ProbePoint(
            load=load,
            throughput_ops_per_s=median(point.throughput_ops_per_s for point in same),
            p50_ns=_median([point.p50_ns for point in same]),
            p95_ns=_median([point.p95_ns for point in same]),
            p99_ns=_median([point.p99_ns for point in same]),
            p99_text="",
            verdict="",
            label="",
        )
        result.append((load, middle))
    return result


def _median(values: Sequence[int | None]) -> int | None:
    """None where one has no figure: the others are the fast ones, and their p99 may lie below the p95 of all."""
    known = [value for value in values if value is not None]
    return round(median(known)) if known and len(known) == len(values) else None


def _duration(value_ns: int | None) -> str:
    return UNKNOWN_TEXT if value_ns is None else format_duration(value_ns)


def _hover_text(point: ProbePoint) -> str:
    text = message(
        "<b>{label}</b><br>answered {rate}<br>p50 {p50}, p95 {p95}, p99 {p99}",
        label=point.label,
        rate=format_rate(point.throughput_ops_per_s, digits=4),
        p50=_duration(point.p50_ns),
        p95=_duration(point.p95_ns),
        p99=point.p99_text,
    )
    return joined("<br>", [text, _MARKS[point.verdict][2]]) if point.verdict else text


def _point_text(point: ProbePoint, axis: Axis) -> str:
    load = axis.text(point.load) if axis.closed_loop else message("{rate} offered", rate=axis.text(point.load))
    return message(
        "{load}: {answered} answered, p99 {p99}, {verdict}",
        load=load,
        answered=format_rate(point.throughput_ops_per_s),
        p99=point.p99_text,
        verdict=_MARKS[point.verdict][2],
    )


def _level_text(point: ProbePoint) -> str:
    return message(
        "{connections}: {rate}, service p99 {p99}",
        connections=connections_text(round(point.load)),
        rate=format_rate(point.throughput_ops_per_s),
        p99=point.p99_text,
    )

"""Charts of a factor sweep: throughput and latency over the levels of one factor, a line for each of the others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brimline.analysis.compared_run import Metric
from brimline.analysis.factorial import Mean
from brimline.experiments.vary.conclusion import Cell, VaryConclusion, at_text
from brimline.experiments.vary.factor_kinds import CONNECTIONS, WORKLOAD
from brimline.experiments.vary.factors import Factor
from brimline.experiments.vary.order import VarySettings
from brimline.report import figures
from brimline.report.comparison.figures import metric_text
from brimline.report.view import Chart, Key, Sketch
from brimline.units import format_count
from brimline.wording import Verbatim, joined, message

LINES_MAX = len(figures.SERIES)
_DASHES = {"p95": "dot", "p99": "solid"}


def factor_charts(conclusion: VaryConclusion, settings: VarySettings, factor: Factor) -> Iterator[Chart]:
    """Throughput and latency over the levels of `factor`; none where no run counts, or of the workload."""
    if factor.name == WORKLOAD:
        return
    lines = _lines(conclusion, settings, factor)
    main, *others = conclusion.metrics
    for name, metrics in (("throughput", (main,)), ("latency", [] if settings.is_nested else others)):
        known = [mean for _, cells in lines for cell in cells for metric in metrics
                 if (mean := cell.means.get(metric.key)) is not None]  # fmt: skip
        if known:
            yield _chart(name, metrics, factor, lines[:LINES_MAX], known, left_out=len(lines) - LINES_MAX,
                         place=settings.factors.index(factor), is_measured=settings.is_nested)  # fmt: skip


def _lines(
    conclusion: VaryConclusion, settings: VarySettings, factor: Factor
) -> list[tuple[Mapping[str, str], list[Cell]]]:
    """The combinations by the levels of the other factors, each in the order of the factor's levels."""
    place = settings.factors.index(factor)
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in conclusion.cells:
        found.setdefault(cell.levels[:place] + cell.levels[place + 1 :], []).append(cell)
    names = [each.name for each in settings.factors if each is not factor]
    order = _number if factor.name == CONNECTIONS else factor.levels.index
    return [
        (dict(zip(names, rest, strict=True)), sorted(cells, key=lambda cell: order(cell.levels[place])))
        for rest, cells in found.items()
    ]


def _number(level: str) -> int:
    return int(level)


def _chart(
    name: str,
    metrics: Sequence[Metric],
    factor: Factor,
    lines: Sequence[tuple[Mapping[str, str], Sequence[Cell]]],
    known: Sequence[Mean],
    *,
    left_out: int,
    place: int,
    is_measured: bool,
) -> Chart:
    highest = max(mean.value if mean.estimate is None else min(mean.estimate.high, 2 * mean.value) for mean in known)
    levels = sorted(map(_number, factor.levels)) if factor.name == CONNECTIONS else []
    x_axis = figures.log2_axis("connections", levels) if levels else _levels_axis(factor)
    is_time = name == "latency"
    layout = figures.layout(
        xaxis=x_axis,
        yaxis=figures.latency_axis("service time", [mean.value for mean in known])
        if is_time
        else figures.latency_axis(metrics[0].label, [mean.value for mean in known])
        if metrics[0].unit == "ns"
        else figures.zero_based(axis_title(metrics[0]), highest),
    )
    colored = list(zip(lines, figures.SERIES, strict=False))
    data = [
        _trace(at, cells, metric, color, factor, place)
        for (at, cells), color in colored
        for metric in metrics
        if any(metric.key in cell.means for cell in cells)
    ]
    more = (
        message(" {count} further combinations are in the table.", count=format_count(left_out)) if left_out > 0 else ""
    )
    return Chart(
        id=f"{factor.name}-{name}",
        title=message("Latency by {factor}", factor=factor.name)
        if is_time
        else message("Throughput by {factor}", factor=factor.name)
        if metrics[0].key == "throughput"
        else message("{metric} by {factor}", metric=metrics[0].label, factor=factor.name),
        caption=message("A point is the figure of one combination, bars are its 95 % interval.{more}", more=more)
        if is_measured
        else message(
            "{what} Bars are 95 % intervals of the mean over runs.{more}",
            what="p99 as lines, p95 dotted." if is_time else "A point is the mean of the runs of one combination.",
            more=more,
        ),
        summary=joined("; ", (_summary(at, cells, metrics[-1], place) for at, cells in lines)),
        figure={"data": data, "layout": layout},
        legend=[Key(name=at_text(at) or factor.name, color=color, mark="line") for (at, _), color in colored],
        height_px=340,
        sketch=Sketch(axis="y", caption=message("service p99 over {factor}", factor=factor.name))
        if is_time
        else Sketch(axis="y", caption=message("{metric} by {factor}", metric=metrics[0].label, factor=factor.name))
        if is_measured
        else None,
    )


def axis_title(metric: Metric) -> str:
    """`throughput, ops/s`."""
    if metric.key == "throughput":
        return message("throughput, {unit}", unit=metric.unit)
    return message("{metric}, {unit}", metric=metric.label, unit=metric.unit)


def _levels_axis(factor: Factor) -> dict[str, Any]:
    """The levels as they were given: a line that lacks one of them would else put it behind all others."""
    return figures.axis(
        factor.name, type="category", categoryorder="array", categoryarray=list(map(Verbatim, factor.levels))
    )


def _trace(
    at: Mapping[str, str], cells: Sequence[Cell], metric: Metric, color: str, factor: Factor, place: int
) -> dict[str, Any]:
    means = [cell.means.get(metric.key) for cell in cells]
    bars = [None if mean is None else mean.estimate for mean in means]
    values = [None if mean is None else mean.value for mean in means]
    line = figures.line(
        joined(", ", [at_text(at), metric.label]) if at else metric.label,
        [_level(cell, place, factor) for cell in cells],
        values,
        color,
        line={"dash": _DASHES.get(metric.key, "solid")},
    )
    highs = [0.0 if bar is None else bar.high - bar.value for bar in bars]
    lows = [0.0 if bar is None else min(bar.value - bar.low, 0.95 * bar.value) for bar in bars]
    error = {"type": "data", "symmetric": False, "array": highs, "arrayminus": lows, "thickness": 1, "width": 3}
    return line | {"mode": "lines+markers", "marker": {"size": 6}, "error_y": {**error, "color": color}}


def _level(cell: Cell, place: int, factor: Factor) -> str | int:
    """The level of `factor` in a combination, a number where the axis has numbers."""
    return int(cell.levels[place]) if factor.name == CONNECTIONS else Verbatim(cell.levels[place])


def _summary(at: Mapping[str, str], cells: Sequence[Cell], metric: Metric, place: int) -> str:
    parts = [
        message("{level}: {value}", level=Verbatim(cell.levels[place]), value=metric_text(metric, mean.value))
        for cell in cells
        if (mean := cell.means.get(metric.key)) is not None
    ]
    where = at_text(at)
    points = joined(", ", parts)
    return message("{where}: {points}", where=where, points=points) if where else points

"""Charts of one run: throughput and latency over time, and the percentile curve."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brimline.analysis.objective import LatencyObjective
from brimline.plan.pacing import offered_line
from brimline.record.model import Measured, RunRecord
from brimline.report import figures
from brimline.report.load_figures import is_load
from brimline.report.series import TimeBucket
from brimline.report.time_axis import overlay, time_span
from brimline.report.view import Chart, Key, Sketch
from brimline.stats.quantile_interval import Buckets
from brimline.units import NS_PER_S, format_duration, format_number, format_percentage, format_rate
from brimline.wording import joined, message

CURVES_MAX = 12
"""Operations of which percentile curves are drawn."""
TAIL_OPERATIONS_MIN = 10
"""Operations that must lie above a point of the percentile curve; fewer make it noise."""


def over_time(
    record: RunRecord, buckets: Sequence[TimeBucket], *, limit: LatencyObjective | None = None
) -> Chart | None:
    """Throughput above latency on one time axis; None without `drawn_buckets`."""
    if not buckets:
        return None
    clock = "service" if record.closed_loop else "response"
    figure = _time_figure(record, buckets, clock, limit)
    measured = [bucket.answered_ops_per_s for bucket in buckets if bucket.phase == "measure"]
    width = buckets[0].end_s - buckets[0].start_s
    return Chart(
        id="over-time",
        title="Throughput and latency over time",
        caption=message(
            "Each point is one interval of {width:g} s. Hatched: {warmup}, and drain after the "
            "last operation was due; neither counts. Percentiles are of {clock}, over all {what}.{merged}",
            width=width,
            warmup=_warmup_text(record),
            clock=f"{clock} time",
            what=_what(record),
            merged=_merged_text(buckets),
        ),
        summary=_spread(record, measured),
        figure=figure,
        legend=_time_legend(record, buckets, clock),
        height_px=520,
        sketch=Sketch(axis="y2", caption=message("{clock} p99 over time, s", clock=clock)),
    )


def _warmup_text(record: RunRecord) -> str:
    """The warm-up in words; it ends where the first counted interval begins, which may be later than planned."""
    counted = next((row["start_ns"] for row in record.intervals if row["phase"] == "measure"), 0)
    if counted <= record.plan.warmup_ns:
        return "warm-up"
    return message(
        "warm-up, planned until {planned} and found to last until {found}",
        planned=format_duration(record.plan.warmup_ns),
        found=format_duration(counted),
    )


def _merged_text(buckets: Sequence[TimeBucket]) -> str:
    """What a point of a long run stands for."""
    count = max(bucket.interval_count for bucket in buckets)
    if count == 1:
        return ""
    return message(
        " A point stands for up to {count} sampling intervals; the band spans their lowest and highest throughput, "
        "the dotted line is the highest p99 of any of them.",
        count=count,
    )


def _spread(record: RunRecord, rates: Sequence[float]) -> str:
    """What a reader who can't see the chart is told."""
    if not rates:
        return "Nothing was answered in the measured window."
    return message(
        "Answered {what} in the measured window: {low} to {high} per interval.",
        what=_what(record),
        low=format_number(min(rates)),
        high=format_rate(max(rates), unit=_rate_unit(record)),
    )


def _what(record: RunRecord) -> str:
    return "commands" if is_load(record) else "operations"


def _rate_unit(record: RunRecord) -> str:
    return "commands/s" if is_load(record) else "ops/s"


def _time_figure(
    record: RunRecord, buckets: Sequence[TimeBucket], clock: str, limit: LatencyObjective | None
) -> dict[str, Any]:
    unit = _rate_unit(record)
    times = [bucket.middle_s for bucket in buckets]
    span = time_span(buckets)
    rates = [bucket.answered_ops_per_s for bucket in buckets]
    send_end_s = max((bucket.end_s for bucket in buckets if bucket.phase != "drain"), default=span.end_s)
    offered = offered_line(record.plan.pacer, end_ns=send_end_s * NS_PER_S)
    quantiles = list(zip(*(bucket.quantiles_ns for bucket in buckets), strict=True))
    latencies = [value for series in quantiles for value in series if value is not None]
    throughput = figures.line(
        "answered",
        times,
        rates,
        figures.THROUGHPUT,
        yaxis="y",
        hovertemplate=hover_text("%{x:.1f} s: %{y:,.0f} ", unit, "answered"),
    )
    merged = any(bucket.interval_count > 1 for bucket in buckets)
    data = [*(_throughput_band(times, buckets) if merged else []), throughput]
    if any(bucket.failed_ops_per_s for bucket in buckets):
        failed = [bucket.failed_ops_per_s for bucket in buckets]
        data.append(
            figures.line(
                "failed",
                times,
                failed,
                figures.FAIL,
                hovertemplate=hover_text("%{x:.1f} s: %{y:,.1f} ", unit, "failed"),
            )
        )
    if offered:
        data.append(
            figures.line(
                "offered",
                [at_ns / NS_PER_S for at_ns, _ in offered],
                [rate for _, rate in offered],
                figures.OFFERED,
                line={"dash": "dash", "width": 1.4, "shape": "linear"},
                hovertemplate=hover_text("%{x:.1f} s: %{y:,.0f} ", unit, "offered"),
            )
        )
    for name, color, values in zip(
        ("p50", "p95", "p99"), (figures.P50, figures.P95, figures.P99), quantiles, strict=True
    ):
        data.append(
            figures.line(name, times, values, color, yaxis="y2")
            | {"text": [None if value is None else format_duration(value) for value in values]}
            | {"hovertemplate": hover_text("%{x:.1f} s: ", "%{text}", f"{clock} {name}")}
        )
    if merged:
        data.append(_highest_p99(times, buckets))
        latencies += [bucket.highest_p99_ns for bucket in buckets if bucket.highest_p99_ns is not None]
    data += [*span.hatching("y3"), *span.hatching("y4")]
    highest = max([*(bucket.highest_ops_per_s for bucket in buckets), *(rate for _, rate in offered)])
    layout = figures.layout(
        xaxis=span.axis(anchor="y2"),
        yaxis=figures.zero_based(message("throughput, {unit}", unit=unit), highest, domain=[0.56, 1]),
        yaxis2=figures.latency_axis(
            f"{clock} time", [*latencies, *([limit.limit_ns] if limit else [])], domain=[0, 0.46]
        ),
        yaxis3=overlay("y"),
        yaxis4=overlay("y2"),
    )
    figures.aligned(layout)
    if limit is not None:
        figures.extend(layout, _slo_line(limit, yref="y2"), log_label=True)
    return {"data": data, "layout": layout}


def hover_text(figures_shown: str, unit: str, name: str) -> str:
    """The template for a hovered point; its own placeholders pass through."""
    return message("{shown}{unit}<extra>{name}</extra>", shown=figures_shown, unit=unit, name=name)


def _time_legend(record: RunRecord, buckets: Sequence[TimeBucket], clock: str) -> list[Key]:
    keys = [Key(name="answered", color=figures.THROUGHPUT, mark="line")]
    if any(bucket.failed_ops_per_s for bucket in buckets):
        keys.append(Key(name="failed", color=figures.FAIL, mark="line"))
    if not record.closed_loop:
        keys.append(Key(name="offered", color=figures.OFFERED, mark="dash"))
    quantiles = (("p50", figures.P50), ("p95", figures.P95), ("p99", figures.P99))
    keys += [Key(name=f"{clock} {name}", color=color, mark="line") for name, color in quantiles]
    if any(bucket.interval_count > 1 for bucket in buckets):
        keys.append(Key(name="lowest to highest throughput of an interval", color=figures.BAND, mark="band"))
        keys.append(Key(name="highest p99 of an interval", color=figures.P99, mark="dot"))
    return keys + time_span(buckets).keys


def _throughput_band(times: Sequence[float], buckets: Sequence[TimeBucket]) -> list[dict[str, Any]]:
    """From the lowest to the highest single interval of each merged point, so that no dip or peak is lost."""
    bare = {"hoverinfo": "skip", "line": {"width": 0}}
    lowest = figures.line("lowest", times, [each.lowest_ops_per_s for each in buckets], figures.THROUGHPUT, **bare)
    highest = figures.line("highest", times, [each.highest_ops_per_s for each in buckets], figures.THROUGHPUT, **bare)
    return [lowest, highest | {"fill": "tonexty", "fillcolor": figures.BAND}]


def _highest_p99(times: Sequence[float], buckets: Sequence[TimeBucket]) -> dict[str, Any]:
    style = {"dash": "dot", "width": 1.0}
    values = [each.highest_p99_ns for each in buckets]
    return figures.line("highest p99", times, values, figures.P99, yaxis="y2", line=style) | {"hoverinfo": "skip"}


def _slo_line(limit: LatencyObjective, *, yref: str) -> dict[str, list[Any]]:
    text = message("objective: {limit}", limit=limit.short_text)
    return figures.horizontal(limit.limit_ns, text, figures.FAIL, yref=yref)


def _kind_name(operation: str) -> str:
    return operation.replace("_", " ")


def percentile_curve(
    record: Measured, *, limit: LatencyObjective | None = None, name: Callable[[str], str] = _kind_name
) -> Chart | None:
    """Latency against percentile, per operation, the tail stretched; None when nothing was recorded.

    Of many operations those with most values. `name`: what an operation is called.
    """
    series = [
        (operation, clock, _curve(histogram.buckets()))
        for (operation, clock), histogram in sorted(record.histograms.items())
        if clock in ("service", "response")
    ]
    series = [each for each in series if len(each[2]) > 1]
    if not series:
        return None
    drawn = _most_frequent(record, {operation for operation, _, _ in series})
    left_out = len({operation for operation, _, _ in series}) - len(drawn)
    series = [each for each in series if each[0] in drawn]
    operations = sorted(drawn)
    named = {operation: name(operation) for operation in operations}
    colors = {operation: figures.SERIES[index % len(figures.SERIES)] for index, operation in enumerate(operations)}
    data = [
        figures.line(
            _curve_name(named[operation], clock),
            [x for x, _ in curve],
            [y for _, y in curve],
            colors[operation],
            line={"dash": "solid" if clock == "response" or record.closed_loop else "dot", "shape": "hv"},
        )
        | {"text": [_point_text(x, y) for x, y in curve]}
        | {"hovertemplate": hover_text("%{text}", "", _curve_name(named[operation], clock))}
        for operation, clock, curve in series
    ]
    values = [y for _, _, curve in series for _, y in curve]
    highest = max(x for _, _, curve in series for x, _ in curve)
    layout = figures.layout(
        xaxis=_percentile_axis(highest),
        yaxis=figures.latency_axis("time per operation", [*values, *([limit.limit_ns] if limit else [])]),
    )
    caption = message(
        "How slow the slowest operations were: at 99 % one in a hundred took longer. Each curve ends "
        "where fewer than {count} operations lie above it.{styles}",
        count=TAIL_OPERATIONS_MIN,
        styles="" if record.closed_loop else " Solid: response time, what users feel. Dotted: service time.",
    )
    if left_out:
        left = message(" Drawn are the most frequent operations, without {count} others.", count=left_out)
        caption = joined("", [caption, left])
    return Chart(
        id="percentiles",
        title="Percentile curve",
        caption=caption,
        summary=_curve_summary(series, named),
        figure={"data": data, "layout": layout},
        legend=[
            Key(
                name=_curve_name(named[operation], clock),
                color=colors[operation],
                mark="line" if clock == "response" or record.closed_loop else "dot",
            )
            for operation, clock, _ in series
        ],
        height_px=380,
    )


def _point_text(x: float, time_ns: float) -> str:
    return message("{percent}: {time}", percent=format_percentage(1 - 1 / x, digits=6), time=format_duration(time_ns))


def _curve_name(operation: str, clock: str) -> str:
    return message("{operation}, {clock}", operation=operation, clock=f"{clock} time")


def _curve(buckets: Buckets) -> list[tuple[float, float]]:
    """(1 / (1 - quantile), value in ns) at every step of the distribution that enough operations exceed."""
    total = sum(count for _, count in buckets)
    points = [(1.0, float(buckets[0][0]))] if buckets else []
    below = 0
    for value_ns, count in buckets:
        above = total - below
        if above < TAIL_OPERATIONS_MIN:
            break
        points.append((total / above, float(value_ns)))
        below += count
    return _thinned(points)


def _thinned(points: list[tuple[float, float]], *, count_max: int = 400) -> list[tuple[float, float]]:
    """At most about `count_max` points, the tail whole: it is where the points are rare and matter."""
    if len(points) <= count_max:
        return points
    tail = points[-count_max // 2 :]
    step = -(-(len(points) - len(tail)) // (count_max // 2))
    return points[: len(points) - len(tail) : step] + tail


def _percentile_axis(highest: float) -> dict[str, Any]:
    ticks = [2.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7]
    shown = [tick for tick in ticks if tick <= highest * 1.05]
    return figures.axis(
        "percentile of operations, tail stretched",
        type="log",
        tickvals=shown,
        ticktext=[format_percentage(1 - 1 / tick, digits=7) for tick in shown],
        autorange=True,
    )


def _most_frequent(record: Measured, operations: set[str]) -> set[str]:
    """As many operations as curves can be told apart."""
    counts = Counter[str]()
    for (operation, _), histogram in record.histograms.items():
        if operation in operations:
            counts[operation] = max(counts[operation], histogram.count() if len(operations) > CURVES_MAX else 0)
    return {operation for operation, _ in counts.most_common(CURVES_MAX)}


def _curve_summary(series: Sequence[tuple[str, str, list[tuple[float, float]]]], named: Mapping[str, str]) -> str:
    ends = [
        message(
            "{name} reaches {time} at {percentile:.6g} %",
            name=_curve_name(named[operation], clock),
            time=format_duration(curve[-1][1]),
            percentile=(1 - 1 / curve[-1][0]) * 100,
        )
        for operation, clock, curve in series
    ]
    return message("{ends}.", ends=joined("; ", ends))

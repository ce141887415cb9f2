"""Owns the charts of an imported run: throughput and times over time, active threads, and the percentile curve."""

import bisect
import itertools
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brimline.record.imported import READ_MODIFY_WRITE, ImportedRun
from brimline.record.scaled import ScaledHistogram
from brimline.record.time_histogram import Histogram
from brimline.report import figures
from brimline.report.run.charts import hover_text, percentile_curve
from brimline.report.series import BUCKET_COUNT_MAX, QUANTILES
from brimline.report.view import Chart, Key, Sketch
from brimline.units import format_duration, format_rate
from brimline.wording import message


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bucket:
    """One or several intervals; `quantiles_ns` are None where no single times are known."""

    start_s: float
    end_s: float
    answered_ops_per_s: float
    failed_ops_per_s: float
    quantiles_ns: tuple[int | None, ...]

    @property
    def middle_s(self) -> float:
        return (self.start_s + self.end_s) / 2


def over_time(run: ImportedRun) -> Chart | None:
    """Throughput above times on one axis; None where nothing is known over time."""
    buckets = _buckets(run) if run.knows_length else []
    if len(buckets) < 2:
        return None
    clock = "service" if run.closed_loop else "response"
    times = [each.middle_s for each in buckets]
    rates = [each.answered_ops_per_s for each in buckets]
    hover = hover_text("%{x:.1f} s: %{y:,.0f} ", "ops/s", "answered")
    data = [figures.line("answered", times, rates, figures.THROUGHPUT, yaxis="y", hovertemplate=hover)]
    legend = [Key(name="answered", color=figures.THROUGHPUT, mark="line")]
    if any(each.failed_ops_per_s for each in buckets):
        failed = [each.failed_ops_per_s for each in buckets]
        data.append(figures.line("failed", times, failed, figures.FAIL))
        legend.append(Key(name="failed", color=figures.FAIL, mark="line"))
    latencies = [value for each in buckets for value in each.quantiles_ns if value is not None]
    layout = figures.layout(
        xaxis=figures.axis("time since the start of the run, s", range=[0, buckets[-1].end_s]),
        yaxis=figures.zero_based(message("throughput, {unit}", unit="ops/s"), max(rates)),
    )
    if latencies:
        names, colors = ("p50", "p95", "p99"), (figures.P50, figures.P95, figures.P99)
        for place, (name, color) in enumerate(zip(names, colors, strict=True)):
            values = [each.quantiles_ns[place] for each in buckets]
            text = [None if value is None else format_duration(value) for value in values]
            line = figures.line(name, times, values, color, yaxis="y2")
            data.append(
                line | {"text": text, "hovertemplate": hover_text("%{x:.1f} s: ", "%{text}", f"{clock} {name}")}
            )
            legend.append(Key(name=f"{clock} {name}", color=color, mark="line"))
        layout["yaxis"]["domain"] = [0.56, 1]
        layout["xaxis"]["anchor"] = "y2"
        layout["yaxis2"] = figures.latency_axis(f"{clock} time", latencies, domain=[0, 0.46])
    return Chart(
        id="over-time",
        title="Throughput and latency over time" if latencies else "Throughput over time",
        caption="Each point is an interval as the files have it, or as many of them as can be told apart. "
        "An operation belongs to the interval in which it ended.",
        summary=message(
            "Answered operations: {low} to {high} per interval.",
            low=format_rate(min(rates)),
            high=format_rate(max(rates)),
        ),
        figure={"data": data, "layout": layout},
        legend=legend,
        height_px=520 if latencies else 320,
        sketch=Sketch(axis="y2", caption=message("{clock} p99 over time, s", clock=clock)) if latencies else None,
    )


def active_threads(run: ImportedRun) -> Chart | None:
    """How many threads the tool had at work; None where it doesn't say."""
    if len(run.active) < 2:
        return None
    times = [(each.start_ns + each.end_ns) / 2e9 for each in run.active]
    counts = [each.active_threads for each in run.active]
    layout = figures.layout(
        xaxis=figures.axis("time since the start of the run, s", range=[0, run.duration_ns / 1e9]),
        yaxis=figures.zero_based("active threads", max(counts)),
    )
    return Chart(
        id="active-threads",
        title="Active threads over time",
        caption="The most that were active at once in each interval, over all generators.",
        summary=message("{low} to {high} active threads.", low=min(counts), high=max(counts)),
        figure={"data": [figures.line("active threads", times, counts, figures.SERIES[3])], "layout": layout},
        legend=[Key(name="active threads", color=figures.SERIES[3], mark="line")],
        height_px=260,
    )


@dataclass(frozen=True, slots=True)
class Distribution:
    """Merged times, as the percentile curve takes them."""

    histograms: Mapping[tuple[str, str], Histogram]
    closed_loop: bool


def percentiles(run: ImportedRun, histograms: Mapping[tuple[str, str], Histogram]) -> Chart | None:
    """The percentile curve; None where no single times are known."""
    return percentile_curve(Distribution(histograms, run.closed_loop))


def _buckets(run: ImportedRun) -> list[_Bucket]:
    """Neighbouring intervals together, so that a chart has no more points than can be told apart."""
    spans = _grid(run)
    counts = [[0, 0] for _ in spans]
    for row in run.rows:
        place = _place(spans, row.start_ns, row.end_ns)
        sign = -1 if row.operation == READ_MODIFY_WRITE else 1
        if place is not None:
            counts[place][0] += sign * (row.samples - row.failed)
            counts[place][1] += sign * row.failed
    merged = _merged(run, spans)
    found = [
        _Bucket(
            start_s=start_ns / 1e9,
            end_s=end_ns / 1e9,
            answered_ops_per_s=counts[place][0] * 1e9 / (end_ns - start_ns),
            failed_ops_per_s=counts[place][1] * 1e9 / (end_ns - start_ns),
            quantiles_ns=tuple(merged[place].quantile(q) if place in merged else None for q in QUANTILES),
        )
        for place, (start_ns, end_ns) in enumerate(spans)
    ]
    # The last interval is cut short by the run's end: too short a time for a rate.
    whole_s = found[0].end_s - found[0].start_s if found else 0.0
    return found[:-1] if len(found) > 2 and found[-1].end_s - found[-1].start_s < whole_s / 2 else found


def _grid(run: ImportedRun) -> list[tuple[int, int]]:
    """The intervals of all operations, as many together as a chart needs; a gap is part of the one before it.

    Logs of several operations are cut at nearly, and not exactly, the same instants: those count as one.
    """
    if not run.rows:
        return []
    apart_ns = statistics.median(row.end_ns - row.start_ns for row in run.rows) / 2
    starts: list[int] = []
    for start_ns in sorted({row.start_ns for row in run.rows}):
        if not starts or start_ns - starts[-1] >= apart_ns:
            starts.append(start_ns)
    starts = starts[:: max(1, math.ceil(len(starts) / BUCKET_COUNT_MAX))]
    end_ns = max(row.end_ns for row in run.rows)
    return [each for each in itertools.pairwise([*starts, end_ns]) if each[0] < each[1]]


def _place(spans: Sequence[tuple[int, int]], start_ns: int, end_ns: int) -> int | None:
    """Where an interval belongs by its middle; None for one that lies outside."""
    middle_ns = (start_ns + end_ns) // 2
    place = bisect.bisect_right(spans, middle_ns, key=lambda span: span[0]) - 1
    return None if place < 0 or middle_ns >= spans[place][1] else place


def _merged(run: ImportedRun, spans: Sequence[tuple[int, int]]) -> dict[int, ScaledHistogram]:
    """Times over time; a histogram that holds a whole run says nothing of any part of it."""
    clock = "service" if run.closed_loop else "response"
    pieces = Counter(each.operation for each in run.times if each.clock == clock)
    calls = {each.operation for each in run.shown if each.counted and pieces[each.operation] > 1}
    merged: dict[int, ScaledHistogram] = {}
    for each in run.times:
        place = _place(spans, each.start_ns, each.end_ns)
        if place is None or each.operation not in calls or each.clock != clock:
            continue
        if place in merged:
            merged[place].merge(each.histogram)
        else:
            merged[place] = each.histogram
    return merged


def chart_list(run: ImportedRun, histograms: Mapping[tuple[str, str], Histogram]) -> Sequence[Chart]:
    """Every chart that the files allow."""
    drawn = (over_time(run), active_threads(run), percentiles(run, histograms))
    return [chart for chart in drawn if chart is not None]

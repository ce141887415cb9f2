"""Owns the one time axis of a run with a fault: rate, latency and errors below each other, with what happened on it."""

from dataclasses import replace

from brimline.experiments.failover.order import FailoverTrial
from brimline.record.model import RunRecord
from brimline.report import figures
from brimline.report.panels import Line, Marked, Point, panel
from brimline.report.series import TimeBucket, drawn_buckets
from brimline.report.statistics import report_clock
from brimline.report.time_axis import time_span
from brimline.report.view import Cell, Chart, Column, Sketch, Table
from brimline.units import NS_PER_MS, NS_PER_S, format_duration
from brimline.wording import Verbatim, message

_MARKED = "from the fault to its undoing"
_P99 = 2
"""Its place among a bucket's quantiles."""


def time_charts(trial: FailoverTrial, record: RunRecord) -> list[Chart]:
    """What was answered, how long that took, and what failed, over the run's time."""
    buckets = drawn_buckets(record)
    if trial.figures is None or not buckets:
        return []
    span, begun_s = time_span(buckets), trial.figures.begun_ns / NS_PER_S
    undone_ns = trial.figures.undone_ns
    marked = Marked(_MARKED, [(begun_s, begun_s if undone_ns is None else undone_ns / NS_PER_S)])
    clock = report_clock(record)
    charts = [
        panel("fault-rate", "Answered operations around the fault", "operations/s",
              [Line("answered", figures.THROUGHPUT, _points(buckets, "answered_ops_per_s"))], span, marked=marked,
              caption="Operations answered in each interval. After the outage, what waited is answered at once.",
              unit="operations/s"),
        panel("fault-latency", "Latency around the fault", "ms",
              [Line(message("{clock} p99", clock=clock), figures.P99, _latency(buckets))], span, marked=marked,
              caption="Operations that ended in each interval; a gap where none did.", unit="ms"),
        panel("fault-errors", "Errors around the fault", "errors/s",
              [Line("failed", figures.FAIL, _points(buckets, "failed_ops_per_s"))], span, marked=marked,
              caption="Operations that failed in each interval.", unit="errors/s"),
    ]  # fmt: skip
    shown = [chart for chart in charts if chart is not None]
    return [_with_sketch(chart) if place == 0 else chart for place, chart in enumerate(shown)]


def _with_sketch(chart: Chart) -> Chart:
    return replace(chart, sketch=Sketch(axis="y", caption="answered operations/s over the run's time, s"))


def _points(buckets: list[TimeBucket], name: str) -> list[Point]:
    return [(bucket.middle_s, float(getattr(bucket, name))) for bucket in buckets]


def _latency(buckets: list[TimeBucket]) -> list[Point]:
    values = [(bucket.middle_s, bucket.quantiles_ns[_P99]) for bucket in buckets]
    return [(at, None if value is None else value / NS_PER_MS) for at, value in values]


def happened_table(trial: FailoverTrial) -> Table | None:
    """What was done and what the servers said of it, in the order of time; None where nothing is known."""
    facts = trial.facts
    if facts is None or facts.begun_unix_ns is None:
        return None
    begun = facts.begun_unix_ns
    done = [
        (facts.begun_unix_ns, "", message("the fault begins: {what}", what=facts.what)),
        (facts.undo_begun_unix_ns, "", "it begins to be undone"),
        (facts.undone_unix_ns, "", "it is undone"),
        (facts.whole_unix_ns, "", "every server does its part again"),
    ]
    said = [(each.unix_ns, each.address, Verbatim(each.text)) for each in facts.said]
    if trial.figures is not None and trial.figures.gap.length_ns >= NS_PER_S // 10:
        gap, zero = trial.figures.gap, begun - trial.figures.begun_ns
        done.append((zero + gap.from_ns, "", "the last operation is answered"))
        done += [(zero + gap.to_ns, "", "operations are answered again")] if gap.ended else []
    rows = sorted(
        ((at, who, what) for at, who, what in (*done, *said) if at is not None), key=lambda row: (row[0], row[1])
    )
    return Table(
        columns=[
            Column(label="After the fault"),
            Column(label="Server", numeric=False),
            Column(label="What happened", numeric=False, leading=True),
        ],
        rows=[
            [Cell(text=format_duration(max(at - begun, 0))), Cell(text=Verbatim(who)), Cell(text=what)]
            for at, who, what in rows
        ],
        caption="Lines of the servers' logs are by their own clock, in milliseconds.",
    )

"""Owns the charts of a soak: each figure over the time of all parts, and where it changed or stalled."""

from collections.abc import Sequence

from brimline.analysis.drift import Drift
from brimline.analysis.soak import SoakFindings
from brimline.report.panels import Line, Marked, panel
from brimline.report.time_axis import TimeSpan
from brimline.report.view import Chart

BLUE, GREEN, AMBER, VIOLET, RED = "#14477e", "#0b7a6b", "#a86a00", "#7a4fa3", "#b4322a"
_MEGABYTES = 1e-6
_MILLISECONDS = 1e-6
_HOURS = 1 / 3.6e12
_LINE_S = 0.002
"""Width of the mark at which a level changes, as a share of the time."""
_PANELS = (
    ("throughput", "Throughput over the whole soak", "ops/s", "ops/s", 1.0, ("throughput",)),
    ("latency", "Latency over the whole soak", "ms", "ms", _MILLISECONDS,
     ("response_mean", "response_p50", "response_p99", "service_mean", "service_p50", "service_p99")),
    ("errors", "Failed operations over the whole soak", "% of the operations", "%", 100.0, ("errors",)),
    ("memory", "Memory and cache", "MB", "MB", _MEGABYTES, ("server_memory", "cache", "generator_memory")),
    ("left", "Disk and memory that are left", "MB", "MB", _MEGABYTES, ("disk_left", "host_memory_left")),
    ("connections", "Connections at the server", "connections", "", 1.0, ("connections",)),
    ("oplog", "Window of the oplog", "hours", "h", _HOURS, ("oplog_window",)),
)  # fmt: skip
_COLORS = (BLUE, GREEN, AMBER, VIOLET)


def soak_charts(found: SoakFindings) -> list[Chart]:
    """One chart for each kind of figure that is known, all over the same time."""
    span = TimeSpan(found.span_s, ())
    known = {each.series.key: each for each in found.drifts}
    charts = []
    for name, title, axis, unit, scale, keys in _PANELS:
        shown = [known[key] for key in keys if key in known]
        lines = [
            Line(each.series.label, color,
                 [(float(at_s), float(value) * scale)
                  for at_s, value in zip(each.series.times_s, each.series.values, strict=True)])
            for each, color in zip(shown, _COLORS, strict=False)
        ]  # fmt: skip
        chart = panel(f"soak-{name}", title, axis, lines, span, unit=unit, marked=_marked(name, shown, found),
                      caption="Each point is a block of time; all parts on one axis.")  # fmt: skip
        if chart is not None:
            charts.append(chart)
    return charts


def _marked(name: str, shown: Sequence[Drift], found: SoakFindings) -> Marked | None:
    """Where a level changed; below latencies, where it stalled."""
    changes = [each for drift in shown for each in drift.changes]
    if changes:
        return Marked("a new level", [(each.from_s, each.to_s) for each in changes])
    if name == "latency" and found.stalls.every:
        least_s = _LINE_S * found.span_s
        spans = [(found.observed_at_s + each.at_s, found.observed_at_s + each.at_s + max(each.length_s, least_s))
                 for each in found.stalls.every[:200]]  # fmt: skip
        return Marked("stalls", spans)
    return None

"""Owns the charts of a scan: time over entries with line and rule, entries per second, first touch against steady."""

import math
from collections.abc import Sequence
from typing import Any

from brimline.analysis.scan_figures import ScanTrial
from brimline.analysis.scan_rule import RangeFit, Validity, entries_text
from brimline.report import figures
from brimline.report.scan.figures import rate_number, time_text, trial_name
from brimline.report.view import Chart, Key, Sketch
from brimline.units import format_count, format_duration
from brimline.wording import joined, message

_LINE_POINTS = 60
_FIRST = figures.INCONCLUSIVE
_STEADY = figures.THROUGHPUT


def range_chart(fit: RangeFit, trials: Sequence[ScanTrial], *, number: int) -> Chart:
    """Every execution of a range's widths, the line through the steady ones, and where the rule meets it."""
    own = [trial for trial in trials if trial.scenario == fit.scenario and trial.width is not None and trial.entries]
    steady = [(trial.entries or 0, each.elapsed_ns) for trial in own for each in trial.steady]
    first = [(trial.entries or 0, trial.first.elapsed_ns) for trial in own if trial.first is not None]
    entries = [count for count, _ in (*steady, *first)]
    rule = fit.rule
    reaches = rule.validity is not Validity.BOUND
    lowest, highest = min(entries), max([*entries, *([rule.entries.value] if reaches else [])])
    times: list[float] = [time for _, time in (*steady, *first)]
    data: list[dict[str, Any]] = [
        _marks("steady", steady, _STEADY, "circle"),
        _marks("first touch", first, _FIRST, "diamond-open"),
    ]
    keys = [
        Key(name="steady", color=_STEADY, mark="circle"),
        Key(name="first touch", color=_FIRST, mark="diamond"),
    ]
    drawn = _line(fit, fit.line.x_low, fit.line.x_high)
    if drawn:
        data.append(_trace("line", drawn, "solid"))
        keys.append(Key(name="line", color=figures.INK, mark="line"))
    if rule.validity is Validity.EXTRAPOLATED and rule.entries.value > fit.line.x_high:
        beyond = _line(fit, fit.line.x_high, rule.entries.value)
        data.append(_trace("beyond what was measured", beyond, "dot"))
        keys.append(Key(name="beyond what was measured", color=figures.INK, mark="dot"))
        times += [time for _, time in beyond]
    shown_within = reaches or min(times) <= rule.answer_within_ns <= max(times)
    axis_times = [*times, *([float(rule.answer_within_ns)] if shown_within else [])]
    layout = figures.layout(
        xaxis=figures.axis(
            message("{title}, log scale", title="entries scanned"),
            type="log",
            range=[math.log10(lowest / 1.4), math.log10(highest * 1.4)],
            dtick=1,
        ),
        yaxis=figures.latency_axis("time", axis_times),
    )
    if shown_within:
        label = message("answer in {within}", within=format_duration(rule.answer_within_ns))
        figures.extend(layout, figures.horizontal(rule.answer_within_ns, label, figures.MUTED), log_label=True)
    if reaches:
        label = message("{entries} entries", entries=entries_text(rule.entries))
        low, high = layout["xaxis"]["range"]
        place = (math.log10(rule.entries.value) - low) / (high - low)
        figures.extend(layout, figures.vertical(rule.entries.value, label, figures.THROUGHPUT, log_x=True, place=place))
    return Chart(
        id=f"scan-range-{number}",
        title=message("Time over entries: {scenario}", scenario=fit.scenario),
        caption="Each mark is one execution, its cursor drained. The line is fitted to the steady ones.",
        summary=message(
            "{points}. {rule}",
            points=joined(
                "; ",
                (
                    message("{name}: {time}", name=trial_name(trial), time=time_text(trial.time_ns))
                    for trial in own
                    if trial.time_ns is not None
                ),
            ),
            rule=fit.rule_text,
        ),
        figure={"data": data, "layout": layout},
        legend=keys,
        height_px=380,
        sketch=Sketch(axis="y", caption="time over entries scanned"),
    )


def rates_chart(trials: Sequence[ScanTrial]) -> Chart | None:
    """Entries per second of each scenario, of a range by its largest width; None without any."""
    largest = _largest(trials)
    known = [(trial, rate) for trial in largest if (rate := trial.entries_per_s) is not None and rate.value > 0]
    if not known:
        return None
    labels = [trial_name(trial) for trial, _ in known]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [rate.value for _, rate in known],
        "y": labels,
        "marker": {"color": _STEADY},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [0 if rate.high is None else rate.high - rate.value for _, rate in known],
            "arrayminus": [0 if rate.low is None else rate.value - rate.low for _, rate in known],
            "color": figures.INK,
            "thickness": 1.2,
        },
        "text": [message("{rate} entries/s", rate=rate_number(rate)) for _, rate in known],
        "textposition": "none",
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }
    layout = figures.layout(
        xaxis=figures.zero_based("entries/s", max(rate.high or rate.value for _, rate in known)),
        yaxis=figures.axis("", type="category", categoryorder="array", categoryarray=labels[::-1]),
    )
    return Chart(
        id="scan-rates",
        title="How fast each query goes through its entries",
        caption="Keys of an index or documents, whichever are more, per second of the steady executions, "
        "with the 95 % interval of the mean.",
        summary=joined(
            "; ",
            (
                message("{name}: {rate} entries/s", name=trial_name(trial), rate=rate_number(rate))
                for trial, rate in known
            ),
        ),
        figure={"data": [trace], "layout": layout},
        height_px=90 + 42 * len(known),
    )


def touch_chart(trials: Sequence[ScanTrial]) -> Chart | None:
    """First touch beside the steady mean of each scenario; None where neither was measured together."""
    known = [
        (trial, trial.first, trial.time_ns)
        for trial in _largest(trials)
        if trial.first is not None and trial.time_ns is not None
    ]
    if not known:
        return None
    labels = [trial_name(trial) for trial, _, _ in known]
    times = [float(value) for _, first, steady in known for value in (first.elapsed_ns, steady.value)]
    layout = figures.layout(
        xaxis=figures.latency_axis("time", times),
        yaxis=figures.axis("", type="category", categoryorder="array", categoryarray=labels[::-1]),
    )
    data = [
        _touches("first touch", labels, [first.elapsed_ns for _, first, _ in known], _FIRST, "diamond-open"),
        _touches("steady", labels, [steady.value for _, _, steady in known], _STEADY, "circle"),
    ]
    return Chart(
        id="scan-touches",
        title="First touch against steady",
        caption="The first execution reads what later ones find in the cache. Steady: the mean of the later ones.",
        summary=joined(
            "; ",
            (
                message(
                    "{name}: first {first}, then {steady}",
                    name=trial_name(trial),
                    first=format_duration(first.elapsed_ns),
                    steady=format_duration(steady.value),
                )
                for trial, first, steady in known
            ),
        ),
        figure={"data": data, "layout": layout},
        legend=[
            Key(name="first touch", color=_FIRST, mark="diamond"),
            Key(name="steady", color=_STEADY, mark="circle"),
        ],
        height_px=90 + 42 * len(known),
    )


def _largest(trials: Sequence[ScanTrial]) -> list[ScanTrial]:
    """One of each scenario: a range's last width."""
    return list({trial.scenario: trial for trial in trials if trial.steady}.values())


def _marks(name: str, points: Sequence[tuple[int, int]], color: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [entries for entries, _ in points],
        "y": [time for _, time in points],
        "marker": {"color": color, "symbol": symbol, "size": 8, "line": {"width": 1.6, "color": color}},
        "text": [
            message("{entries} entries: {time}", entries=format_count(round(entries)), time=format_duration(time))
            for entries, time in points
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _line(fit: RangeFit, low: float, high: float) -> list[tuple[float, float]]:
    """The line where it is above 0, in steps that are even on a logarithmic axis."""
    steps = [low * (high / low) ** (step / _LINE_POINTS) for step in range(_LINE_POINTS + 1)]
    return [(x, y) for x in steps if (y := fit.line.at(x).value) > 0]


def _trace(name: str, points: Sequence[tuple[float, float]], dash: str) -> dict[str, Any]:
    line = {"dash": dash, "width": 1.4}
    return figures.line(name, [x for x, _ in points], [y for _, y in points], figures.INK, line=line) | {
        "hoverinfo": "skip"
    }


def _touches(name: str, labels: Sequence[str], times: Sequence[float], color: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(times),
        "y": list(labels),
        "marker": {"color": color, "symbol": symbol, "size": 11, "line": {"width": 1.8, "color": color}},
        "text": [format_duration(time) for time in times],
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }

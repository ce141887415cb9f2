"""Owns an interference experiment as a report: what the background changes, what it did itself, then the comparison."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from brimline.analysis.background import SERVER_SHARES, Coverage
from brimline.analysis.change_text import change_text, interval_text
from brimline.analysis.changes import MetricChange, QuantileChange
from brimline.analysis.compared_run import METRIC_QUANTILES, ComparedRun
from brimline.analysis.comparison import Comparison, quantile_name
from brimline.analysis.judged_change import CLAIMS, ChangeVerdict
from brimline.experiments.paired.interference import Beside, InterferenceSettings
from brimline.record.experiment import ExperimentRecord
from brimline.report import figures
from brimline.report.comparison.figures import is_figure, quantile_text
from brimline.report.comparison.view import comparison_report
from brimline.report.view import Cell, Chart, Column, Fact, Facts, Key, Report, Section, Sketch, Table
from brimline.stats.batch_means import mean_interval
from brimline.units import (
    NS_PER_S,
    UNKNOWN_TEXT,
    format_bytes,
    format_count,
    format_duration,
    format_number,
    format_percentage,
    format_rate,
)
from brimline.wording import Verbatim, joined, message

_NAMES: Mapping[str, str] = {
    "import": "an import",
    "scan": "collection scans",
    "index": "index builds",
    "backup": "backups",
    "backup:gzip": "compressed backups",
    "backup:mongodump": "backups with mongodump",
    "backup:files": "copies of its files, with writes locked",
}
_AND = " and "
_SPREAD_MIN = 3
"""Backups from which their spread gives an interval."""
Coverages: TypeAlias = Mapping[str, Sequence[Coverage]]
"""What each background did, by the name of the run."""
_RATES = {
    "operations": "operations/s",
    "documents": "documents/s",
    "builds": "builds/s",
    "dumps": "dumps/s",
    "copies": "copies/s",
}
_SHOWN = ("throughput", "p50", "p95", "p99")


def interference_report(
    comparison: Comparison,
    coverages: Coverages,
    *,
    experiment: ExperimentRecord,
    settings: InterferenceSettings,
    server: Mapping[str, Mapping[str, float]],
) -> Report:
    """The report of runs with a background (B) against runs alone (A).

    `coverages` by the name of the run; `server`: by side, A or B, the server's figures (see `server_means`).
    """
    base = comparison_report(comparison, (), experiment=experiment)
    name = joined(_AND, map(_name, settings.backgrounds))
    chart = latency_chart(comparison, name)
    background = Section(
        id="background",
        title="What went on in the background",
        short="Background",
        intro="The measured window of each run. A run counts only when the background was at work all through it.",
        blocks=[_table(coverages), *_backups(coverages), *([chart] if chart else [])],
    )
    return replace(
        base,
        kind_title="Interference",
        subtitle=message("alone (A) and with {background} (B), {a} and {b} runs, {kind}", background=name,
                         a=len(comparison.a), b=len(comparison.b), kind=comparison.kind),
        verdict=replace(base.verdict, sentence=_sentence(comparison, name)),
        sections=[background, *_server(server), *base.sections],
        data={**base.data, **interference_document(coverages, settings, server)},
    )  # fmt: skip


def interference_document(
    coverages: Coverages,
    settings: InterferenceSettings,
    server: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """What the document of an interference has beside the keys of a comparison."""
    return {
        "kind": "interference",
        "background": _background_document(coverages, settings),
        "server": {side: dict(means) for side, means in server.items()},
    }


def _server(server: Mapping[str, Mapping[str, float]]) -> list[Section]:
    """The server's figures on both sides; nothing where it wasn't watched."""
    a, b = server["A"], server["B"]
    rows = [
        [Cell(text=name), Cell(text=_figure(name, a.get(name))), Cell(text=_figure(name, b.get(name)))]
        for name in dict.fromkeys((*a, *b))
    ]
    table = Table(
        columns=[
            Column(label="Of the server", numeric=False, leading=True),
            Column(label="Alone"),
            Column(label="With it"),
        ],
        rows=rows,
        caption="Means over the measured windows of the runs that count",
    )
    if not rows:
        return []
    return [Section(id="server-beside", title="The server meanwhile", short="Server", blocks=[table])]


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return UNKNOWN_TEXT
    return format_percentage(value) if name in SERVER_SHARES else format_number(value)


def _sentence(comparison: Comparison, name: str) -> str:
    changes = [each for each in comparison.changes if each.metric.key in _SHOWN and each.change is not None]
    if not changes:
        return comparison.reason
    told = message("With {background}: {changes}.", background=name, changes=joined("; ", map(_change_words, changes)))
    # Without any time the changes alone would read as if nothing more could have changed.
    if any(each.metric.key in METRIC_QUANTILES for each in changes):
        return told
    is_told = comparison.verdict in (*CLAIMS, ChangeVerdict.MIXED)  # the reason names the changes once more
    return joined(" ", [told, "Nothing is known of the times of every run." if is_told else comparison.reason])


def _change_words(each: MetricChange) -> str:
    return message("{metric} {change} ({interval})", metric=each.metric.label, change=change_text(each.change),
                   interval=interval_text(each.change))  # fmt: skip


def _table(coverages: Coverages) -> Table:
    return Table(
        columns=[
            Column(label="Run", numeric=False, leading=True),
            Column(label="Background", numeric=False),
            Column(label="At work"),
            Column(label="Done"),
            Column(label="Rate"),
            Column(label="Counts", numeric=False),
        ],
        rows=[
            [
                Cell(text=run),
                Cell(text=_NAMES.get(each.kind, Verbatim(each.kind))),
                Cell(text=format_percentage(each.busy_share)),
                Cell(text=_done(each)),
                Cell(text=_rate(each)),
                Cell(text="yes") if each.problem is None else Cell(text=each.problem, tone="warn"),
            ]
            for run, of in coverages.items()
            for each in of
        ],
    )


def _backups(coverages: Coverages) -> list[Facts]:
    """How long each backup took, and how large it is; nothing where none was asked for."""
    every = [each for of in coverages.values() for each in of if each.kind.partition(":")[0] == "backup"]
    lengths_s = [length for each in every for length in each.each_s]
    sizes = [size for each in every for size in each.each_bytes]
    if not lengths_s:
        none = Fact(label="A backup took", value="longer than a run: none came to its end",
                    note="give the runs more time: --duration")  # fmt: skip
        return [Facts(title="Backups", facts=[none])] if every else []
    middle = mean_interval([length * NS_PER_S for length in lengths_s], unit="ns", independent=True)
    took: str = format_duration(middle.value)
    if len(lengths_s) >= _SPREAD_MIN:
        took = message("{mean} (95 % interval {low} to {high})", mean=took, low=format_duration(max(middle.low, 0.0)),
                       high=format_duration(middle.high))  # fmt: skip
    count = message("{count} of them", count=format_count(len(lengths_s)))
    facts = [Fact(label="A backup took", value=took, note=count)]
    if sizes:
        facts.append(Fact(label="Size of a backup", value=format_bytes(sum(sizes) / len(sizes))))
    return [Facts(title="Backups", facts=facts)]


def _name(each: Beside) -> str:
    """A background in words."""
    if each.kind == "workload":
        return message("{workload} at {rate}" if each.rate else "{workload} in a closed loop",
                       workload=Verbatim(each.of), rate=Verbatim(each.rate))  # fmt: skip
    if each.kind == "import" and each.of:
        return message("an import of {file}", file=Verbatim(Path(each.of).name))
    return _NAMES[each.text]


def _done(each: Coverage) -> str:
    if each.units is None:
        return UNKNOWN_TEXT
    return message("{count} {unit}", count=format_count(each.units), unit=each.unit)


def _rate(each: Coverage) -> str:
    if each.units_per_s is None:
        return UNKNOWN_TEXT
    return format_rate(each.units_per_s, unit=_RATES[each.unit])


def latency_chart(comparison: Comparison, name: str) -> Chart | None:
    """Quantiles of all runs alone and of all runs with the background; None without any."""
    shift = comparison.shift
    if not shift:
        return None
    names = [quantile_name(each.quantile) for each in shift]
    sides = (
        ("alone", [each.a_ns for each in shift], comparison.a, figures.THROUGHPUT),
        (message("with {background}", background=name), [each.b_ns for each in shift], comparison.b, figures.FAIL),
    )
    lines = [
        figures.line(side, [], _drawn(shift, values, runs), color)
        | {
            "x": names,
            "mode": "lines+markers",
            "text": [quantile_text(each.quantile, value, runs) for each, value in zip(shift, values, strict=True)],
            "hovertemplate": "%{x}: %{text}<extra></extra>",
        }
        for side, values, runs, color in sides
    ]
    layout = figures.layout(
        xaxis=figures.axis("quantile", type="category"),
        yaxis=figures.latency_axis("latency", [value for _, values, _, _ in sides for value in values]),
    )
    return Chart(
        id="with-and-without",
        title="Latency with and without the background",
        caption="Quantiles of a typical run of a side, on a logarithmic axis; one with too few operations beyond it is "
        "not drawn.",
        summary=joined("; ", _summary(comparison)),
        figure={"data": lines, "layout": layout},
        legend=[Key(name=side, color=color, mark="line") for side, _, _, color in sides],
        height_px=340,
        sketch=Sketch(axis="y", caption="latency over quantile"),
    )


def _drawn(shift: Sequence[QuantileChange], values: Sequence[int], runs: Sequence[ComparedRun]) -> list[float | None]:
    """The values that are figures: a bound is no place for a line."""
    return [value if is_figure(each.quantile, runs) else None for each, value in zip(shift, values, strict=True)]


def _summary(comparison: Comparison) -> Iterator[str]:
    for each in comparison.shift:
        yield message("{name}: {a} alone, {b} with it", name=quantile_name(each.quantile),
                      a=quantile_text(each.quantile, each.a_ns, comparison.a),
                      b=quantile_text(each.quantile, each.b_ns, comparison.b))  # fmt: skip


def _background_document(coverages: Coverages, settings: InterferenceSettings) -> dict[str, object]:
    return {
        "kind": settings.background,
        "rows": settings.rows,
        "runs": [
            {
                "run": run,
                "background": each.kind,
                "busy_share": each.busy_share,
                "unit": each.unit,
                "units": each.units,
                "units_per_s": each.units_per_s,
                "problem": each.problem,
                "each_s": list(each.each_s),
                "each_bytes": list(each.each_bytes),
            }
            for run, of in coverages.items()
            for each in of
        ],
    }

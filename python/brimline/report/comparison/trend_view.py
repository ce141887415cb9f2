"""Owns trends as a report: which metrics of which series changed their level, where, and by how much."""

from collections.abc import Sequence

from brimline.analysis.change_text import change_text, interval_text
from brimline.analysis.compared_run import PLURALS, Noun, counted_noun
from brimline.analysis.configuration import ASKED, Difference, configuration_differences, difference_text
from brimline.analysis.gate import GateCase, GateVerdict, overall
from brimline.analysis.run_trend import MetricTrend, RunSeries, too_few_text
from brimline.analysis.spoilt import spoilt_metrics, spoilt_text
from brimline.report.comparison.as_json import trend_document
from brimline.report.comparison.charts import trend_chart
from brimline.report.comparison.claims import trend_claims
from brimline.report.comparison.figures import (
    GATE_TONES,
    metric_text,
    unsent_badges,
)
from brimline.report.comparison.grid import runs_grid
from brimline.report.comparison.runs_table import series_table
from brimline.report.comparison.view import gate_section
from brimline.report.frame import framed
from brimline.report.lint_section import linted
from brimline.report.view import Badge, Block, Cell, Chart, Column, Report, Section, Table, Text, Tone, Verdict
from brimline.stats.change import geometric_mean
from brimline.stats.change_points import SERIES_MIN
from brimline.units import format_count, format_percentage
from brimline.wording import Verbatim, capitalised, joined, message

SETTINGS_NAMED = 6
"""Settings by which two plans differ that are named."""


def trend_report(series: Sequence[RunSeries], *, floor: float, cases: Sequence[GateCase]) -> Report:
    """The report of all series; those with too few runs are named and not judged."""
    sections = [
        _changes(series),
        _plans(series),
        gate_section(cases),
        *(_series(each, number) for number, each in enumerate(series, start=1)),
    ]
    run_count, noun = sum(len(each.runs) for each in series), one_noun(series)
    words = {"count": run_count, "noun": counted_noun(run_count, noun)}
    report = framed(
        None,
        kind="trend",
        kind_title="Trend",
        name=joined(", ", dict.fromkeys(each.name for each in series)),
        subtitle=(
            message("{count} {noun}" if run_count == 1 else "{count} {noun} of one plan, the oldest first", **words)
            if len(series) == 1
            else message("{count} {noun} of {series} plans, the oldest first", series=len(series), **words)
        ),
        verdict=_verdict(series, floor=floor, cases=cases),
        sections=sections,
        data=trend_document(series, cases),
        grids=[runs_grid(series)],
    )
    return linted(report, trend_claims(report, series))


def one_noun(series: Sequence[RunSeries]) -> Noun:
    """What the runs of all series are, each in one word."""
    nouns = {each.noun for each in series}
    return nouns.pop() if len(nouns) == 1 else "record"


def _verdict(series: Sequence[RunSeries], *, floor: float, cases: Sequence[GateCase]) -> Verdict:
    trends = [trend for each in series for trend in each.trends]
    worse = sum(trend.worse(point) > 0 for trend in trends for point in trend.points)
    better = sum(len(trend.points) for trend in trends) - worse
    enough, nouns = any(trend.enough for trend in trends), PLURALS[one_noun(series)]
    if not enough:
        tone: Tone = "muted"
        caption: str = message("Too few {nouns}", nouns=nouns)
        sentence: str = message(
            "A trend needs at least {count} {nouns} of one plan that have the figure; the most here are {most}.",
            count=SERIES_MIN,
            nouns=nouns,
            most=max((len(trend.values) for trend in trends), default=0),
        )
    elif worse or better:
        tone, caption = ("fail" if worse else "pass"), "The level changed"
        sentence = message(
            "{worse} change for the worse, {better} for the better."
            if worse == 1
            else "{worse} changes for the worse, {better} for the better.",
            worse=worse,
            better=better,
        )
    else:
        tone, caption = "pass", "No change of level"
        sentence = message("No metric changed its level by {floor} or more.", floor=format_percentage(floor))
    if enough and not any(trend.enough for trend in series[-1].trends):
        newest = message("Of the newest plan nothing can be told yet: too few {nouns} have a figure.", nouns=nouns)
        tone, sentence = "fail" if tone == "fail" else "muted", joined(" ", [sentence, newest])
    badges = unsent_badges([run for each in series for run in each.runs])
    if cases:
        verdict: GateVerdict = overall(cases)
        badges.append(Badge(text=message("gate: {verdict}", verdict=verdict.value), tone=GATE_TONES[verdict]))
    return Verdict(tone=tone, caption=caption, figure="", unit="", interval="", sentence=sentence, badges=badges)


def _changes(series: Sequence[RunSeries]) -> Section:
    """All changes of all series, the newest last."""
    rows = [_change_rows(each, trend) for each in series for trend in each.trends]
    noun = one_noun(series)
    table = Table(
        columns=[
            Column(label="Series", numeric=False, optional=True),
            Column(label="Metric", numeric=False, leading=True),
            Column(label="Before"),
            Column(label="After"),
            Column(label="Change"),
            Column(label="95 % interval"),
            Column(
                label=message("{nouns} before, after", nouns=capitalised(PLURALS[noun])), numeric=False, optional=True
            ),
            Column(label=message("From {noun}", noun=noun), numeric=False),
            Column(label="Changed with it", numeric=False),
        ],
        rows=[row for group in rows for row in group],
    )
    return Section(
        id="changes",
        title="Changes of level",
        short="Changes",
        intro="Found by E-divisive; kept where Welch's test between the neighbouring stretches agrees and the change "
        "is not below the floor. Changed with it: what most after it have configured otherwise than most before.",
        blocks=[table] if table.rows else [],
    )


def _change_rows(series: RunSeries, trend: MetricTrend) -> list[list[Cell]]:
    rows = []
    for point in trend.points:
        before, after = trend.values[point.first : point.index], trend.values[point.index : point.end]
        tone: Tone = "fail" if trend.worse(point) > 0 else "pass"
        rows.append(
            [
                Cell(text=f"{series.name} {series.plan_hash}"),
                Cell(text=trend.metric.label),
                Cell(text=metric_text(trend.metric, geometric_mean(before))),
                Cell(text=metric_text(trend.metric, geometric_mean(after))),
                Cell(text=change_text(point.change), tone=tone),
                Cell(text=interval_text(point.change)),
                Cell(text=f"{len(before)}, {len(after)}"),
                Cell(text=trend.runs[point.index].name),
                _changed_cell(trend.changed_with(point)),
            ]
        )
    return rows


def _changed_cell(changed: Sequence[Difference]) -> Cell:
    if not changed:
        return Cell(text="nothing that brimline knows of", tone="muted")
    return Cell(text=joined("; ", map(difference_text, changed)), tone="warn")


def _plans(series: Sequence[RunSeries]) -> Section:
    """What the plans differ in, where there are several: a trend follows one of them."""
    noun = one_noun(series)
    table = Table(
        columns=[
            Column(label="Plan", numeric=False, leading=True),
            Column(label=message("{nouns} that count", nouns=capitalised(PLURALS[noun]))),
            Column(label=message("Differs from the plan of the newest {noun}", noun=noun), numeric=False),
        ],
        rows=[
            [
                Cell(text=f"{each.name} {each.plan_hash}"),
                Cell(text=format_count(len(each.runs))),
                Cell(text=_plan_text(each, series[-1]), tone="muted" if each is series[-1] else ""),
            ]
            for each in series
        ],
    )
    follows = message("A trend follows the {nouns} of one plan. brimline compare sets those of two side by side.",
                      nouns=PLURALS[noun])  # fmt: skip
    advice = Text(text=follows, tone="warn")
    return Section(id="plans", title="What the plans differ in", short="Several plans",
                   blocks=[advice, table] if len(series) > 1 else [])  # fmt: skip


def _plan_text(series: RunSeries, newest: RunSeries) -> str:
    if series is newest:
        return "it is the newest"
    found = configuration_differences(series.all_runs[:1], newest.all_runs[:1])
    settings = [each for each in found if each.where in ASKED]
    if not settings:
        return "the name alone"
    named = list(map(difference_text, settings[:SETTINGS_NAMED]))
    if len(settings) > SETTINGS_NAMED:
        named.append(message("{count} more settings", count=format_count(len(settings) - SETTINGS_NAMED)))
    return joined("; ", named)


def _series(series: RunSeries, number: int) -> Section:
    """One series: runs that sent less than was planned, its metrics run by run, or why there is nothing to say."""
    charts: list[Chart] = [
        trend_chart(series, trend, id=f"trend-{number}-{trend.metric.key.replace('.', '-')}")
        for trend in series.trends
        if trend.enough
    ]
    unsent = [
        message("{name}: {evidence}", name=Verbatim(run.name), evidence=run.unsent) for run in series.runs if run.unsent
    ]
    left_out = [message("{name} is left out: {reason}", name=each.name, reason=each.reason) for each in series.left_out]
    spoilt = [
        message("{name}: {evidence}", name=Verbatim(run.name), evidence=spoilt_text(run))
        for run in series.runs
        if spoilt_metrics(run)
    ]
    texts: list[Block] = [Text(text=text, tone="warn") for text in (*unsent, *left_out, *spoilt)]
    texts += [Text(text=too_few_text(trend), tone="muted") for trend in series.trends if not trend.enough]
    if not series.trends:
        text = message("No {noun} that counts has a figure that is followed.", noun=series.noun)
        texts.append(Text(text=text, tone="muted"))
    table = series_table(series.runs, [trend.metric for trend in series.trends])
    return Section(
        id=f"series-{number}",
        title=message("{name}, plan {plan_hash}", name=series.name, plan_hash=series.plan_hash),
        short=series.name,
        blocks=[*texts, *charts, *([table] if table.rows else [])],
    )

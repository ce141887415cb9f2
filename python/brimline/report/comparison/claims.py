"""Owns what the reports of comparisons and trends claim, against the figures of the single runs.

As in `own_claims`, printed cells and JSON values of the finished report are read back; what they should be is worked
out from the runs.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brimline.analysis.changes import MetricChange
from brimline.analysis.compared_run import ComparedRun, Metric
from brimline.analysis.comparison import Comparison, quantile_name
from brimline.analysis.lint import Claims, Figure, Repeated
from brimline.analysis.lint.claims import RepeatedUnit
from brimline.analysis.run_trend import MetricTrend, RunSeries
from brimline.report.comparison.figures import unit_ending
from brimline.report.printed import printed_quantity, significant, table_cells
from brimline.report.view import Cell, Report
from brimline.stats.change_points import ChangePoint
from brimline.stats.quantile_interval import quantile_of
from brimline.wording import message

VALUE_DIGITS, CHANGE_DIGITS = 4, 3
"""Significant digits of what `comparison_figures` writes."""


def comparison_claims(report: Report, comparison: Comparison) -> Claims:
    """Every figure of a side, every change and every quantile, worked out anew."""
    printed = {cells["Metric"].text: cells for cells in table_cells(report, "changes")}
    documents = {each["metric"]: each for each in report.data["changes"]}
    repeated = [
        claim
        for each in comparison.changes
        for claim in _change(each, comparison, printed[each.metric.label], documents[each.metric.key])
    ]
    return Claims(repeated=[*repeated, *_headline(report, comparison), *_shift(report, comparison)])


def trend_claims(report: Report, series: Sequence[RunSeries]) -> Claims:
    """Every change of level, worked out anew from the runs before and after it."""
    points = [(trend, point) for each in series for trend in each.trends for point in trend.points]
    documents = [change for each in report.data["series"] for metric in each["metrics"] for change in metric["changes"]]
    rows = table_cells(report, "changes")
    repeated = [
        claim
        for (trend, point), cells, document in zip(points, rows, documents, strict=True)
        for claim in _level(trend, point, cells, document)
    ]
    return Claims(repeated=repeated)


def _change(
    each: MetricChange, comparison: Comparison, cells: Mapping[str, Cell], document: Mapping[str, Any]
) -> Iterator[Repeated]:
    metric = each.metric
    typical_of = {side: _typical(metric, runs) for side, runs in (("A", comparison.a), ("B", comparison.b))}
    for side, typical in typical_of.items():
        stored = document[f"{side.lower()}_{unit_ending(metric)}"]
        yield from _same(
            message("{metric} of {side}", metric=metric.label, side=side),
            [_read(cells[side].text, VALUE_DIGITS), Figure(stored), typical],
            unit=_unit(metric),
        )
    if each.change is not None:
        change = _difference(metric, typical_of["A"], typical_of["B"])
        values = [_read(cells["Change"].text, CHANGE_DIGITS), Figure(document["change_share"]), change]
        yield from _same(message("change of {metric}", metric=metric.label), values, unit="share")


def _headline(report: Report, comparison: Comparison) -> Iterator[Repeated]:
    """The changes beside the verdict, which everybody reads."""
    facts = {fact.label: fact for fact in report.verdict.facts}
    for each in comparison.changes:
        if each.metric.decides and each.change is not None:
            change = _difference(each.metric, _typical(each.metric, comparison.a), _typical(each.metric, comparison.b))
            values = [_read(facts[each.metric.label].value, CHANGE_DIGITS), change]
            yield from _same(message("headline, {metric}", metric=each.metric.label), values, unit="share")


def _shift(report: Report, comparison: Comparison) -> Iterator[Repeated]:
    """As elsewhere a side's value is that of a typical run: the geometric mean of the runs' own quantiles."""
    rows = table_cells(report, "distribution")
    for each, cells, document in zip(comparison.shift, rows, report.data["shift"], strict=True):
        for side, runs in (("A", comparison.a), ("B", comparison.b)):
            of_runs = [max(quantile_of(run.distribution, each.quantile), 1) for run in runs]
            values = [
                _read(cells[side].text, VALUE_DIGITS),
                Figure(document[f"{side.lower()}_ns"]),
                Figure(round(statistics.geometric_mean(of_runs))),
            ]
            yield from _same(
                message("{metric} of {side}", metric=quantile_name(each.quantile), side=side), values, unit="ns"
            )


def _level(
    trend: MetricTrend, point: ChangePoint, cells: Mapping[str, Cell], document: Mapping[str, Any]
) -> Iterator[Repeated]:
    before, after = trend.runs[point.first : point.index], trend.runs[point.index : point.end]
    name = message("{metric} from {run} on", metric=trend.metric.label, run=trend.runs[point.index].name)
    levels = [_typical(trend.metric, runs) for runs in (before, after)]
    for label, level in zip(("Before", "After"), levels, strict=True):
        subject = message("{subject}: {column}", subject=name, column=label)
        yield from _same(subject, [_read(cells[label].text, VALUE_DIGITS), level], unit=_unit(trend.metric))
    change = _difference(trend.metric, *levels)
    values = [_read(cells["Change"].text, CHANGE_DIGITS), Figure(document["change_share"]), change]
    yield from _same(message("{subject}: {column}", subject=name, column="Change"), values, unit="share")


def _typical(metric: Metric, runs: Sequence[ComparedRun]) -> Figure:
    """What a typical run shows: the geometric mean, of a share the mean."""
    values = [run.figures[metric.key] for run in runs if metric.key in run.figures]
    if metric.absolute:
        return Figure(statistics.fmean(values))
    return Figure(0.0 if min(values) <= 0 else statistics.geometric_mean(values))


def _difference(metric: Metric, a: Figure, b: Figure) -> Figure:
    return Figure(b.value - a.value if metric.absolute else b.value / a.value - 1)


def _same(name: str, values: Sequence[Figure | None], *, unit: RepeatedUnit) -> Iterator[Repeated]:
    known = [each for each in values if each is not None]
    if len(known) > 1:
        yield Repeated(name=name, values=known, exact=True, unit=unit)


def _read(text: str, digits: int) -> Figure | None:
    """What is printed, with as many significant digits; zeros at the end of a large number may be rounding."""
    figure = printed_quantity(text)
    return figure if figure is None or not figure.value else significant(figure.value, digits=digits)


def _unit(metric: Metric) -> RepeatedUnit:
    return "share" if metric.absolute or metric.unit == "share" else "ns" if metric.unit == "ns" else ""

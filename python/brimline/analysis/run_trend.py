"""Owns the trend over many runs of one plan: where a metric changed its level, by how much, and how sure that is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brimline.analysis.change_text import deciding_interval_text, signed_percentage
from brimline.analysis.changes import LeftOut
from brimline.analysis.compared_run import PLURALS, ComparedRun, Metric, Noun, counted_noun, noun_of
from brimline.analysis.comparison import change_of
from brimline.analysis.configuration import Difference, difference_text, typical_differences
from brimline.analysis.gate import LOWER_RATE, GateCase, GateVerdict, sent_text
from brimline.analysis.spoilt import SPOILT_ADVICE, is_spoilt, spoilt_text
from brimline.stats.change import EQUIVALENCE_CONFIDENCE, Change
from brimline.stats.change_points import MAGNITUDE_FLOOR, SEGMENT_MIN, SERIES_MIN, ChangePoint, change_points
from brimline.units import format_percentage
from brimline.wording import Verbatim, joined, message

TREND_METRICS = ("throughput", "p50", "p99", "client_cpu", "server_cpu")
"""What is followed unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTrend:
    """One metric over the runs that have it, in the order of time. `points` index into `values`.

    `noun`: what the runs are.
    """

    metric: Metric
    runs: tuple[ComparedRun, ...]
    values: tuple[float, ...]
    points: tuple[ChangePoint, ...]
    noun: Noun = "run"

    @property
    def enough(self) -> bool:
        """Whether there are enough runs for a change to show."""
        return len(self.values) >= SERIES_MIN

    def changed_with(self, point: ChangePoint) -> tuple[Difference, ...]:
        """What is configured otherwise in most runs after `point` than in most before it."""
        return typical_differences(self.runs[point.first : point.index], self.runs[point.index : point.end])

    def worse(self, point: ChangePoint) -> float:
        """By which share the metric became worse at `point`; negative where it became better."""
        return -point.change.value if self.metric.higher_is_better else point.change.value


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeries:
    """The runs of one plan, whatever server they met, and what became of their metrics.

    `runs` are those that count, of `all_runs`.
    """

    name: str
    plan_hash: str
    newest_name: str
    runs: tuple[ComparedRun, ...]
    left_out: tuple[LeftOut, ...]
    trends: tuple[MetricTrend, ...]
    all_runs: tuple[ComparedRun, ...] = ()

    @property
    def noun(self) -> Noun:
        """What its runs are: there are searches and imports as well."""
        return noun_of(self.all_runs[0].kind) if self.all_runs else "run"

    @property
    def newest_left_out(self) -> LeftOut | None:
        """The newest run of all, where it has no part in the trend."""
        newest = self.left_out[-1] if self.left_out else None
        return newest if newest is not None and newest.name == self.newest_name else None

    def ends_with(self, trend: MetricTrend) -> bool:
        """Whether the newest run that counts has the figure that `trend` follows."""
        return trend.runs[-1] is self.runs[-1]


def run_series(
    runs: Iterable[ComparedRun], *, keys: Sequence[str] = TREND_METRICS, floor: float = MAGNITUDE_FLOOR
) -> tuple[RunSeries, ...]:
    """`runs` by name and plan hash, each group in the order of time; the group with the newest run comes last."""
    groups: dict[tuple[str, str], list[ComparedRun]] = {}
    for run in sorted(runs, key=lambda run: (run.started_ns or 0, run.name)):
        key = (run.title, run.plan_hash)
        groups[key] = [*groups.pop(key, []), run]
    return tuple(_series(name, plan_hash, group, keys, floor) for (name, plan_hash), group in groups.items())


def gate_trends(series: Sequence[RunSeries], *, limit: float, newest: int) -> tuple[GateCase, ...]:
    """Whether a metric became worse by more than `limit` among the `newest` runs; too few runs are inconclusive.

    So are runs that vary so much that such a change would not show. So is a newest run that doesn't count, lacks the
    figure, or didn't send what was planned: nothing is known of what it would have shown.
    """
    return tuple(
        case
        for each in series
        for case in (
            *_unknown_cases(each),
            *(_case(each, trend, limit=limit, newest=newest) for trend in each.trends),
        )
    )


def _unknown_cases(series: RunSeries) -> list[GateCase]:
    """What keeps a whole series from passing."""
    name = f"{series.name} {series.plan_hash}"
    newest = series.newest_left_out
    if newest is not None:
        text = message("the newest {noun}, {name}, proves nothing: {reason}",
                       noun=series.noun, name=newest.name, reason=newest.reason)  # fmt: skip
        return [GateCase(name=name, verdict=GateVerdict.INCONCLUSIVE, text=text)]
    if series.runs and series.runs[-1].unsent:
        last = series.runs[-1]
        text = message("the newest {noun}, {name}, {sent}",
                       noun=series.noun, name=Verbatim(last.name), sent=sent_text(last))  # fmt: skip
        return [GateCase(name=name, verdict=GateVerdict.INCONCLUSIVE, text=text, advice=LOWER_RATE)]
    if not series.trends:
        text = message("{name}: no {noun} has the figures that are followed", name=series.name, noun=series.noun)
        return [GateCase(name=name, verdict=GateVerdict.INCONCLUSIVE, text=text)]
    return []


def _series(name: str, plan_hash: str, runs: Sequence[ComparedRun], keys: Sequence[str], floor: float) -> RunSeries:
    valid = [run for run in runs if not run.problems]
    left_out = [LeftOut(side="", name=run.name, reason=joined("; ", run.problems)) for run in runs if run.problems]
    followed = [metric for metric in runs[0].metrics if _is_followed(metric, keys, runs[0])]
    return RunSeries(
        name=name,
        plan_hash=plan_hash,
        newest_name=runs[-1].name,
        runs=tuple(valid),
        left_out=tuple(left_out),
        all_runs=tuple(runs),
        trends=tuple(trend for metric in followed if _has_say(trend := _trend(metric, valid, floor), valid)),
    )


def _is_followed(metric: Metric, keys: Sequence[str], run: ComparedRun) -> bool:
    """Of a record that is no run what decides is followed unless it was asked for by name."""
    asked = metric.key in keys or (metric.decides and noun_of(run.kind) != "run" and keys == TREND_METRICS)
    return asked and not metric.absolute


def _has_say(trend: MetricTrend, valid: Sequence[ComparedRun]) -> bool:
    """Whether a run has the figure, or the newest would have it but for lag of the generator."""
    return bool(trend.values) or (bool(valid) and is_spoilt(valid[-1], trend.metric.key))


def _trend(metric: Metric, runs: Sequence[ComparedRun], floor: float) -> MetricTrend:
    having = [run for run in runs if run.figures.get(metric.key, 0.0) > 0]
    values = tuple(run.figures[metric.key] for run in having)
    points = change_points([run.interval(metric.key) for run in having], floor=floor)
    noun = noun_of(runs[0].kind) if runs else "run"
    return MetricTrend(metric=metric, runs=tuple(having), values=values, points=points, noun=noun)


def _case(series: RunSeries, trend: MetricTrend, *, limit: float, newest: int) -> GateCase:
    name = f"{series.name} {series.plan_hash} {trend.metric.key}"
    newest_run = series.runs[-1]
    if is_spoilt(newest_run, trend.metric.key):
        text = message("{name}: {evidence}", name=Verbatim(newest_run.name), evidence=spoilt_text(newest_run))
        return GateCase(name=name, verdict=GateVerdict.INCONCLUSIVE, text=text, advice=SPOILT_ADVICE)
    if not trend.enough:
        return GateCase(name=name, verdict=GateVerdict.INCONCLUSIVE, text=too_few_text(trend),
                        advice=message("make more {nouns} of the plan, long enough for its percentiles",
                                       nouns=PLURALS[trend.noun]))  # fmt: skip
    if not series.ends_with(trend):
        text = message(
            "{metric}: not known of the newest {noun}, {name}",
            metric=trend.metric.label,
            noun=series.noun,
            name=series.runs[-1].name,
        )
        return GateCase(name=name, verdict=GateVerdict.INCONCLUSIVE, text=text)
    new = [point for point in trend.points if point.index >= len(trend.values) - newest]
    failed = [point for point in new if trend.worse(point) > limit]
    if not failed:
        return _passed_or_hidden(trend, name, limit=limit, newest=newest)
    return GateCase(
        name=name, verdict=GateVerdict.FAIL, text=joined("; ", (point_text(trend, point) for point in failed))
    )


def _passed_or_hidden(trend: MetricTrend, name: str, *, limit: float, newest: int) -> GateCase:
    """No change was found, which passes only where one beyond the limit would have shown among these runs."""
    change = _unseen_change(trend, newest)
    values = {
        "metric": trend.metric.label,
        "limit": format_percentage(limit),
        "newest": min(newest, len(trend.values)),
        "nouns": PLURALS[trend.noun],
    }
    if change is None:
        text = message(
            "{metric}: no change for the worse by more than {limit} in the newest {newest} {nouns}", **values
        )
        return GateCase(name=name, verdict=GateVerdict.PASS, text=text, limit=limit)
    values |= {
        "confidence": f"{100 * EQUIVALENCE_CONFIDENCE:g}",
        "interval": deciding_interval_text(change),
        "last": change.b_count,
        "before": change.a_count,
    }
    if (-change.inner_low if trend.metric.higher_is_better else change.inner_high) <= limit:
        text = message(
            "{metric}: no change for the worse by more than {limit} in the newest {newest} {nouns}; {confidence} % "
            "interval of the last {last} against the {before} before: {interval}",
            **values,
        )
        return GateCase(name=name, verdict=GateVerdict.PASS, text=text, change=change, limit=limit)
    text = message(
        "{metric}: a change for the worse by more than {limit} is not ruled out; {confidence} % interval "
        "of the last {last} against the {before} before: {interval}",
        **values,
    )
    return GateCase(
        name=name,
        verdict=GateVerdict.INCONCLUSIVE,
        text=text,
        change=change,
        limit=limit,
        advice=message(
            "more {nouns} of the plan narrow the interval, and longer ones vary less", nouns=PLURALS[trend.noun]
        ),
    )


def _unseen_change(trend: MetricTrend, newest: int) -> Change | None:
    """How far the level may have moved since its last change, the newest runs against those before them.

    At most half of the runs are the newest here, and no side has fewer than a change needs. None where the last change
    is too near for that: then it was the change itself that was looked at.
    """
    level = trend.runs[trend.points[-1].index if trend.points else 0 :]
    if len(level) < SERIES_MIN:
        return None
    last = max(SEGMENT_MIN, min(newest, len(level) // 2))
    return change_of(trend.metric, level[:-last], level[-last:])


def too_few_text(trend: MetricTrend) -> str:
    """Counted are the runs that have the figure: of many runs of a plan few may have enough operations for a p99."""
    count = len(trend.values)
    return message(
        "{metric}: {count} {noun} has it, a trend needs {needed}"
        if count == 1
        else "{metric}: {count} {noun} have it, a trend needs {needed}",
        metric=trend.metric.label,
        count=count,
        noun=counted_noun(count, trend.noun),
        needed=SERIES_MIN,
    )


def point_text(trend: MetricTrend, point: ChangePoint) -> str:
    """One change in words."""
    text = message(
        "{metric} {change} (95 % interval {low} to {high}) from {run} on",
        metric=trend.metric.label,
        change=signed_percentage(point.change.value),
        low=signed_percentage(point.change.low),
        high=signed_percentage(point.change.high),
        run=trend.runs[point.index].name,
    )
    changed = trend.changed_with(point)
    if not changed:
        return text
    return message("{text}; changed with it: {what}", text=text, what=joined("; ", map(difference_text, changed)))

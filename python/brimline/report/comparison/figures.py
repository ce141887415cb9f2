"""Owns how the figures of comparisons and trends are written: values by metric, changes with their sign, p values."""

from collections.abc import Iterable, Sequence

from brimline.analysis.changes import Bound, MetricChange
from brimline.analysis.compared_run import ComparedRun, Metric
from brimline.analysis.figure import known_text, value_text
from brimline.analysis.gate import GateVerdict
from brimline.analysis.judged_change import ChangeVerdict
from brimline.report.blocks import unsent_badge
from brimline.report.view import Badge, Tone
from brimline.stats.change import TELLING_SPAN_MAX, geometric_mean
from brimline.stats.quantile_interval import quantile_of
from brimline.units import (
    UNKNOWN_TEXT,
    format_duration,
    format_percentage,
)
from brimline.wording import message

VERDICT_TONES: dict[ChangeVerdict, Tone] = {
    ChangeVerdict.IMPROVED: "pass",
    ChangeVerdict.REGRESSED: "fail",
    ChangeVerdict.EQUIVALENT: "pass",
    ChangeVerdict.INCONCLUSIVE: "warn",
    ChangeVerdict.MIXED: "warn",
    ChangeVerdict.NO_CLAIM: "muted",
    ChangeVerdict.NOT_JUDGED: "muted",
}
GATE_TONES: dict[GateVerdict, Tone] = {
    GateVerdict.PASS: "pass",
    GateVerdict.FAIL: "fail",
    GateVerdict.INCONCLUSIVE: "warn",
}
_UNIT_ENDINGS = {"ops/s": "ops_per_s", "documents/s": "documents_per_s", "ns": "ns", "share": "share"}


def unit_ending(metric: Metric) -> str:
    """How the unit of a metric ends the name of a JSON key."""
    return _UNIT_ENDINGS.get(metric.unit, metric.unit.replace("/", "_per_").replace(" ", "_"))


def metric_text(metric: Metric, value: float, *, bound: Bound = "") -> str:
    """A figure in its unit, with four digits, so that changes below 1 % show; behind the sign of a bound, if it is."""
    text = value_text(value, metric.unit)
    return message("{sign} {value}", sign=bound, value=text) if bound else text


def figure_text(run: ComparedRun, metric: Metric) -> str:
    """A figure of a record, with the interval that it has of its own; a dash where it isn't known."""
    if metric.key not in run.figures:
        return UNKNOWN_TEXT
    value, low, high = run.interval(metric.key)
    if low is None or high is None:
        return metric_text(metric, value, bound="" if low is high else "≥" if high is None else "≤")
    known, least, most = known_text(value, low, high, metric.unit)
    return message("{value} ({low} to {high})", value=known, low=least, high=most)


def is_figure(quantile: float, runs: Iterable[ComparedRun]) -> bool:
    """Whether enough operations lie above the quantile in every one of these runs; else it is a bound."""
    return all(quantile not in run.bounds for run in runs)


def quantile_text(quantile: float, value_ns: float, runs: Sequence[ComparedRun]) -> str:
    """A quantile of a typical run of a side; a bound as in the runs' own reports, or a dash where none is known."""
    if is_figure(quantile, runs):
        return format_duration(value_ns, digits=4)
    lows = [run.bounds.get(quantile, quantile_of(run.distribution, quantile)) for run in runs]
    known = [max(low, 1) for low in lows if low is not None]
    if len(known) < len(lows):
        return UNKNOWN_TEXT
    return message("≥ {value}", value=format_duration(geometric_mean(known), digits=4))


def unsent_badges(runs: Sequence[ComparedRun]) -> list[Badge]:
    """One badge with what these runs planned and never sent, and in how many; none where everything went out."""
    behind = [run for run in runs if run.unsent and run.totals is not None]
    count = sum(run.totals.overdue for run in behind if run.totals is not None)
    if not count:
        return []
    badge = unsent_badge(count)
    if len(behind) == len(runs):
        return [badge]
    where = message("{text} in {some} of {all} records", text=badge.text, some=len(behind), all=len(runs))
    return [Badge(text=where, tone=badge.tone)]


def margin_text(change: MetricChange) -> str:
    """What counts as equal: `±3 %`."""
    share = format_percentage(change.margin)
    if not change.metric.absolute:
        return message("±{share}", share=share)
    return message("±{points} points", points=share.removesuffix(" %"))


def floor_text(floor: float) -> str:
    """How much A differs from itself: `up to 2.1 %`; an interval without an end, or nearly so, says nothing."""
    if floor >= TELLING_SPAN_MAX - 1:
        return "by any amount"
    return message("up to {floor}", floor=format_percentage(floor))

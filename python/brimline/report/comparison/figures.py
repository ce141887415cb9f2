"""Owns how the figures of comparisons and trends are written: values by metric, changes with their sign, p values."""

import math
from collections.abc import Iterable, Sequence

from brimline.analysis.compared_run import ComparedRun, Metric
from brimline.analysis.comparison import ChangeVerdict, MetricChange
from brimline.analysis.gate import GateVerdict, signed_percentage
from brimline.report.blocks import unsent_badge
from brimline.report.view import Badge, Tone
from brimline.stats.change import Change, geometric_mean
from brimline.stats.quantile_interval import quantile_of
from brimline.units import UNKNOWN_TEXT, format_duration, format_percentage, format_rate
from brimline.wording import message

VERDICT_TONES: dict[ChangeVerdict, Tone] = {
    ChangeVerdict.IMPROVED: "pass",
    ChangeVerdict.REGRESSED: "fail",
    ChangeVerdict.EQUIVALENT: "pass",
    ChangeVerdict.INCONCLUSIVE: "warn",
    ChangeVerdict.MIXED: "warn",
    ChangeVerdict.NO_CLAIM: "muted",
}
GATE_TONES: dict[GateVerdict, Tone] = {
    GateVerdict.PASS: "pass",
    GateVerdict.FAIL: "fail",
    GateVerdict.INCONCLUSIVE: "warn",
}
_UNIT_ENDINGS = {"ops/s": "ops_per_s", "documents/s": "documents_per_s", "ns": "ns", "share": "share"}


def unit_ending(metric: Metric) -> str:
    """How the unit of a metric ends the name of a JSON key."""
    return _UNIT_ENDINGS[metric.unit]


def metric_text(metric: Metric, value: float) -> str:
    """A figure in its unit, with four digits, so that changes below 1 % show."""
    match metric.unit:
        case "ns":
            return format_duration(value, digits=4)
        case "share":
            return format_percentage(value)
        case unit:
            return format_rate(value, unit=unit, digits=4)


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


def change_text(change: Change | None) -> str:
    """`+5.12 %`; of a difference of shares `+0.1 points`."""
    return UNKNOWN_TEXT if change is None else _signed(change.value, absolute=change.absolute)


def interval_text(change: Change | None) -> str:
    """`+2.1 % to +8.2 %`."""
    if change is None:
        return UNKNOWN_TEXT
    low, high = (_signed(value, absolute=change.absolute) for value in (change.low, change.high))
    return message("{low} to {high}", low=low, high=high)


def unsent_badges(runs: Iterable[ComparedRun]) -> list[Badge]:
    """One badge with what these runs planned and never sent; none where everything went out."""
    count = sum(run.totals.overdue for run in runs if run.unsent and run.totals is not None)
    return [unsent_badge(count)] if count else []


def p_text(value: float | None) -> str:
    """A p value with as many digits as mean something."""
    if value is None:
        return UNKNOWN_TEXT
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def margin_text(change: MetricChange) -> str:
    """What counts as equal: `±3 %`."""
    share = format_percentage(change.margin)
    if not change.metric.absolute:
        return message("±{share}", share=share)
    return message("±{points} points", points=share.removesuffix(" %"))


def floor_text(floor: float) -> str:
    """How much A differs from itself: `up to 2.1 %`."""
    if not math.isfinite(floor):
        return "by any amount"
    return message("up to {floor}", floor=format_percentage(floor))


def _signed(share: float, *, absolute: bool) -> str:
    text = signed_percentage(share)
    return message("{points} points", points=text.removesuffix(" %")) if absolute else text

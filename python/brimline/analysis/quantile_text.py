"""A tail quantile in words: a figure where enough operations lie above it, else only what they bound."""

from collections.abc import Callable

from brimline.analysis.latency import Latency
from brimline.stats.quantile_interval import TAIL_COUNT_MIN, QuantileInterval
from brimline.units import UNKNOWN_TEXT, format_duration
from brimline.wording import message


def quantile_text(quantile: QuantileInterval | None, *, format_ns: Callable[[float], str] = format_duration) -> str:
    """The figure; with too few operations that completed beyond it "≥ " and the lower end of its interval, or a dash.

    The point estimate of a thin tail is no lower bound: the true quantile is as likely below it.
    """
    if quantile is None:
        return UNKNOWN_TEXT
    if quantile.enough:
        return format_ns(quantile.value_ns)
    return UNKNOWN_TEXT if quantile.low_ns is None else message("≥ {value}", value=format_ns(quantile.low_ns))


def p99_text(latency: Latency | None) -> str:
    """The p99 of a run."""
    return quantile_text(None if latency is None else latency.p99)


def median_text(latency: Latency | None) -> str:
    """The median of a run; a dash where most of what was due never completed."""
    return UNKNOWN_TEXT if latency is None or latency.p50_ns is None else format_duration(latency.p50_ns)


def enough_samples(count: int, quantile: float) -> bool:
    """Whether at least `TAIL_COUNT_MIN` of `count` operations lie above the quantile."""
    return round(count * (1 - quantile), 6) >= TAIL_COUNT_MIN

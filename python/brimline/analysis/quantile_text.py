"""A quantile in words: a figure where enough operations lie above it, else only what they bound."""

from collections.abc import Callable

from brimline.analysis.latency import Latency
from brimline.stats.quantile_interval import QuantileInterval
from brimline.units import UNKNOWN_TEXT, format_duration, format_percentage
from brimline.wording import message


def quantile_text(quantile: QuantileInterval | None, *, format_ns: Callable[[float], str] = format_duration) -> str:
    """The figure; with too few operations that completed beyond it "≥ " and the lower end of its interval, or a dash.

    The point estimate of a thin tail is no lower bound: the true quantile is as likely below it.
    """
    if quantile is None or quantile.printed_ns is None:
        return UNKNOWN_TEXT
    figure = format_ns(quantile.printed_ns)
    return figure if quantile.is_figure else message("≥ {value}", value=figure)


def interval_text(quantile: QuantileInterval) -> str:
    """`95 % CI 4.67 s – 10.7 s`; where an end is not known, what keeps it."""
    if quantile.high_ns is None and quantile.never:
        return message(
            "{share} of what was due in the window never completed", share=format_percentage(quantile.never_share)
        )
    if quantile.low_ns is None or quantile.high_ns is None:
        return "too few operations for a figure"
    low, high = format_duration(quantile.low_ns), format_duration(quantile.high_ns)
    return message("95 % CI {low} – {high}", low=low, high=high)


def p99_text(latency: Latency | None) -> str:
    """The p99 of a run."""
    return quantile_text(None if latency is None else latency.p99)


def median_text(latency: Latency | None) -> str:
    """The median of a run; a bound where most of what was due never completed."""
    return quantile_text(None if latency is None else latency.p50)


def most_text(latency: Latency | None, *, format_ns: Callable[[float], str] = format_duration) -> str:
    """The longest time of what completed; a bound where something that never did had waited longer."""
    if latency is None:
        return UNKNOWN_TEXT
    if latency.oldest_missing_ns > latency.max_ns:
        return message("≥ {value}", value=format_ns(latency.oldest_missing_ns))
    return format_ns(latency.max_ns)

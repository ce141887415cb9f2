"""Owns how a scan's figures are written in reports: values with the interval that belongs to them."""

from brimline.analysis.scan_figures import ScanTrial
from brimline.stats.estimate import Estimate
from brimline.stats.line import Bounds
from brimline.units import (
    NS_PER_S,
    UNKNOWN_TEXT,
    count_text,
    format_bytes,
    format_count,
    format_duration,
    format_number,
)
from brimline.wording import message


def trial_name(trial: ScanTrial) -> str:
    """`by time`, or of a range `by time, 10k`."""
    if trial.width is None:
        return trial.scenario
    return message("{scenario}, {width}", scenario=trial.scenario, width=count_text(trial.width))


def count_or_dash(count: int | None) -> str:
    """An exact count."""
    return UNKNOWN_TEXT if count is None else format_count(count)


def time_text(time: Bounds | None) -> str:
    """`12.3 ms (11.9 ms–12.8 ms)`."""
    if time is None:
        return UNKNOWN_TEXT
    value = format_duration(time.value)
    if time.low is None or time.high is None:
        return message("{value} (one execution)", value=value)
    return message(
        "{value} ({low}–{high})",
        value=value,
        low=format_duration(max(time.low, 0.0)),
        high=format_duration(time.high),
    )


def rate_number(rate: Bounds | None) -> str:
    """Three digits, without a unit."""
    return UNKNOWN_TEXT if rate is None else format_number(rate.value)


def volume_text(rate: Bounds | None) -> str:
    """`47.1 MB`; per second, which the column says."""
    return UNKNOWN_TEXT if rate is None else format_bytes(rate.value)


def estimate(bounds: Bounds, *, unit: str, factor: float = 1.0) -> Estimate | None:
    """A figure that may be quoted; None where its interval isn't known."""
    if bounds.low is None or bounds.high is None:
        return None
    low, high = sorted((bounds.low * factor, bounds.high * factor))
    return Estimate(value=bounds.value * factor, low=max(low, 0.0), high=high, unit=unit)


def seconds(time_ns: float) -> float:
    """For axes."""
    return time_ns / NS_PER_S

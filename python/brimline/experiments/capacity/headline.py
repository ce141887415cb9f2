"""Owns the words of a capacity search's figure."""

from brimline.experiments.axis import Axis, On
from brimline.experiments.capacity.estimate import Found
from brimline.experiments.settings import CapacitySettings, Grade
from brimline.stats.estimate import Estimate
from brimline.units import format_rate
from brimline.wording import message


def sustained_parts(sustained: Estimate, axis: Axis) -> tuple[str, str]:
    """The load as it was offered, digit for digit, and its interval: `9 130`, `95 % CI 8 900–9 400`."""
    whole = message(
        "{confidence:g} % CI {low}–{high}",
        confidence=sustained.confidence * 100,
        low=axis.number(sustained.low),
        high=axis.number(sustained.high),
    )
    return axis.number(sustained.value), whole if axis.whole else sustained.interval_text


def not_quotable_text(settings: CapacitySettings) -> str:
    """Of a figure that may guide and not be published."""
    return "quick look, not quotable" if settings.preset == "quick" else "not quotable"


def figure_text(found: Found, settings: CapacitySettings) -> str:
    """The figure, how it is known, its interval and objective."""
    limits, axis, sustained = settings.slo.latency_text, settings.axis, found.sustained
    if sustained is None:
        return message(
            "at most {load} at {limits}" if found.at_least is None else "at least {load} at {limits}",
            load=axis.text(found.figure or 0.0, digits=4),
            limits=limits,
        )
    figure, interval = sustained_parts(sustained, axis)
    grade = found.grade or Grade.ESTIMATED
    if settings.on is On.THREADS:
        # What was answered is a little less: the last replies come after R.
        loops, ramp_up_s = settings.loops or 1, settings.ramp_up_s or 1.0
        return message(
            "T = {figure} ({grade}, {interval}; L = {loops}, R = {ramp_up:g} s: T·L/R = {rate} started) at {limits}",
            figure=figure,
            grade=grade,
            interval=interval,
            loops=loops,
            ramp_up=ramp_up_s,
            rate=format_rate(sustained.value * loops / ramp_up_s, unit="samples/s", digits=4),
            limits=limits,
        )
    return message(
        "{verb} {figure} {unit} ({grade}, {interval}) at {limits}",
        verb="sustained" if settings.on is On.RATE else "most",
        figure=figure,
        unit=sustained.unit,
        grade=grade,
        interval=interval,
        limits=limits,
    )

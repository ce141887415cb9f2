"""Owns the words of a capacity search: its figure, and what its figures mean."""

from brimline.experiments.axis import Axis, On
from brimline.experiments.capacity.estimate import Found
from brimline.experiments.settings import CapacitySettings, Grade
from brimline.stats.estimate import Estimate
from brimline.units import format_percentage, format_rate
from brimline.wording import joined, message


def definitions(settings: CapacitySettings, grade: Grade | None) -> tuple[str, ...]:
    """What the figures mean."""
    return (
        _sustained_definition(settings),
        "saturation throughput: mean of the sweep's highest level, each connection sending once its answer is taken",
        "knee: the fewest connections that reach 95 % of the plateau",
        "recommended connections: from the knee to where the service time's p99 rises and throughput doesn't",
        *([] if grade is None else [_grade_definition(grade, settings)]),
    )


def _sustained_definition(settings: CapacitySettings) -> str:
    slo = settings.slo
    what = {
        On.RATE: "sustained: highest offered rate at which",
        On.CONNECTIONS: "most connections: the largest number at which, in a closed loop",
        On.THREADS: "most threads: the largest T at which, in T-L-R",
    }[settings.on]
    offered = message(
        ", at least {share} of the offered ones complete and the backlog doesn't grow",
        share=format_percentage(slo.completed_share_min),
    )
    return message(
        "{what} at least {hold} of the windows of {window} meet the objective, those apart that something disturbed at "
        "any load: {limits}, {errors}{offered}",
        what=what,
        hold=format_percentage(settings.hold),
        window=message("{seconds:g} s", seconds=settings.ramp_up_s or settings.window_s),
        limits=slo.latency_text,
        errors=joined(
            ", ",
            [
                message(
                    "at most {share} of the {what} fail",
                    share=format_percentage(each.share_max),
                    what="operations" if each.operation is None else message("{kind} operations", kind=each.operation),
                )
                for each in slo.errors
            ],
        ),
        offered="" if settings.axis.closed_loop else offered,
    )


def _grade_definition(grade: Grade, settings: CapacitySettings) -> str:
    if grade is Grade.VERIFIED:
        return message(
            "verified: the objective held in at least {count} windows at that very load", count=settings.verifications
        )
    if grade is Grade.ESTIMATED:
        return "estimated: from all windows together; too few ran at that very load"
    return "bounded: only one side is known"


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

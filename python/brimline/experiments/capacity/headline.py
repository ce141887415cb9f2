"""Owns the words of a capacity search: its headline, and what its figures mean."""

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind
from brimline.experiments.axis import Axis, On
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import SweepConclusion
from brimline.plan.pacing import connections_text
from brimline.stats.estimate import Estimate
from brimline.units import format_number, format_percentage, format_rate
from brimline.wording import joined, message


def definitions(settings: CapacitySettings) -> tuple[str, ...]:
    """What the figures mean."""
    return (
        _sustained_definition(settings),
        "saturation throughput: mean of the sweep's highest level, each connection sending once its answer is taken",
        "knee: the fewest connections that reach 95 % of the plateau",
        "recommended connections: from the knee to where the service time's p99 rises and throughput doesn't",
    )


def _sustained_definition(settings: CapacitySettings) -> str:
    slo = settings.slo
    what = {
        On.RATE: "sustained: highest offered rate found at which",
        On.CONNECTIONS: "most connections: the largest number found at which, in a closed loop",
        On.THREADS: "most threads: the largest T found at which, in T-L-R",
    }[settings.on]
    offered = message(
        "at least {share} of the offered ones complete and the backlog doesn't grow; ",
        share=format_percentage(slo.completed_share_min),
    )
    return message(
        "{what}, over {window}, {limits}, {errors}, {offered}seen in at least {count} windows at that very {load}",
        what=what,
        window=message("{seconds:g} s", seconds=settings.ramp_up_s or settings.verify_s),
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
        count=settings.verifications,
        load="rate" if settings.on is On.RATE else "number",
    )


def sustained_parts(sustained: Estimate, axis: Axis) -> tuple[str, str]:
    """The verified load as it was offered, digit for digit, and its interval: `9 130`, `95 % CI 8 900–9 400`."""
    if axis.whole:
        spread = message(
            "{confidence:g} % CI {low}–{high}",
            confidence=sustained.confidence * 100,
            low=axis.number(sustained.low),
            high=axis.number(sustained.high),
        )
        return axis.number(sustained.value), spread
    return format_number(sustained.value, digits=4), sustained.interval_text


def headline(
    sustained: Estimate,
    settings: CapacitySettings,
    sweep: SweepConclusion,
    limit: Bottleneck | None,
    *,
    quotable: bool,
) -> str:
    """One line with the number: figure, interval, objective, knee, what stopped it."""
    figure, interval = sustained_parts(sustained, settings.axis)
    parts: list[str] = [_figure_text(figure, interval, sustained, settings)]
    if sweep.knee_connections is not None:
        parts.append(message("knee at {connections}", connections=connections_text(sweep.knee_connections)))
    if limit is not None:
        undetermined = limit.kind is BottleneckKind.UNDETERMINED
        parts.append("bottleneck undetermined" if undetermined else message("stopped by {limit}", limit=limit.text))
    if not quotable:
        parts.append("quick look, not quotable" if settings.preset == "quick" else "not quotable")
    return joined("; ", parts)


def _figure_text(figure: str, interval: str, sustained: Estimate, settings: CapacitySettings) -> str:
    limits = settings.slo.latency_text
    if settings.on is On.THREADS:
        # What was answered is a little less: the last replies come after R.
        loops, ramp_up_s = settings.loops or 1, settings.ramp_up_s or 1.0
        return message(
            "T = {figure} ({interval}; L = {loops}, R = {ramp_up:g} s: T·L/R = {rate} started) at {limits}",
            figure=figure,
            interval=interval,
            loops=loops,
            ramp_up=ramp_up_s,
            rate=format_rate(sustained.value * loops / ramp_up_s, unit="samples/s", digits=4),
            limits=limits,
        )
    return message(
        "{verb} {figure} {unit} ({interval}) at {limits}",
        verb="sustained" if settings.on is On.RATE else "most",
        figure=figure,
        unit=sustained.unit,
        interval=interval,
        limits=limits,
    )

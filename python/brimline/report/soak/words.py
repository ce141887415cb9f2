"""Owns the words in which a soak's findings are told."""

from collections.abc import Sequence

from brimline.analysis.drift import SECONDS_PER_HOUR, ChangePoint, Drift, Full
from brimline.analysis.figure import value_text
from brimline.analysis.stalls import Periodic, With
from brimline.units import NS_PER_S, format_duration, format_percentage
from brimline.wording import Message, joined, message

WITH_NAMES = {
    "checkpoint": "checkpoints",
    "ttl": "documents that expire (TTL)",
    "compaction": "compaction of files",
    "election": "a member that can't be reached",
    "disk": "a busy disk",
    "eviction": "eviction from the cache by operations",
    "journal": "syncs of the journal",
    "lock_waits": "waits for locks",
    "page_faults": "page faults of the server",
    "write_conflicts": "write conflicts",
    "other_programs": "other programs on the server's host",
    "generator": "the generator itself, which did not run",
}

_ALL_OF_IT = 0.9
"""Share of the time that changes are told for from which a figure counts as seen in all of it."""


def time_text(seconds: float) -> str:
    """An instant or a length."""
    return format_duration(seconds * NS_PER_S)


def signed(share: float) -> str:
    """`+1.2 %`, `-3 %`."""
    sign = "+" if share > 0 else "-" if share < 0 else ""
    return message("{sign}{share}", sign=sign, share=format_percentage(abs(share)))


def amount_text(value: float, unit: str) -> str:
    """A change of a figure with its sign, in its unit."""
    sign = "+" if value > 0 else "-" if value < 0 else ""
    text = value_text(abs(value), unit)
    return message("{sign}{amount}", sign=sign, amount=text)


def _changes(drift: Drift, told_s: float) -> list[float]:
    """What the change per hour and both ends of its interval are in `told_s`."""
    return [per_hour * told_s / SECONDS_PER_HOUR for per_hour in (drift.per_hour, drift.low, drift.high)]


def share_texts(drift: Drift, told_s: float) -> list[str]:
    """The change in `told_s` and both ends of its interval as shares of the first value; empty where that is 0."""
    first = abs(drift.begin)
    return [signed(each / first) for each in _changes(drift, told_s)] if first else []


def figure_text(drift: Drift, told_s: float) -> str:
    """The figure's name, with how long it was seen where its change is told for longer than that."""
    label, seen_s = drift.series.label, drift.seen_s
    if seen_s >= _ALL_OF_IT * told_s:
        return label
    return message("{figure}, seen for {time}", figure=label, time=time_text(seen_s))


def pace_text(drift: Drift, told_s: float) -> Message:
    """`+1.02 % in an hour (95 % interval +0.98 % to +1.06 %)`: as shares of the first value where that isn't 0."""
    amounts = (amount_text(each, drift.series.unit) for each in _changes(drift, told_s))
    rate, low, high = share_texts(drift, told_s) or amounts
    if told_s == SECONDS_PER_HOUR:
        return message("{rate} in an hour (95 % interval {low} to {high})", rate=rate, low=low, high=high)
    time = time_text(told_s)
    return message("{rate} in {time} (95 % interval {low} to {high})", rate=rate, time=time, low=low, high=high)


def told_time_text(told_s: float) -> Message | str:
    """`In an hour`; of a shorter soak its own time."""
    return "In an hour" if told_s == SECONDS_PER_HOUR else message("In {time}", time=time_text(told_s))


def drift_text(drift: Drift, told_s: float) -> Message:
    """One drift in words."""
    words = {"figure": figure_text(drift, told_s), "change": pace_text(drift, told_s)}
    text = message("{figure} drifts: {change}", **words)
    if drift.full is None:
        return text
    return message("{text}; {full}", text=text, full=full_text(drift))


def full_text(drift: Drift) -> Message:
    """When it runs full."""
    full = drift.full
    assert full is not None  # noqa: S101 - asked by who has looked
    return message("at that pace it is used up in {time} ({earliest} to {latest})", **full_times(full))


def full_times(full: Full) -> dict[str, str]:
    """In which time it is full, by its place in a sentence."""
    latest = "never" if full.latest_s is None else time_text(full.latest_s)
    return {"time": time_text(full.in_s), "earliest": time_text(full.earliest_s), "latest": latest}


def change_text(figure: str, change: ChangePoint) -> Message:
    """One change of level in words."""
    return message(
        "{figure} {change} from {at} on (95 % interval {low} to {high})",
        figure=figure,
        change=signed(change.change),
        at=time_text(change.at_s),
        low=signed(change.low),
        high=signed(change.high),
    )


def periodic_text(found: Periodic) -> Message:
    """Stalls that come periodically, in words."""
    text = message(
        "a stall every {period} (95 % interval {low} to {high}), the middle one {length} long",
        period=format_duration(found.period_s * NS_PER_S, digits=4),
        low=format_duration(found.low_s * NS_PER_S, digits=4),
        high=format_duration(found.high_s * NS_PER_S, digits=4),
        length=format_duration(found.slowest_ns),
    )
    if not found.comes_with:
        return text
    return message("{text}; it comes with {causes}", text=text, causes=with_text(found.comes_with))


def with_text(found: Sequence[With]) -> str:
    """What stalls come with, how often, and how often that is there anyway."""
    return joined(
        ", ",
        (
            message("{what} ({share} of them, else {usual} of the time)", what=WITH_NAMES.get(each.name, each.name),
                    share=format_percentage(each.share, digits=2), usual=format_percentage(each.usual, digits=2))
            for each in found
        ),
    )  # fmt: skip

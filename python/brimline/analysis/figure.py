"""Owns one figure that something measured ended with: its value, its 95 % interval, and how both are written."""

from dataclasses import dataclass

from brimline.stats.estimate import decimals_between, rounded_to
from brimline.units import format_bytes, format_count, format_duration, format_number, format_percentage, format_rate
from brimline.wording import message

COUNTED = ("connections", "threads", "records", "queries", "operations", "commands", "writes")
"""Units of whole numbers, which stand in the head of their column."""


def value_text(value: float, unit: str) -> str:
    """A figure in its unit, with four digits, so that changes below 1 % show."""
    match unit:
        case "ns":
            return format_duration(value, digits=4)
        case "share":
            return format_percentage(value)
        case "bytes":
            return format_bytes(value, digits=4)
        case "bytes/s":
            return message("{size}/s", size=format_bytes(value, digits=4))
        case _ if unit in COUNTED:
            return format_count(round(value)) if value == round(value) else format_number(value)
        case _:
            return format_rate(value, unit=unit, digits=4)


def known_text(value: float, low: float, high: float, unit: str) -> tuple[str, str, str]:
    """A figure and both ends of its interval in its unit, rounded as the headline of its own report has them."""
    if unit == "ns":
        return value_text(value, unit), format_duration(low), format_duration(high)
    if not unit.endswith("/s") or unit == "bytes/s":
        return value_text(value, unit), value_text(low, unit), value_text(high, unit)
    numbers = [rounded_to(each, decimals_between(value, low, high)) for each in (value, low, high)]
    shown = [format_rate(each.value, unit=unit, digits=each.digits) for each in numbers]
    return shown[0], shown[1], shown[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure that a measure ended with, by its stored `key`, in `unit` (`ops/s`, `ns`, `bytes`, `share` …).

    `low` to `high` is its 95 % interval. An end is None where that side is not known; both are, where the measure was
    made once and says nothing of how it varies. `remark`: why no more than a bound is known, "" where that is plain.
    """

    key: str
    value: float
    unit: str
    label: str
    higher_is_better: bool
    low: float | None = None
    high: float | None = None
    remark: str = ""

    @property
    def text(self) -> str:
        """`Sustained load 9 400 ops/s`, with its interval where it has one."""
        low, high, known = self.low, self.high, value_text(self.value, self.unit)
        if low is not None and high is not None:
            known, *both = known_text(self.value, low, high, self.unit)
            ends = message("{low} to {high}", low=both[0], high=both[1])
            known = message("{value} (95 % CI {interval})", value=known, interval=ends)
        elif self.value in (low, high):
            known = message("at least {value}" if high is None else "at most {value}", value=known)
        counted = message("{value} {unit}", value=known, unit=self.unit) if self.unit in COUNTED else known
        return message("{label} {figure}", label=self.label, figure=counted)

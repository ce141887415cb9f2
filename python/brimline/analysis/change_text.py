"""Owns how a change between runs is written: with its sign, its interval, or that it can't be told."""

import math

from brimline.stats.change import Change
from brimline.units import UNKNOWN_TEXT, Quantity, format_count, format_percentage
from brimline.wording import message


def signed_percentage(share: float) -> Quantity:
    """For people: 0.0512 is "+5.12 %"."""
    text = format_percentage(share)
    return Quantity(f"+{text}", kind=text.kind, value=share, digits=text.digits) if share > 0 else text


def change_text(change: Change | None) -> str:
    """`+5.12 %`; of a difference of shares `+0.1 points`."""
    return UNKNOWN_TEXT if change is None else _signed(change.value, absolute=change.absolute)


def interval_text(change: Change | None) -> str:
    """`+2.1 % to +8.2 %`, at the level of all intervals that are shown; an interval that tells nothing is said so."""
    return UNKNOWN_TEXT if change is None else _interval(change, change.low, change.high)


def deciding_interval_text(change: Change) -> str:
    """The same at the level that a gate and equivalence go by (`EQUIVALENCE_CONFIDENCE`)."""
    return _interval(change, change.inner_low, change.inner_high)


def p_text(value: float | None) -> str:
    """A p value with as many digits as mean something."""
    if value is None:
        return UNKNOWN_TEXT
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _interval(change: Change, low: float, high: float) -> str:
    if not change.absolute and (low <= -1 or math.isinf(high)) and min(change.a_count, change.b_count) == 1:
        return _open_interval(low, high)
    if not change.tells_nothing:
        if math.isinf(high):
            return message("at least {value}", value=_signed(low, absolute=change.absolute))
        if low <= -1 and not change.absolute:
            return message("at most {value}", value=_signed(high, absolute=change.absolute))
        low_text, high_text = (_signed(value, absolute=change.absolute) for value in (low, high))
        return low_text if low_text == high_text else message("{low} to {high}", low=low_text, high=high_text)
    if change.a_count == change.b_count == 1:
        return "can't be told"
    if change.a_count == change.b_count:
        return message("can't be told from {count} pairs", count=format_count(change.a_count))
    return message(
        "can't be told from {a} and {b} runs", a=format_count(change.a_count), b=format_count(change.b_count)
    )


def _open_interval(low: float, high: float) -> str:
    """Of bounds: the end that is known, if there is one."""
    if not math.isinf(high):
        return message("at most {high}", high=_signed(high, absolute=False))
    return "not known" if low <= -1 else message("at least {low}", low=_signed(low, absolute=False))


def _signed(share: float, *, absolute: bool) -> str:
    text = signed_percentage(share)
    return message("{points} points", points=text.removesuffix(" %")) if absolute else text

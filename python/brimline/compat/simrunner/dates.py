"""Owns SimRunner's expressions of dates."""

from datetime import UTC, datetime, timedelta
from typing import Any

from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import Constant, Form, Node, Reference, as_form
from brimline.init.rounding import date_text

_UNITS = {"day": "d", "hour": "h", "minute": "m", "second": "s"}
_PARTS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "second": (0, 59), "year": (1970, 2035)}


def date(arguments: Arguments) -> Node:
    """A date between bounds."""
    low = _moment(arguments, "min", datetime(1970, 1, 1, tzinfo=UTC), highest=False)
    high = _moment(arguments, "max", datetime.now(UTC).replace(microsecond=0) + timedelta(days=3650), highest=True)
    form = {"kind": "date", "from": date_text(low), "to": date_text(max(low, high))}
    unit = arguments.given.get("truncate")
    return Form({"date_trunc": {"date": form, "unit": unit}}) if unit in _PARTS else Form(form)


def _moment(arguments: Arguments, name: str, default: datetime, *, highest: bool) -> datetime:
    node = arguments.node(name)
    instead = node.instead if isinstance(node, Reference) else node
    if isinstance(instead, Constant) and isinstance(instead.value, datetime):
        return instead.value if instead.value.tzinfo else instead.value.replace(tzinfo=UTC)
    if isinstance(instead, Constant) and isinstance(instead.value, str):
        try:
            return datetime.fromisoformat(instead.value)
        except ValueError:
            pass
    if isinstance(instead, Form) and instead.form.get("kind") == "date":
        arguments.left.change(f"{arguments.path}.{name}", "varies, and bounds are constant here")
        moment = datetime.fromisoformat(str(instead.form["to" if highest else "from"]))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if node is not None:
        arguments.left.change(f"{arguments.path}.{name}", "is no constant date; the default is taken")
    return default


def birthday(arguments: Arguments) -> Node:  # noqa: ARG001
    """A date of birth of somebody from 18 to 65."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    oldest, youngest = today - timedelta(days=65 * 365), today - timedelta(days=18 * 365)
    return Form({"kind": "date", "from": date_text(oldest), "to": date_text(youngest)})


def time_of_day(arguments: Arguments) -> Node:  # noqa: ARG001
    """A time of day as text."""
    numbers = [{"kind": "int", "min": 0, "max": most} for most in (23, 59, 59)]
    return Form({"kind": "text", "parts": [numbers[0], ":", numbers[1], ":", numbers[2]]})


def plus_date(arguments: Arguments) -> Node:
    """A date so much later."""
    base, amount = arguments.node("base") or Reference("$now"), arguments.node("plus") or Constant(0)
    unit = _UNITS.get(str(arguments.given.get("unit", "")).lower(), "s")
    if str(arguments.given.get("unit", "")).lower() in ("year", "month"):
        arguments.left.change(arguments.path, "months are 30 days and years 365 days")
        unit = "d"
        factor = 365 if arguments.given["unit"].lower() == "year" else 30
        amount = (
            Constant(amount.value * factor)
            if isinstance(amount, Constant)
            else Form({"multiply": [as_form(amount), factor]})
        )
    if isinstance(amount, Constant) and isinstance(amount.value, int):
        by: Any = f"{amount.value}{unit}"
    else:
        ms = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}[unit]
        by = {"multiply": [as_form(amount), ms]}
    return Form({"date_add": {"date": as_form(base), "by": by}})


def floor_date(arguments: Arguments, *, up: bool) -> Node:
    """A date cut to a unit, or with `up` the next one."""
    base = arguments.node("base") or Reference("$now")
    unit = str(arguments.given.get("unit") or "day").lower()
    unit = unit if unit in ("year", "month", *_UNITS) else "second"
    form: dict[str, Any] = {"date_trunc": {"date": as_form(base), "unit": unit}}
    if up and unit in _UNITS:
        form = {"date_add": {"date": form, "by": f"1{_UNITS[unit]}"}}
    elif up:  # some day of the next month or year, cut to that: they differ in length
        later = {"date_add": {"date": form, "by": "32d" if unit == "month" else "370d"}}
        form = {"date_trunc": {"date": later, "unit": unit}}
    return Form(form)


def part_of_date(arguments: Arguments) -> Node:
    """Any number that the part of a date can be."""
    part = next(iter(arguments.given), "day")
    low, high = _PARTS.get(part, (0, 59))
    arguments.left.lose(arguments.path, f"the {part} of that date; here any from {low} to {high}")
    return Form({"kind": "int", "min": low, "max": high})

"""Owns SimRunner's expressions of dates."""

from datetime import UTC, datetime, timedelta
from typing import Any

from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import Constant, Form, Node, Reference, as_form
from brimline.init.rounding import date_text

_PARTS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "second": (0, 59), "year": (1970, 2035)}


def date(arguments: Arguments) -> Node:
    """A date between bounds."""
    low = _moment(arguments, "min", datetime(1970, 1, 1, tzinfo=UTC), highest=False)
    high = _moment(arguments, "max", datetime.now(UTC).replace(microsecond=0) + timedelta(days=3650), highest=True)
    form: dict[str, Any] = {"kind": "date", "from": date_text(low), "to": date_text(max(low, high))}
    unit = arguments.given.get("truncate")
    loaded = Form(form)
    if arguments.varying("min", "max"):
        ends = [arguments.node("min") or Constant(low), arguments.node("max") or Constant(high)]
        form = {"between": [as_form(each) for each in ends]}
    return Form({"date_trunc": {"date": form, "unit": unit}} if unit in _PARTS else form, loaded)


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
        arguments.left.change(f"{arguments.path}.{name}", "varies, and in loaded documents it is constant")
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
    """A date so much later, by the calendar."""
    base, amount = arguments.node("base") or Reference("$now"), arguments.node("plus") or Constant(0)
    return Form({"date_add": {"date": as_form(base), "by": as_form(amount), "unit": _unit(arguments, "second")}})


def floor_date(arguments: Arguments, *, up: bool) -> Node:
    """A date cut to a unit, or with `up` the begin of the next one, also of a date that is one."""
    base, unit = arguments.node("base") or Reference("$now"), _unit(arguments, "day")
    form: dict[str, Any] = {"date_trunc": {"date": as_form(base), "unit": unit}}
    return Form({"date_add": {"date": form, "by": 1, "unit": unit}} if up else form)


def _unit(arguments: Arguments, default: str) -> str:
    unit = str(arguments.given.get("unit") or default).lower()
    return unit if unit in _PARTS else "second"


def part_of_date(arguments: Arguments) -> Node:
    """A part of a date."""
    part = next(iter(arguments.given), "day")
    low, high = _PARTS.get(part, (0, 59))
    loaded = Form({"kind": "int", "min": low, "max": high})
    date = arguments.node(part) or Reference("$now")
    if part not in _PARTS:
        return Form({"modulo": [{"divide": [{"long": as_form(date)}, 1000]}, 2**31]}, loaded)
    return Form({"date_part": {"date": as_form(date), "part": part}}, loaded)

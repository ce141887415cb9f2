"""Owns SimRunner's expressions of numbers."""

import math
from typing import Any

from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import Constant, Form, Node, as_form

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
_DOUBLE_MAX = 1e300
_DECIMAL_MAX = 9e12


def whole(kind: str, least: int, most: int, arguments: Arguments) -> Node:
    """A whole number; its `max` is not reached, as in JavaFaker."""
    low = math.ceil(arguments.number("min", least)) if "min" in arguments.given else least
    high = math.floor(arguments.number("max", most, highest=True)) - 1 if "max" in arguments.given else most
    low, high = max(low, least), min(high, most)
    loaded = Form({"kind": kind, "min": low, "max": max(low, high)})
    if not arguments.varying("min", "max"):
        return loaded
    ends = _ends(arguments, low, most)
    below = {"subtract": [ends[1], 1]} if "max" in arguments.given else most
    made = {"between": [ends[0], {"max": [ends[0], below]}]}
    return Form({"long": made} if kind == "long" else made, loaded)


def _ends(arguments: Arguments, low: float, high: float) -> tuple[Any, Any]:
    nodes = arguments.node("min") or Constant(low), arguments.node("max") or Constant(high)
    return as_form(nodes[0]), as_form(nodes[1])


def double(arguments: Arguments) -> Node:
    """A double between bounds, rounded where `decimals` says so."""
    low, high = arguments.number("min", 0.0), arguments.number("max", _DOUBLE_MAX, highest=True)
    form: dict[str, Any] = {"kind": "double", "min": low, "max": max(low, high)}
    places = int(arguments.number("decimals", 2)) if "decimals" in arguments.given else None
    if places is not None:
        form["decimals"] = places
    if not arguments.varying("min", "max"):
        return Form(form)
    made: dict[str, Any] = {"double": {"between": list(_ends(arguments, low, high))}}
    return Form(made if places is None else {"round": [made, places]}, Form(form))


def decimal(arguments: Arguments) -> Node:
    """A decimal of six places between whole bounds; without bounds it has 64 bits."""
    low, high = arguments.number("min", -_DECIMAL_MAX), arguments.number("max", _DECIMAL_MAX, highest=True)
    low, high = (round(min(max(each, -_DECIMAL_MAX), _DECIMAL_MAX), 6) for each in (low, high))
    bounds = [int(each) if each == int(each) else each for each in (low, max(low, high))]
    return Form({"kind": "decimal", "min": bounds[0], "max": bounds[1], "decimals": 6})


def gaussian(arguments: Arguments) -> Node:
    """A number of the normal law."""
    mean, deviation = arguments.number("mean", 0.0), abs(arguments.number("sd", 1.0))
    form: dict[str, Any] = {"kind": "normal", "mean": mean, "standard_deviation": deviation}
    kind = arguments.given.get("type")
    return Form(form | {"type": kind} if kind in ("int", "long") else form)


def absolute(arguments: Arguments) -> Node:
    """A number without its sign."""
    return Form({"abs": as_form(arguments.node("of") or Constant(0))})


def reduced(operator: str, arguments: Arguments) -> Node:
    """The sum or the product of values."""
    form = {operator: [as_form(each) for each in arguments.nodes("of")]}
    return Form(form if arguments.given.get("type") == "double" else {"long": form})


def modulo(arguments: Arguments) -> Node:
    """What is left of a division."""
    of, by = arguments.node("of") or Constant(0), arguments.node("by") or Constant(1)
    return Form({"modulo": [as_form(of), as_form(by)]})


def converted(kind: str, arguments: Arguments) -> Node:
    """A text as a number."""
    return Form({kind: as_form(arguments.node("of") or Constant(""))})

"""Owns SimRunner's expressions of numbers."""

import math
from typing import Any

from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import Constant, Form, Node, as_form

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
_DOUBLE_MAX = 1e300


def whole(kind: str, least: int, most: int, arguments: Arguments) -> Node:
    """A whole number; its `max` is not reached, as in JavaFaker."""
    low = math.ceil(arguments.number("min", least)) if "min" in arguments.given else least
    high = math.floor(arguments.number("max", most, highest=True)) - 1 if "max" in arguments.given else most
    low, high = max(low, least), min(high, most)
    return Form({"kind": kind, "min": low, "max": max(low, high)})


def double(arguments: Arguments) -> Node:
    """A double between bounds, rounded where `decimals` says so."""
    low, high = arguments.number("min", 0.0), arguments.number("max", _DOUBLE_MAX, highest=True)
    form: dict[str, Any] = {"kind": "double", "min": low, "max": max(low, high)}
    if "decimals" in arguments.given:
        form["decimals"] = int(arguments.number("decimals", 2))
    return Form(form)


def decimal(arguments: Arguments) -> Node:
    """A double in place of a decimal."""
    arguments.left.change(arguments.path, "a decimal there, a double here")
    low, high = arguments.number("min", -1e15), arguments.number("max", 1e15, highest=True)
    return Form({"kind": "double", "min": low, "max": max(low, high), "decimals": 6})


def gaussian(arguments: Arguments) -> Node:
    """The sum of four even draws, which has the same mean and deviation."""
    arguments.left.change(arguments.path, "the sum of four even draws, of the same mean and deviation")
    mean, deviation = arguments.number("mean", 0.0), arguments.number("sd", 1.0)
    half = deviation * math.sqrt(3) / 2
    draw = {"kind": "double", "min": round(mean / 4 - half, 9), "max": round(mean / 4 + half, 9)}
    form: dict[str, Any] = {"add": [draw, draw, draw, draw]}
    kind = arguments.given.get("type")
    return Form({kind: {"round": [form, 0]}} if kind in ("int", "long") else form)


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

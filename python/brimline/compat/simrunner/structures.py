"""Owns SimRunner's expressions of arrays, documents and choices, and of places on earth."""

import math
from collections.abc import Callable
from typing import Any

from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import (
    Constant,
    Fields,
    Form,
    Items,
    Node,
    Reference,
    as_form,
    as_generator,
    in_step,
    is_generated,
)

_BYTES = frozenset({"uuid", "binary", "object_id"})
_ITEMS_MAX = 1000
_REPEATED_WEIGHT_MAX = 1000


def array(arguments: Arguments) -> Node:
    """An array of so many values."""
    of = arguments.node("of") or Constant(None)
    low, high = _bounds(arguments)
    generator = as_generator(of)
    length: Any = low if low == high else {"kind": "uniform", "min": low, "max": high}
    loaded = None if generator is None else Form({"kind": "array", "length": length, "of": generator})
    if loaded is not None and is_generated(of) and not arguments.varying("size", "min", "max"):
        return loaded
    return Form({"repeat": {"of": as_form(of), **_count(arguments, low, high)}}, loaded)


def _bounds(arguments: Arguments) -> tuple[int, int]:
    """How many values there are at least and at most."""
    if "size" in arguments.given:
        low, high = int(arguments.number("size", 0)), int(arguments.number("size", 0, highest=True))
    else:
        low, high = int(arguments.number("min", 0)), int(arguments.number("max", 10, highest=True))
    return max(low, 0), max(low, high, 0)


def _count(arguments: Arguments, low: int, high: int) -> dict[str, Any]:
    """The count of a list, and the most that it can be."""
    most = min(high, _ITEMS_MAX)
    if high > most:
        arguments.left.change(arguments.path, f"at most {_ITEMS_MAX} values")
    if arguments.varying("size"):
        return {"count": as_form(arguments.node("size") or Constant(low)), "max": most}
    if arguments.varying("min", "max"):
        ends = arguments.node("min") or Constant(low), arguments.node("max") or Constant(most)
        least = as_form(ends[0])
        return {"count": {"between": [least, {"max": [least, as_form(ends[1])]}]}, "max": most}
    return {"count": most if low == high else {"kind": "int", "min": min(low, most), "max": most}}


def mapped(arguments: Arguments) -> Node:
    """A document of drawn names; one that comes twice is there once."""
    key, value = arguments.node("key") or Constant(""), arguments.node("value") or Constant(None)
    low, high = _bounds(arguments)
    loaded = Fields({f"key{number}": value for number in range(max((low + high) // 2, 1))})
    made = {"of": as_form(value), "key": as_form(key), **_count(arguments, low, high)}
    return Form({"repeat": made}, loaded)


def one_of(arguments: Arguments) -> Node:
    """One of some values, by weight."""
    options = arguments.nodes("options")
    given = arguments.given.get("weights")
    weights = [int(each) if isinstance(each, int | float) else 1 for each in given] if isinstance(given, list) else []
    weights = [*weights, *[1] * len(options)][: len(options)]
    values = [each.value for each in options if isinstance(each, Constant)]
    is_plain = len(values) == len(options) and all(
        each is None or isinstance(each, str | int | float) for each in values
    )
    if is_plain and len(set(weights)) <= 1:
        return Form({"kind": "choice", "of": values})
    if is_plain and all(isinstance(each, str) for each in values) and len(set(values)) == len(values):
        return Form({"kind": "choice", "of": dict(zip(values, weights, strict=True))})
    if is_plain and sum(weights) <= _REPEATED_WEIGHT_MAX:
        divisor = math.gcd(*weights) or 1
        repeated = [value for value, weight in zip(values, weights, strict=True) for _ in range(weight // divisor)]
        return Form({"kind": "choice", "of": repeated})
    weighted = [{"value": in_step(each), "weight": weight} for each, weight in zip(options, weights, strict=True)]
    return Form({"one_of": weighted})


def first(arguments: Arguments) -> Node:
    """The first item of a list, character of a text, byte of anything else."""
    of = arguments.node("of") or Constant("")
    if isinstance(of, Items):
        return of.items[0] if of.items else Constant(None)
    made = of.instead if isinstance(of, Reference) else of
    kind = made.form.get("kind") if isinstance(made, Form) else ""
    is_list = isinstance(made, Items) or kind == "array" or (isinstance(made, Form) and "repeat" in made.form)
    if is_list or kind in _BYTES:
        loaded = Form({"kind": "int", "min": 0, "max": 255}) if kind in _BYTES else None
        if kind == "array" and isinstance(made, Form):
            loaded = Form(made.form["of"])
        return Form({"element": {"of": as_form(of), "at": 0}}, loaded)
    return Form({"substring": {"of": {"text": as_form(of)}, "start": 0, "length": 1}})


def element(arguments: Arguments) -> Node:
    """The item at a place."""
    of, at = arguments.node("from") or Constant(None), arguments.node("at") or Constant(0)
    members = (
        list(of.items)
        if isinstance(of, Items)
        else [Constant(each) for each in of.value]
        if isinstance(of, Constant) and isinstance(of.value, list)
        else []
    )
    if members and isinstance(at, Constant) and isinstance(at.value, int) and 0 <= at.value < len(members):
        return members[at.value]
    return Form({"element": {"of": as_form(of), "at": as_form(at)}})


def longlat(arguments: Arguments) -> Node:
    """A pair of longitude and latitude."""
    arguments.left.lose(arguments.path, "places of countries; here anywhere on earth")
    degrees = [{"kind": "double", "min": -most, "max": most, "decimals": 6} for most in (180.0, 90.0)]
    return Items([Form(each) for each in degrees])


def on_line(arguments: Arguments, share: Callable[[], str]) -> Node:
    """A pair on the line between two; `share` names a value from 0 to 1 of its own."""
    ends = [each for name in ("from", "to") if isinstance(each := arguments.given.get(name), list) and len(each) >= 2]
    numbers = [each for end in ends for each in end[:2] if isinstance(each, int | float)]
    if len(numbers) < 4:
        arguments.left.lose(arguments.path, "a point on a line whose ends vary; here a pair of numbers")
        return Form({"kind": "array", "length": 2, "of": {"kind": "double", "min": -90.0, "max": 90.0}})
    named, pairs = share(), zip(numbers[:2], numbers[2:], strict=True)
    return Items(
        [
            Form(
                {"add": [float(start), {"multiply": [named, float(end - start)]}]},
                Form({"kind": "double", "min": float(min(start, end)), "max": float(max(start, end))}),
            )
            for start, end in pairs
        ]
    )

"""Owns SimRunner's expressions of arrays, documents and choices, and of places on earth."""

import math
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
)

_BYTES = frozenset({"uuid", "binary", "object_id"})
_REPEATED_MAX = 50
_REPEATED_WEIGHT_MAX = 1000


def array(arguments: Arguments) -> Node:
    """An array of so many values."""
    of = arguments.node("of") or Constant(None)
    if "size" in arguments.given:
        low = high = int(arguments.number("size", 0))
    else:
        low, high = int(arguments.number("min", 0)), int(arguments.number("max", 10, highest=True))
    low, high = max(low, 0), max(low, high, 0)
    generator = as_generator(of)
    length: Any = low if low == high else {"kind": "uniform", "min": low, "max": high}
    if generator is not None:
        return Form({"kind": "array", "length": length, "of": generator})
    if low != high:
        arguments.left.change(arguments.path, f"{high} items of values always, not from {low} on")
    return Items([of] * min(high, _REPEATED_MAX))


def mapped(arguments: Arguments) -> Node:
    """A document of made-up names."""
    value = arguments.node("value") or Constant(None)
    count = int(arguments.number("min", 0) + arguments.number("max", 10, highest=True)) // 2
    arguments.left.change(arguments.path, f"{count} names key0, key1 …, the mean, in place of any")
    return Fields({f"key{number}": value for number in range(max(count, 1))})


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
    if isinstance(made, Items) or kind == "array":
        return Reference(f"{of.text}.0") if isinstance(of, Reference) else Form(made.form["of"])  # type: ignore[union-attr]
    if kind in _BYTES:
        arguments.left.change(arguments.path, "any byte, not the first one of the value")
        return Form({"kind": "int", "min": 0, "max": 255})
    return Form({"substring": {"of": {"text": as_form(of)}, "start": 0, "length": 1}})


def element(arguments: Arguments) -> Node:
    """The item at a place."""
    of, at = arguments.node("from"), arguments.node("at") or Constant(0)
    members = (
        list(of.items)
        if isinstance(of, Items)
        else [Constant(each) for each in of.value]
        if isinstance(of, Constant) and isinstance(of.value, list)
        else []
    )
    if members and isinstance(at, Constant) and isinstance(at.value, int) and 0 <= at.value < len(members):
        return members[at.value]
    arguments.left.lose(
        arguments.path,
        "an element at a place that varies; here any of them" if members else "an element of a value; here null",
    )
    return Form({"one_of": [in_step(each) for each in members]}) if members else Constant(None)


def longlat(arguments: Arguments) -> Node:
    """A pair of longitude and latitude."""
    arguments.left.lose(arguments.path, "places of countries; here anywhere on earth")
    degrees = [{"kind": "double", "min": -most, "max": most, "decimals": 6} for most in (180.0, 90.0)]
    return Items([Form(each) for each in degrees])


def on_line(arguments: Arguments) -> Node:
    """A pair in the box of a line."""
    ends = [each for name in ("from", "to") if isinstance(each := arguments.given.get(name), list) and len(each) >= 2]
    if len(ends) < 2:
        arguments.left.lose(arguments.path, "a point on a line whose ends vary; here a pair of numbers")
        return Form({"kind": "array", "length": 2, "of": {"kind": "double", "min": -90.0, "max": 90.0}})
    arguments.left.change(arguments.path, "a point in the box of the line")
    (x0, y0), (x1, y1) = (each[:2] for each in ends)
    pairs = ((x0, x1), (y0, y1))
    return Items([Form({"kind": "double", "min": float(min(pair)), "max": float(max(pair))}) for pair in pairs])

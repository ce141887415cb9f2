"""Owns aggregation expressions with holes: field paths, names and small numbers are shape, other constants values."""

from collections.abc import Mapping
from typing import Any

from brimline.init.holes import Holes, Kept

_NAMES = frozenset({
    "format", "unit", "timezone", "to", "startOfWeek", "field", "as", "in", "by", "granularity", "$meta", "$getField",
})  # fmt: skip
"""Arguments of operators that are names, not values. Outside of an operator they are names of fields."""
_WORDS = frozenset({
    "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "unbounded", "current",
    "full", "partition", "linear", "locf",
})  # fmt: skip
_KEYS_OF_WORDS = frozenset({"unit", "documents", "range", "bounds", "method"})
_KEPT_NUMBER_MAX = 100


def read_expression(value: Any, holes: Holes, *, operator: str = "", key: str = "") -> Any:
    """An expression, or a document of expressions. `operator` is what it is the argument of, `key` which one.

    Texts that are no paths and no names, and large numbers, become holes.
    """
    if isinstance(value, Mapping):
        return {
            name: read_expression(each, holes, operator=name)
            if name.startswith("$")
            else read_expression(each, holes, operator="" if isinstance(each, Mapping) else operator, key=name)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [read_expression(each, holes, operator=operator, key=key) for each in value]
    if isinstance(value, str):
        return Kept(value) if _is_name(value, operator, key) else holes.make("new", value)
    if isinstance(value, int | float) and abs(value) <= _KEPT_NUMBER_MAX and float(value).is_integer():
        return value
    return holes.make("new", value)


def _is_name(text: str, operator: str, key: str) -> bool:
    if operator == "$literal":
        return False
    if not text or text.startswith("$") or (key in _KEYS_OF_WORDS and text in _WORDS):
        return True
    return bool(operator) and (operator in _NAMES or key in _NAMES)

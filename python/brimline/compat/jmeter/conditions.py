"""Owns conditions of an If Controller, as far as they are known beforehand."""

import operator
import re
from collections.abc import Callable
from typing import Final

from brimline.compat.jmeter.expressions import Call, Variable, parts_of
from brimline.compat.jmeter.variables import Variables

_SCRIPTS: Final = ("__jexl3", "__jexl2", "__jexl", "__groovy", "__javaScript")
_COMPARED: Final = re.compile(r"\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*", re.DOTALL)
_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_QUOTED: Final = re.compile(r"([\"'])((?:(?!\1)[^\\])*)\1", re.DOTALL)
_LAST_OK: Final = "JMeterThread.last_sample_ok"
_RANGE_MAX: Final = 100_000


def share_of(condition: str, variables: Variables) -> float | None:
    """How often it holds, from 0 to 1; None where that isn't known."""
    parts = parts_of(condition.strip())
    if len(parts) == 1 and isinstance(parts[0], Call) and parts[0].name in _SCRIPTS:
        return share_of(",".join(parts[0].arguments), variables)
    if parts == [Variable(_LAST_OK)]:
        # An operation ends with a step that fails.
        return 1.0
    known = _operand(_known(condition, variables))
    if known is not None and known.lower() in ("true", "false"):
        return float(known.lower() == "true")
    compared = _COMPARED.fullmatch(condition)
    return None if compared is None else _comparison(compared[1], compared[2], compared[3], variables)


def _known(written: str, variables: Variables) -> str:
    """The text where it is known; else nothing."""
    return (variables.constant(written.replace(f"${{{_LAST_OK}}}", "true")) or "").strip()


def _comparison(left: str, sign: str, right: str, variables: Variables) -> float | None:
    parts = parts_of(left.strip().strip("\"'"))
    bound = _number(_known(right, variables))
    if len(parts) == 1 and isinstance(parts[0], Call) and parts[0].name == "__Random" and bound is not None:
        low, high = (variables.number(each) for each in (*parts[0].arguments, "", "")[:2])
        if low is None or high is None or not 0 <= high - low <= _RANGE_MAX:
            return None
        drawn = range(int(low), int(high) + 1)
        return sum(_OPERATORS[sign](each, bound) for each in drawn) / len(drawn)
    one, other = (_operand(_known(each, variables)) for each in (left, right))
    if one is None or other is None:
        return None
    numbers = _number(one), _number(other)
    if numbers[0] is not None and numbers[1] is not None:
        return float(_OPERATORS[sign](numbers[0], numbers[1]))
    return float((one == other) is (sign == "==")) if sign in ("==", "!=") else None


def _operand(text: str) -> str | None:
    """A number, true, false, or what is in quotes; None of all else, which a script would have to say."""
    if found := _QUOTED.fullmatch(text):
        return found[2]
    return text if _number(text) is not None or text in ("true", "false") else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

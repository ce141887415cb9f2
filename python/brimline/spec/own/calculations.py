"""Owns forms that make a value of others: arithmetic, texts, types, dates, documents and lists."""

import math
import time
from typing import Any, Final

from bson.int64 import Int64

from brimline import units
from brimline.spec.document import Path
from brimline.spec.generators import DoubleValue
from brimline.spec.own.expressions import Scope, described, read_expression
from brimline.spec.own.forms import Form, Forms, require_number
from brimline.spec.own.keys import check_keys, choice, mapping
from brimline.spec.own.nodes import Node, array, constant, constant_value, date_ms, document
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown
from brimline.spec.scalars import DATE_MS_MAX, DATE_MS_MIN
from brimline.units import counted

_NEARER: Final = "take fewer days; a year is 365d"
UNITS: Final = ("year", "quarter", "month", "week", "second", "minute", "hour", "day")
PARTS: Final = (
    "year", "quarter", "month", "day", "minute", "second", "millisecond", "day_of_week", "day_of_year", "hour",
)  # fmt: skip
_COMPARED: Final = ("int", "long", "double", "date")
_CONVERTED: Final = (*_COMPARED, "text", "boolean")
_SHARE: Final = Node({"kind": "generator", "spec": DoubleValue()}, "double")
"""A share of the way, from 0 to below 1."""


def calculate(operator: str, of: list[Node], kind: str | None) -> Node:
    """What an operator of the plan makes of values."""
    return Node({"kind": "calculate", "operator": operator, "of": [node.plan for node in of]}, kind)


def _operands(forms: Forms, value: dict[str, Any], path: Path, scope: Scope, *, count: int | None = None) -> list[Node]:
    """What stands behind an operator: a list of values, as many as `count`, else at least one."""
    operator = next(iter(value))
    check_keys(value, path, (operator,))
    given = value[operator]
    if not isinstance(given, list) or not given or (count is not None and len(given) != count):
        many = "a list of values" if count is None else f"a list of {counted(count, 'value')}"
        raise Problem((*path, operator), f"must be {many}", f"write {operator}: [$a, 2]")
    return [forms.read(each, (*path, operator, number), scope) for number, each in enumerate(given)]


def arithmetic(count: int | None = None) -> "Form":
    """The reader of an operator on numbers, as many as `count`."""

    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
        operator = next(iter(value))
        nodes = _operands(forms, value, path, scope, count=count)
        for number, node in enumerate(nodes):
            require_number(node, (*path, operator, number), operator)
            if operator in ("divide", "modulo") and number and node.is_constant and constant_value(node) == 0:
                raise Problem((*path, operator, number), f"can't {operator} by 0", "give another number")
        kinds = {node.type for node in nodes}
        kind = (
            next(iter(kinds)) if len(kinds) == 1 and operator != "divide" else "double" if "double" in kinds else None
        )
        return calculate(operator, nodes, kind if None not in kinds else None)

    return read


def extreme(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """The least or the greatest of values."""
    nodes = _operands(forms, value, path, scope)
    operator = next(iter(value))
    for number, node in enumerate(nodes):
        _require_one_of(node, _COMPARED, (*path, operator, number), operator, "give numbers, or dates")
    kinds = {node.type for node in nodes}
    if "date" in kinds and any(node.is_number for node in nodes):
        raise Problem((*path, operator), f"{operator} takes no date beside a number", "give numbers, or dates")
    return calculate(operator, nodes, next(iter(kinds)) if len(kinds) == 1 else None)


def absolute(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A number without its sign."""
    check_keys(value, path, ("abs",))
    node = forms.read(value["abs"], (*path, "abs"), scope)
    require_number(node, (*path, "abs"), "abs")
    return calculate("abs", [node], node.type)


def between(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A value between two others, each equally often: whole numbers and dates with both ends."""
    nodes = _operands(forms, value, path, scope, count=2)
    for number, node in enumerate(nodes):
        if node.type not in (None, "date", "int", "long", "double"):
            hint = "give two numbers, or two dates"
            raise Problem((*path, "between", number), f"nothing is between {described(node)} and another", hint)
        if node.type == "double" and node.is_constant and not math.isfinite(end := constant_value(node)):
            raise Problem(
                (*path, "between", number), f"must be finite, but is {shown(end)}", "write a number such as 0.5"
            )
    kinds = [node.type for node in nodes]
    if "date" in kinds and any(node.is_number for node in nodes):
        raise Problem((*path, "between"), "nothing is between a date and a number", "give two numbers, or two dates")
    low, high = (constant_value(node) if node.is_constant and node.is_number else None for node in nodes)
    if low is not None and high is not None and low > high:
        raise Problem((*path, "between"), f"begins at {shown(low)} and ends at {shown(high)}", "exchange them")
    kind = kinds[0] if kinds[0] == kinds[1] else None
    return calculate("between", [*nodes, _SHARE], kind)


def rounded(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A number with so many places."""
    nodes = _operands(forms, value, path, scope, count=2)
    require_number(nodes[0], (*path, "round", 0), "round")
    decimals = value["round"][1]
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= 15:
        raise Problem((*path, "round", 1), f"must be 0 to 15 places, not {shown(decimals)}", "write round: [$x, 2]")
    return calculate("round", nodes, nodes[0].type)


def concat(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """Texts one behind another."""
    nodes = _operands(forms, value, path, scope)
    for number, node in enumerate(nodes):
        if node.type in ("document", "list", "binary"):
            hint = "give text, a number, a date or an ObjectId"
            raise Problem((*path, "concat", number), f"{described(node)} can't be put together", hint)
    return calculate("concat", nodes, "text")


def conversion(kind: str) -> "Form":
    """The reader of an operator on one value, which makes a `kind`."""

    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
        operator = next(iter(value))
        check_keys(value, path, (operator,))
        node = forms.read(value[operator], (*path, operator), scope)
        if operator in ("lower", "upper", "trim"):
            _require(node, "text", (*path, operator), operator)
        else:
            taken = (*_CONVERTED, "object_id") if operator == "text" else _CONVERTED
            _require_one_of(node, taken, (*path, operator), operator, "give a number, text, a boolean or a date")
        return calculate(operator, [node], kind)

    return read


def _require_one_of(node: Node, kinds: tuple[str, ...], path: Path, what: str, hint: str) -> None:
    """Refuses what is surely of another type; null makes null."""
    if node.type not in (None, "null", *kinds):
        raise Problem(path, f"{what} can't take {described(node)}", hint)


def _require(node: Node, kind: str, path: Path, what: str) -> None:
    if node.type not in (None, kind):
        article = "text" if kind == "text" else f"a {kind}"
        raise Problem(path, f"{what} takes {article}, and this is {described(node)}", f"give {article}")


def substring(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A part of a text."""
    check_keys(value, path, ("substring",))
    path = (*path, "substring")
    given = mapping(value["substring"], path, "{of: $sku, start: 0, length: 4}")
    check_keys(given, path, ("of", "start", "length"), required=("of", "length"))
    nodes = [forms.read(given.get(key, 0), (*path, key), scope) for key in ("of", "start", "length")]
    _require(nodes[0], "text", (*path, "of"), "substring")
    for node, key in zip(nodes[1:], ("start", "length"), strict=True):
        require_number(node, (*path, key), key)
    return calculate("substring", nodes, "text")


def date_add(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A date before or after another."""
    check_keys(value, path, ("date_add",))
    path = (*path, "date_add")
    given = mapping(value["date_add"], path, "{date: $now, by: -7d}")
    check_keys(given, path, ("date", "by", "unit"), required=("date", "by"))
    date = forms.read(given["date"], (*path, "date"), scope)
    _require(date, "date", (*path, "date"), "date_add")
    by = given["by"]
    if "unit" in given:
        count = forms.read(by, (*path, "by"), scope)
        require_number(count, (*path, "by"), "by")
        unit = constant(choice(given["unit"], (*path, "unit"), UNITS))
        return calculate("date_add", [date, count, unit], "date")
    if isinstance(by, str) and not by.startswith("$"):
        milliseconds = constant(Int64(_milliseconds(by, (*path, "by"))))
    elif isinstance(by, int | float) and not isinstance(by, bool) and by != 0:
        raise Problem((*path, "by"), f"{shown(by)} has no unit", f'write "{by}s", or add unit: month')
    else:
        milliseconds = forms.read(by, (*path, "by"), scope)
        require_number(milliseconds, (*path, "by"), "by")
    if milliseconds.is_constant:
        _check_sum(date, constant_value(milliseconds), (*path, "by"))
    return calculate("date_add", [date, milliseconds], "date")


def _milliseconds(text: str, path: Path) -> int:
    sign = -1 if text.lstrip().startswith("-") else 1
    try:
        milliseconds = sign * (units.parse_duration(text.lstrip().lstrip("+-")) // units.NS_PER_MS)
    except ValueError as error:
        raise Problem(
            path, str(error).partition(";")[0], "write it like -7d or 90m, or as $value of milliseconds"
        ) from None
    if abs(milliseconds) > DATE_MS_MAX - DATE_MS_MIN:
        raise Problem(path, f"{shown(text)} leads out of the years 1 to 9999", _NEARER)
    return milliseconds


def _check_sum(date: Node, milliseconds: Any, path: Path) -> None:
    """Refuses what surely leads to a date that can't be read."""
    if date.is_constant:
        begin_ms = date_ms(date)
    elif date.plan["kind"] == "now":
        begin_ms = time.time_ns() // units.NS_PER_MS
    else:
        return
    if isinstance(milliseconds, int | float) and not DATE_MS_MIN <= begin_ms + milliseconds <= DATE_MS_MAX:
        raise Problem(path, "leads out of the years 1 to 9999", _NEARER)


def of_date(word: str, words: tuple[str, ...], kind: str) -> "Form":
    """The reader of an operator on a date and one of `words`, which is called `word`; it makes a `kind`."""

    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
        operator = next(iter(value))
        check_keys(value, path, (operator,))
        path = (*path, operator)
        given = mapping(value[operator], path, f"{{date: $now, {word}: {words[-1]}}}")
        check_keys(given, path, ("date", word), required=("date", word))
        date = forms.read(given["date"], (*path, "date"), scope)
        _require(date, "date", (*path, "date"), operator)
        return calculate(operator, [date, constant(choice(given[word], (*path, word), words))], kind)

    return read


def a_document(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A document of values."""
    check_keys(value, path, ("document",))
    path = (*path, "document")
    given = mapping(value["document"], path, "{city: $city}")
    return document([(name, read_expression(item, (*path, name), scope)) for name, item in given.items()])


def a_list(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A list of values."""
    check_keys(value, path, ("list",))
    given = value["list"]
    if not isinstance(given, list):
        raise Problem((*path, "list"), f"must be a list, not {shown(given)}", "write list: [$a, $b]")
    return array([read_expression(item, (*path, "list", number), scope) for number, item in enumerate(given)])

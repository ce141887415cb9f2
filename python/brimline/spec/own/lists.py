"""Owns forms of lists: values drawn again and again, one of each element, an element, and lists of texts."""

from dataclasses import replace
from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.generators import IntValue
from brimline.spec.own.calculations import calculate
from brimline.spec.own.expressions import BUILT_IN, Scope, described
from brimline.spec.own.forms import Forms, require_number
from brimline.spec.own.keys import check_keys, mapping
from brimline.spec.own.nodes import Node, constant, constant_value
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown

ITEMS_MAX: Final = 1000
"""Most items of a list that is drawn or made of another, as in `crates/datagen`."""
_NGRAM_DEFAULT: Final = 3
_TEXT_MAX: Final = 2**31 - 1


def _given(value: dict[str, Any], path: Path, example: str, known: tuple[str, ...], required: tuple[str, ...]) -> Any:
    """What stands behind the first key, a mapping of `known` keys, and the path to that."""
    operator = next(iter(value))
    check_keys(value, path, (operator,))
    given = mapping(value[operator], (*path, operator), example)
    check_keys(given, (*path, operator), known, required=required)
    return given, (*path, operator)


def _require(node: Node, kinds: tuple[str, ...], path: Path, what: str, hint: str) -> None:
    if node.type not in (None, *kinds):
        raise Problem(path, f"{what}, and this is {described(node)}", hint)


def _drawn_anew(forms: Forms, given: Any, path: Path, scope: Scope) -> Node:
    """A value that is made for each item; what is taken in turn can't be, as nobody knows how many are taken."""
    node = forms.read(given, path, scope)
    if _takes_in_turn(node.plan, forms):
        hint = "name the value, so that all items have the same, or take rows with order: random"
        raise Problem(path, "takes new records, or rows in turn, and a list can't", hint)
    return node


def _takes_in_turn(plan: Any, forms: Forms) -> bool:
    if isinstance(plan, dict):
        if plan.get("kind") in ("cell", "row"):
            return forms.tables[plan["table"]].order == "in_turn"
        return plan.get("kind") in ("new_key", "new_record") or any(
            _takes_in_turn(each, forms) for each in plan.values()
        )
    return isinstance(plan, list | tuple) and any(_takes_in_turn(each, forms) for each in plan)


def repeat(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A list of values that are each drawn anew, or with `key` a document of them."""
    given, path = _given(
        value, path, "{of: {kind: int}, count: 3}", ("of", "key", "count", "max"), required=("of", "count")
    )
    count = forms.read(given["count"], (*path, "count"), scope)
    require_number(count, (*path, "count"), "count")
    node = _drawn_anew(forms, given["of"], (*path, "of"), scope)
    plan = {"kind": "several", "count": count.plan, "count_max": _most(count, given, path), "of": node.plan}
    if "key" not in given:
        return Node(plan, "list")
    key = _drawn_anew(forms, given["key"], (*path, "key"), scope)
    _require(key, ("text",), (*path, "key"), "key takes text", "give text, such as {text: $number}")
    return Node({**plan, "key": key.plan}, "document")


def _most(count: Node, given: dict[str, Any], path: Path) -> int:
    """How many values there are at most: what `max` says, else what the count can't exceed."""
    most, place, known = given.get("max"), (*path, "max"), None
    made = count.plan.get("spec")
    if count.is_constant:
        known = constant_value(count)
        known = int(known) if isinstance(known, float) and known.is_integer() else known
        place = (*path, "count") if "max" not in given else place
    elif isinstance(made, IntValue):
        if made.min < 0:
            raise Problem((*path, "count"), f"reaches {made.min}, and a list has no fewer than 0", "write min: 0")
        known = made.max
    if most is None:
        if known is None:
            raise Problem(place, "is missing, as the count varies", f"add max: {ITEMS_MAX}, or fewer")
        most = known
    if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most <= ITEMS_MAX:
        raise Problem(
            place, f"must be a whole number up to {ITEMS_MAX}, not {shown(most)}", f"give at most {ITEMS_MAX}"
        )
    if isinstance(known, int | float) and known > most:
        raise Problem(place, f"is below the count, which reaches {known}", f"write max: {known}")
    return max(most, 1)


def mapped(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """A list of what is made of each element of a list; `as` is what the element is called."""
    given, path = _given(
        value, path, "{over: $lines, as: line, of: $line.sku}", ("over", "as", "of"), required=("over", "as", "of")
    )
    name = given["as"]
    if not isinstance(name, str) or not name.replace("_", "a").isalnum() or name[:1].isdigit():
        raise Problem((*path, "as"), f"{shown(name)} can't name an element", "take letters, digits and _")
    if scope.knows(name) and (name not in scope.elements or name in BUILT_IN):
        raise Problem((*path, "as"), f"${name} is a value already", f"choose another name: one_{name}")
    over = forms.read(given["over"], (*path, "over"), scope)
    _require(over, ("list", "null"), (*path, "over"), "map takes a list", "give a list")
    of = _drawn_anew(forms, given["of"], (*path, "of"), replace(scope, elements=(*scope.elements, name)))
    return Node({"kind": "map", "over": over.plan, "of": of.plan}, "list")


def element(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """The element of a list at a place, or a byte of bytes."""
    given, path = _given(value, path, "{of: $list, at: 0}", ("of", "at"), required=("of", "at"))
    of = forms.read(given["of"], (*path, "of"), scope)
    hint = "give a list, bytes or an ObjectId; of text there is substring"
    _require(of, ("list", "binary", "object_id", "null"), (*path, "of"), "element takes a list", hint)
    at = forms.read(given["at"], (*path, "at"), scope)
    require_number(at, (*path, "at"), "at")
    return calculate("element", [of, at], "int" if of.type in ("binary", "object_id") else None)


def joined(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """The texts of a list's elements as one."""
    given, path = _given(value, path, '{of: $list, by: ", "}', ("of", "by"), required=("of",))
    of = forms.read(given["of"], (*path, "of"), scope)
    _require(of, ("list", "null"), (*path, "of"), "join takes a list", "give a list; values one by one go to concat")
    by = forms.read(given.get("by", ""), (*path, "by"), scope)
    _require(by, ("text",), (*path, "by"), "by takes text", 'give text, such as ", "')
    return calculate("join", [of, by], "text")


def ngrams(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    """The parts of each word of a text, from so many characters on."""
    given, path = _given(value, path, "{of: $title, min: 3}", ("of", "min", "max"), required=("of",))
    of = forms.read(given["of"], (*path, "of"), scope)
    _require(of, ("text",), (*path, "of"), "ngrams takes text", "give text")
    bounds = {"min": given.get("min", _NGRAM_DEFAULT), "max": given.get("max", _TEXT_MAX)}
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not isinstance(bound, int) or not 1 <= bound <= _TEXT_MAX:
            raise Problem((*path, name), f"must be a number from 1 on, not {shown(bound)}", f"write {name}: 3")
    if bounds["min"] > bounds["max"]:
        raise Problem((*path, "min"), "is above max", "exchange them")
    return calculate("ngrams", [of, *map(constant, bounds.values())], "list")

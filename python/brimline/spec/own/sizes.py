"""Owns the least that a value of an expression can take: what is surely too large is said beforehand."""

from collections.abc import Callable
from typing import Any, Final

from brimline.spec import generators
from brimline.spec.lengths import shortest

DEPTH_MAX: Final = 32
"""How deep the engine takes expressions that aren't constants."""


def least_bytes(plan: dict[str, Any], value_plan: Callable[[int], dict[str, Any]]) -> int:
    """Bytes of BSON that the value of an expression has at least; `value_plan` has the expression of a named value."""

    def least(plan: dict[str, Any]) -> int:
        match plan["kind"]:
            case "bson":
                return len(plan["hex"]) // 2 - 1
            case "document":
                return 5 + sum(2 + len(each["name"].encode()) + least(each["value"]) for each in plan["fields"])
            case "list":
                return 5 + sum(3 + least(each) for each in plan["items"])
            case "repeated":
                return 5 + int(plan["count"]) * (3 + least(plan["of"]))
            case "one_of":
                return min(least(each) for each, weight in plan["values"] if weight)
            case "value" if not plan["path"]:
                return least(value_plan(plan["index"]))
            case "generator":
                return _generated(plan["spec"])
            case _:
                return 0

    return least(plan)


def _generated(made: Any) -> int:
    match made:
        case generators.StringValue() | generators.BinaryValue():
            return 5 + shortest(made.length)
        case generators.DocumentValue():
            return 5 + sum(2 + len(name.encode()) + _generated(value) for name, value in made.fields.items())
        case generators.ArrayValue():
            return 5 + shortest(made.length) * (3 + _generated(made.of))
        case _:
            return 0


def depth(plan: dict[str, Any]) -> int:
    """How deep expressions are nested in an expression; a constant is one, whatever is in it."""
    match plan["kind"]:
        case "document":
            parts = [each["value"] for each in plan["fields"]]
        case "list":
            parts = plan["items"]
        case "calculate":
            parts = plan["of"]
        case "one_of":
            parts = [each for each, _ in plan["values"]]
        case "repeated":
            parts = [plan["of"]]
        case "several" | "map":
            parts = [plan[name] for name in ("count", "over", "of", "key") if plan.get(name) is not None]
        case _:
            parts = []
    return 1 + max(map(depth, parts), default=0)

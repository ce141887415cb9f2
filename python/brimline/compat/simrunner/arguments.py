"""Owns the parameters of an expression of SimRunner: what they are, and numbers where only a number can stand."""

from collections.abc import Callable, Mapping
from typing import Any

from brimline.compat.simrunner.nodes import Constant, Form, Node, Reference
from brimline.init.left_out import LeftOut


class Arguments:
    """The parameters of one expression, translated as they are asked for; `path` is the expression's."""

    def __init__(
        self, given: Mapping[str, Any], path: str, translate: Callable[[Any, str], Node], left: LeftOut
    ) -> None:
        self.given = given
        self.path = path
        self.left = left
        self._translate = translate

    def node(self, name: str) -> Node | None:
        """A parameter as a node; None where it isn't given."""
        return self._translate(self.given[name], f"{self.path}.{name}") if name in self.given else None

    def nodes(self, name: str) -> list[Node]:
        """The members of a list."""
        given = self.given.get(name)
        return (
            [self._translate(each, f"{self.path}.{name}[{i}]") for i, each in enumerate(given)]
            if isinstance(given, list)
            else []
        )

    def number(self, name: str, default: float, *, highest: bool = False) -> float:
        """A parameter as a number; of one that varies the end of its range, and that is said."""
        node = self.node(name)
        bound = default if node is None else bound_of(node, highest=highest)
        if bound is None:
            self.left.change(f"{self.path}.{name}", f"varies, and bounds are constant here: {default:g}")
            return default
        if node is not None and not isinstance(node, Constant):
            self.left.change(f"{self.path}.{name}", f"varies, and in loaded documents it is constant: {bound:g}")
        return bound

    def varying(self, *names: str) -> bool:
        """Whether one of some parameters is a named value."""
        return any(isinstance(self.node(name), Reference) for name in names)


def bound_of(node: Node, *, highest: bool) -> float | None:
    """The number that a node is, or the end of its range; None where that isn't known."""
    if isinstance(node, Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, Reference):
        return None if node.instead is None else bound_of(node.instead, highest=highest)
    if isinstance(node, Form) and node.form.get("kind") in ("int", "long", "double"):
        found = node.form.get("max" if highest else "min")
        return None if found is None else float(found)
    return None

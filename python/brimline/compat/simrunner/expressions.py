"""Owns SimRunner's expressions: constants, `%operators`, and `#names` of variables, remembered fields, dictionaries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from brimline.compat.simrunner.operators import operated
from brimline.compat.simrunner.structures import on_line
from brimline.init.left_out import LeftOut
from brimline.init.words import name_word

_CONCAT_MAX = 1000


@dataclass(slots=True)
class Definitions:
    """The named values of a workload that is written."""

    values: dict[str, Any] = field(default_factory=dict)

    def define(self, wanted: str, form: Any) -> str:
        """A name for a form: the one that has it already, or a new one."""
        word = name_word(wanted)
        word = word if word[:1].isalpha() else f"v_{word}"
        name, number = word, 1
        while (name in self.values and self.values[name] != form) or name in _BUILT_IN:
            number += 1
            name = f"{word}_{number}"
        self.values[name] = form
        return name


_BUILT_IN = frozenset({"now", "run", "worker", "index", "new_id"})


@dataclass(slots=True)
class Names:
    """What `#name` means in one place: a node for each name, and how a path below it goes on.

    `fields` are those of a compound of remembered fields by the name that SimRunner gives them: {"b_c": "b.c"}.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    fields: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def copy(self) -> "Names":
        """The same, to add to."""
        return Names(dict(self.nodes), dict(self.fields))


@dataclass(slots=True)
class Expressions:
    """Translates the expressions of one template or workload; `workload` is the latter's name."""

    names: Names
    definitions: Definitions
    left: LeftOut
    workload: str = ""

    def translate(self, value: Any, path: str) -> Node:
        """What an expression, or a document or list of them, becomes."""
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, Mapping):
            name = next(iter(value), "")
            if len(value) == 1 and name.startswith("%"):
                given = value[name]
                return self._operator(name, given if isinstance(given, Mapping) else {"of": given}, f"{path}.{name}")
            made = {key: self.translate(each, f"{path}.{key}") for key, each in value.items()}
            return Constant(value) if _are_constants(made.values()) else Fields(made)
        if isinstance(value, list):
            items = [self.translate(each, f"{path}[{number}]") for number, each in enumerate(value)]
            return Constant(value) if _are_constants(items) else Items(items)
        return Constant(value)

    def _text(self, value: str, path: str) -> Node:
        if value.startswith("%") and len(value) > 1:
            return self._operator(value, {}, path)
        if value.startswith("#") and len(value) > 1:
            return self._name(value.lstrip("#"), path)
        return Constant(value)

    def _name(self, text: str, path: str) -> Node:
        head, _, rest = text.partition(".")
        node = self.names.nodes.get(head)
        if node is None:
            self.left.lose(path, f"#{head} is no variable, remembered field or dictionary; null, as there")
            return Constant(None)
        if not rest:
            return node
        return self._below(node, self.names.fields.get(head, {}).get(rest, rest))

    def _below(self, node: Node, rest: str) -> Node:
        if isinstance(node, Reference):
            return Reference(f"{node.text}.{rest}", None if node.instead is None else _member(node.instead, rest))
        if isinstance(node, Fields) or (isinstance(node, Constant) and isinstance(node.value, Mapping)):
            return _member(node, rest) or Constant(None)
        if isinstance(node, Form) and not node.is_generator:
            return Reference(f"${self.definitions.define(f'row_{name_word(rest)}', as_form(node))}.{rest}")
        return node

    def _operator(self, operator: str, given: Mapping[str, Any], path: str) -> Node:
        arguments = Arguments(given, path, self.translate, self.left)
        special: Callable[[Expressions, Arguments], Node] | None = _SPECIAL.get(operator)
        return special(self, arguments) if special is not None else operated(operator, arguments)

    def _entry(self, arguments: Arguments) -> Node:
        return self._name(str(arguments.given.get("name", "")), arguments.path)

    def _entry_at(self, arguments: Arguments) -> Node:
        """The entry at a place, counted around."""
        named = str(arguments.given.get("from", ""))
        form = self._form_of(self._name(named, arguments.path))
        entries = form.get("of" if form.get("kind") == "choice" else "one_of")
        if not isinstance(entries, list):
            self.left.change(arguments.path, "any entry of the dictionary, not the one at a place")
            return self._name(named, arguments.path)
        listed = entries if "one_of" in form else [in_step(Constant(each)) for each in entries]
        at = as_form(arguments.node("at") or Constant(0))
        made = {"element": {"of": {"list": listed}, "at": {"modulo": [at, len(listed)]}}}
        return Form(made, self._name(named, arguments.path))

    def _entries(self, arguments: Arguments) -> Node:
        """Several entries as one text, each drawn anew."""
        node, length = self._name(str(arguments.given.get("from", "")), arguments.path), arguments.node("length")
        least, most = (int(arguments.number("length", 1, highest=highest)) for highest in (False, True))
        least, most = (min(max(each, 0), _CONCAT_MAX) for each in (least, most))
        items = {"of": self._form_of(node) or as_form(node)}
        if isinstance(length, Reference):
            items |= {"count": as_form(length), "max": most}
        else:
            items["count"] = most if least == most else {"kind": "int", "min": least, "max": most}
        return Form({"join": {"of": {"repeat": items}, "by": str(arguments.given.get("sep") or "")}})

    def _form_of(self, node: Node) -> Mapping[str, Any]:
        """The form that a reference names, or that a node is; none where it has none."""
        if isinstance(node, Reference):
            found = self.definitions.values.get(node.text.removeprefix("$"))
            return found if isinstance(found, Mapping) else {}
        return node.form if isinstance(node, Form) else {}

    def _on_line(self, arguments: Arguments) -> Node:
        return on_line(
            arguments,
            lambda: f"${self.definitions.define(f'along_{len(self.definitions.values)}', {'kind': 'double'})}",
        )

    def _descended(self, arguments: Arguments) -> Node:
        node = arguments.node("in") or Constant(None)
        return self._below(node, str(arguments.given.get("path", "")))

    def _workload_name(self, arguments: Arguments) -> Node:  # noqa: ARG002
        return Constant(self.workload)

    def _custom(self, arguments: Arguments) -> Node:
        self.left.lose(arguments.path, "a generator in Java; here null")
        return Constant(None)


_SPECIAL: Mapping[str, Callable[[Expressions, Arguments], Node]] = {
    "%dictionary": Expressions._entry,
    "%dictionaryAt": Expressions._entry_at,
    "%dictionaryConcat": Expressions._entries,
    "%coordLine": Expressions._on_line,
    "%descend": Expressions._descended,
    "%workloadName": Expressions._workload_name,
    "%custom": Expressions._custom,
}


def _are_constants(nodes: Any) -> bool:
    return all(isinstance(each, Constant) for each in nodes)


def _member(node: Node, path: str) -> Node | None:
    """What lies below a node; None where that isn't known."""
    for name in path.split("."):
        if isinstance(node, Fields) and name in node.fields:
            node = node.fields[name]
        elif isinstance(node, Constant) and isinstance(node.value, Mapping) and name in node.value:
            node = Constant(node.value[name])
        else:
            return None
    return node


def loadable(fields: Mapping[str, Node], path: str, left: LeftOut) -> dict[str, Any]:
    """The generators of a template's fields; what has none is said, and stands in inserted documents only."""
    found: dict[str, Any] = {}
    for name, node in fields.items():
        made = as_generator(node)
        if made is None:
            left.change(f"{path}.{name}", "has no generator, so loaded documents lack it; inserted ones have it")
        else:
            found[name] = made
    return found

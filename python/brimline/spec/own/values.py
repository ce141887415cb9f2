"""Owns the table of forms by the key that each begins with, and the named values of a workload."""

from dataclasses import dataclass, field
from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own import calculations, draws, lists, rows
from brimline.spec.own.draws import looks_like_form
from brimline.spec.own.expressions import BUILT_IN, Scope
from brimline.spec.own.forms import Form, Forms
from brimline.spec.own.nodes import Node
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown

FORMS: Final[dict[str, Form]] = {
    "kind": draws.generator,
    "key_of": draws.key_of,
    "new_key_of": draws.new("new_key", "text"),
    "new_record_of": draws.new("new_record", "document"),
    "latest_key_of": draws.latest_key_of,
    "sample": rows.sample,
    "csv": rows.csv,
    "jsonl": rows.jsonl,
    "one_of": draws.one_of,
    "add": calculations.arithmetic(),
    "subtract": calculations.arithmetic(2),
    "multiply": calculations.arithmetic(),
    "divide": calculations.arithmetic(2),
    "modulo": calculations.arithmetic(2),
    "min": calculations.extreme,
    "max": calculations.extreme,
    "round": calculations.rounded,
    "abs": calculations.absolute,
    "between": calculations.between,
    "concat": calculations.concat,
    "lower": calculations.conversion("text"),
    "upper": calculations.conversion("text"),
    "trim": calculations.conversion("text"),
    "substring": calculations.substring,
    "join": lists.joined,
    "ngrams": lists.ngrams,
    "element": lists.element,
    "repeat": lists.repeat,
    "map": lists.mapped,
    "text": calculations.conversion("text"),
    "int": calculations.conversion("int"),
    "long": calculations.conversion("long"),
    "double": calculations.conversion("double"),
    "date_add": calculations.date_add,
    "date_trunc": calculations.of_date("unit", calculations.UNITS, "date"),
    "date_ceil": calculations.of_date("unit", calculations.UNITS, "date"),
    "date_part": calculations.of_date("part", calculations.PARTS, "int"),
    "document": calculations.a_document,
    "list": calculations.a_list,
}
"""How each form is read, by the key it begins with."""


def read_named(values: dict[str, Any], forms: Forms, saved_by: dict[str, list[str]], places: Any) -> "NamedValues":
    """Reads every named value, each after those that it refers to."""
    named = NamedValues(values, forms, saved_by, places)
    for name in values:
        named.get(name, ("values", name))
    return named


@dataclass
class NamedValues:
    """The named values of a workload, in an order in which each refers to earlier ones only."""

    given: dict[str, Any]
    forms: Forms
    saved_by: dict[str, list[str]]
    places: Any
    nodes: dict[str, Node] = field(default_factory=dict)
    _under_way: list[str] = field(default_factory=list)

    def get(self, name: str, path: Path) -> tuple[int, Node] | None:
        """The place of a value and what it is; None where there is none. `path` is where it is named."""
        if name not in self.given:
            return None
        if name not in self.nodes:
            self._read(name, path)
        return list(self.nodes).index(name), self.nodes[name]

    def _read(self, name: str, path: Path) -> None:
        if name in self._under_way:
            circle = " → ".join(f"${each}" for each in (*self._under_way[self._under_way.index(name) :], name))
            raise Problem(path, f"is defined in a circle: {circle}", "let one of them not refer to the others")
        if name in BUILT_IN:
            raise Problem(("values", name), f"${name} is built in", f"choose another name: my_{name}")
        if not name.replace("_", "a").isalnum() or name[:1].isdigit():
            hint = "take letters, digits and _, a letter first"
            raise Problem(("values", name), f"{shown(name)} can't name a value", hint)
        self._under_way.append(name)
        scope = self.scope()
        scope.is_named_value = True
        node = self.forms.read(self.given[name], ("values", name), scope)
        self._under_way.pop()
        self.nodes[name] = node

    def scope(self) -> Scope:
        """What `$name` means outside steps."""
        return Scope(
            tuple(self.given),
            self.get,
            self.forms.read,
            saved_by=self.saved_by,
            looks_like_form=looks_like_form,
            places=self.places,
        )

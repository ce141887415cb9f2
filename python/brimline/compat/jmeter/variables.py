"""Owns what `${…}` means in a plan: variables that the plan defines, columns of files, what steps save, functions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from brimline.compat.jmeter.document import Element, shown_name
from brimline.compat.jmeter.expressions import Call, Part, Variable, parts_of
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.texts import Ref, Text, operand
from brimline.spec.own.expressions import BUILT_IN

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_NAME_MAX: Final = 40
_EXPANSIONS_MAX: Final = 1_000
_EXPANSIONS_TOGETHER_MAX: Final = 1_000_000
_DEPTH_MAX: Final = 20
_PROPERTIES: Final = {"__P": 1, "__property": 2}
"""Functions that read a property, and which argument is its default."""

Function = Callable[["Asked"], "Text | None"]
"""Makes a text of what is asked; None where there is no counterpart."""


class _WithoutEndError(Exception):
    """Variables whose values have variables, whose values have variables."""


@dataclass
class Variables:
    """The variables of a plan, and the values that a workload gets for them.

    `constants` are user defined variables as written, `properties` those of the command line. `given` are references to
    what files give, `saved` to what steps save, by JMeter's name. `values` are the workload's by their names. `ends`:
    whether threads stop where the rows of a file end.
    """

    remarks: Remarks
    functions: Mapping[str, Function]
    properties: Mapping[str, str]
    constants: dict[str, str] = field(default_factory=dict)
    given: dict[str, Ref] = field(default_factory=dict)
    saved: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    ends: bool = False
    _expansions: int = 0
    _all_expansions: int = 0

    def name(self, wanted: str) -> str:
        """A name for a value, that none has yet."""
        word = _NOT_IN_A_NAME.sub("_", wanted).strip("_")[:_NAME_MAX] or "value"
        word = word if word[0].isalpha() else f"v_{word}"
        name, number = word, 1
        while name in self.values or name in BUILT_IN or name in self.saved.values():
            number += 1
            name = f"{word}_{number}"
        return name

    def define(self, wanted: str, form: Any, source: str) -> Ref:
        """A new value, called like `wanted`."""
        name = self.name(wanted)
        self.values[name] = form
        return Ref(name, source)

    def will_save(self, variable: str) -> str:
        """The name under which steps save what JMeter calls `variable`."""
        if variable not in self.saved:
            self.saved[variable] = self.name(variable)
        return self.saved[variable]

    def text(self, written: str, element: Element) -> Text:
        """A property's text, with its variables and functions."""
        self._expansions = 0
        try:
            return self._text(written, element, ())
        except _WithoutEndError:
            why = "its variables have values that have variables, too many of them"
            self.remarks.lose(element, f"{why}, and is sent as it stands", "write the value itself")
            return Text((written,))

    def constant(self, written: str) -> str | None:
        """A property that must be known beforehand, without blanks around it; None where it isn't."""
        self._expansions = 0
        try:
            found = self._constant(written, 0)
        except _WithoutEndError:
            return None
        return None if found is None else found.strip()

    def number(self, written: str) -> float | None:
        """A property that is a number known beforehand."""
        try:
            return float(self.constant(written) or "")
        except ValueError:
            return None

    def _constant(self, written: str, depth: int) -> str | None:
        found: list[str] = []
        for part in parts_of(written) if depth < _DEPTH_MAX else [Variable("")]:
            known = part if isinstance(part, str) else self._known(part, depth)
            if known is None:
                return None
            self._count(len(known))
            found.append(known)
        return "".join(found)

    def _known(self, part: Variable | Call, depth: int) -> str | None:
        if isinstance(part, Variable):
            written = self.constants.get(part.name)
            return None if written is None or part.name in self.saved else self._constant(written, depth + 1)
        written = self._property(part)
        return None if written is None else self._constant(written, depth + 1)

    def _property(self, call: Call) -> str | None:
        """What a function that reads a property gives; None of all others."""
        if call.name not in _PROPERTIES or not call.arguments:
            return None
        name, place = call.arguments[0], _PROPERTIES[call.name]
        default = call.arguments[place] if len(call.arguments) > place else "1" if call.name == "__P" else name
        return self.properties.get(name, default)

    def _count(self, length: int) -> None:
        """Counts an expansion: variables of variables grow without an end. Raises _WithoutEndError."""
        self._expansions += 1 + length // 100
        self._all_expansions += 1
        if self._expansions > _EXPANSIONS_MAX or self._all_expansions > _EXPANSIONS_TOGETHER_MAX:
            raise _WithoutEndError

    def _text(self, written: str, element: Element, within: tuple[str, ...]) -> Text:
        found = Text()
        for part in parts_of(written):
            found += Text((part,)) if isinstance(part, str) else self._reference(part, element, within)
        return found

    def _reference(self, part: Part, element: Element, within: tuple[str, ...]) -> Text:
        self._count(0)
        if len(within) >= _DEPTH_MAX:
            return self._as_written(part, element, "refers to itself, or to too many others", "write its value there")
        if isinstance(part, Variable):
            return self._variable(part, element, within)
        if not isinstance(part, Call):
            return Text((part,))
        if (known := self._property(part)) is not None:
            return self._text(known, element, (*within, part.name))
        function = self.functions.get(part.name)
        made = None if function is None else function(Asked(self, part, element))
        if made is not None:
            return made
        return self._as_written(part, element, "has no counterpart", "give its value as a variable or a CSV column")

    def _variable(self, part: Variable, element: Element, within: tuple[str, ...]) -> Text:
        otherwise: Text | None = None
        if part.name in self.given:
            otherwise = Text((self.given[part.name],))
        elif part.name in self.constants and part.name not in within:
            otherwise = self._text(self.constants[part.name], element, (*within, part.name))
            if otherwise.constant is None and not otherwise.is_saved:
                form = operand(otherwise)
                self.given[part.name] = self.define(part.name, form, str(part))
                otherwise = Text((self.given[part.name],))
        if part.name in self.saved:
            return Text((Ref(self.saved[part.name], str(part), True, otherwise),))
        if otherwise is not None:
            return otherwise
        return self._as_written(part, element, "is defined nowhere", "define it, or give the value")

    def _as_written(self, part: Part, element: Element, why: str, instead: str) -> Text:
        self.remarks.lose(element, f"{shown_name(str(part))} {why}, and is sent as it stands", instead)
        return Text((str(part),))


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of a function by an element."""

    variables: Variables
    call: Call
    element: Element

    def argument(self, place: int) -> str:
        """An argument as written; nothing where it isn't given."""
        return self.call.arguments[place] if len(self.call.arguments) > place else ""

    def constant(self, written: str) -> str | None:
        """An argument that must be known beforehand; None where it isn't."""
        return self.variables.constant(written)

    def number(self, written: str) -> float | None:
        """An argument that is a number known beforehand."""
        return self.variables.number(written)

    def text(self, written: str) -> Text:
        """An argument as text with values."""
        return self.variables.text(written, self.element)

    def change(self, how: str) -> None:
        """The function is taken over in another form."""
        self.variables.remarks.change(self.element, f"{shown_name(self.call.source)} {how}")

    def made(self, form: Any, variable: str = "") -> Text:
        """A value for the call; JMeter keeps it under `variable` too, where one is named."""
        found = self.variables.define(variable or self.call.name.strip("_").lower(), form, self.call.source)
        if variable:
            self.variables.given.setdefault(variable, found)
        return Text((found,))

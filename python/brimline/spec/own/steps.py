"""Owns how a list of steps is read, whatever their protocol: kinds, pauses, names, what they expect and save."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from brimline.spec import readers
from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope
from brimline.spec.own.forms import Forms
from brimline.spec.own.keys import check_keys, choice, mapping
from brimline.spec.own.options import duration_ns
from brimline.spec.own.problems import Problem
from brimline.spec.own.protocols import STEPS, unknown_kind
from brimline.spec.own.step_kind import BESIDE_COMMAND, BESIDE_KIND, ProtocolName, StepKind
from brimline.spec.readers import shown

_LAWS: Final = ("constant", "exponential")
_NAME_LENGTH_MAX: Final = 80


@dataclass
class StepReader(ABC):
    """Reads the steps of one operation, whose names it keeps apart. `slots` are the places of saved values."""

    protocol: ProtocolName
    forms: Forms
    scope: Scope
    slots: dict[str, int]

    def __post_init__(self) -> None:
        self._names: set[str] = set()
        self._think_time: dict[str, Any] | None = None
        self._steps = STEPS[self.protocol]

    def read(self, items: Any, path: Path, *, in_transaction: bool = False) -> list[dict[str, Any]]:
        """The commands of a list of steps."""
        if not isinstance(items, list) or not items:
            raise Problem(path, "must be a list of steps", f"write it like [{self._steps.example}]")
        made: list[dict[str, Any]] = []
        for number, item in enumerate(items):
            made += self.step(item, (*path, number), in_transaction=in_transaction)
        if self._think_time is not None and not in_transaction:
            raise Problem(
                path, "ends with a think_time", "a pause stands before a step; that of a load is load.think_time"
            )
        return made

    def step(self, item: Any, path: Path, *, in_transaction: bool = False) -> list[dict[str, Any]]:
        """The commands of one step."""
        step = mapping(item, path, self._steps.example)
        kinds = [key for key in step if key in self._steps.names]
        if len(kinds) > 1:
            raise Problem(
                (*path, kinds[1]), f"is a second step beside {kinds[0]}", "begin each step with a - of its own"
            )
        if "think_time" in step:
            self._pause(step["think_time"], (*path, "think_time"))
        if not kinds:
            if list(step) == ["think_time"]:
                return []
            raise unknown_kind([key for key in step if key not in BESIDE_KIND], path, self.protocol)
        kind = kinds[0]
        check_keys(step, path, (*BESIDE_KIND, kind, *BESIDE_COMMAND.get(kind, ())))
        if kind == "transaction":
            if in_transaction:
                raise Problem((*path, kind), "is a transaction inside a transaction", "let one follow the other")
            for name in ("save", "expect"):
                if name in step:
                    hint = f"write {name} at one of its steps"
                    raise Problem((*path, name), "has no place beside transaction", hint)
            return self._transaction(step, path)
        if in_transaction:
            self._check_in_transaction(kind, step[kind], (*path, kind))
        return [self._finish(each) for each in self._commands(kind, step, path)]

    @abstractmethod
    def _commands(self, kind: str, step: dict[str, Any], path: Path) -> Iterator[dict[str, Any]]:
        """What is sent for a step that is no transaction."""

    @abstractmethod
    def _transaction(self, step: dict[str, Any], path: Path) -> list[dict[str, Any]]:
        """What is sent for a transaction."""

    def _check_in_transaction(self, kind: str, given: Any, path: Path) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuses what no transaction may have."""

    def _inside(self, given: Any, path: Path) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """The steps of a transaction, and the pause before its commit."""
        made = self.read(given, path, in_transaction=True)
        if not made:
            raise Problem(path, "has no step", f"write a step such as {self._steps.example}")
        for each in made:
            each["transaction"] = "inside"
        pause, self._think_time = self._think_time, None
        return made, pause

    def _finish(self, made: dict[str, Any]) -> dict[str, Any]:
        """The pause that was written before, and the limits of a message."""
        made["think_time"], self._think_time = self._think_time, None
        return made

    def _pause(self, value: Any, path: Path) -> None:
        if self._think_time is not None:
            raise Problem(path, "is a second pause in a row", "make it one")
        law = "constant"
        mean = value
        if isinstance(value, dict):
            check_keys(value, path, ("mean", "law"), required=("mean",))
            law, mean = choice(value.get("law", law), (*path, "law"), _LAWS), value["mean"]
        nanoseconds = duration_ns(mean, (*path, "mean") if isinstance(value, dict) else path)
        if not 0 < nanoseconds <= readers.DAY_NS:
            raise Problem(path, f"must be above 0 and at most 1d, but is {shown(mean)}", "write think_time: 20ms")
        self._think_time = {"mean_ns": nanoseconds, "law": law}

    def _made(self, name: str, step: dict[str, Any], path: Path, *, kind: StepKind | None) -> dict[str, Any]:
        """What all steps have: a name of their own, what they expect, what they save."""
        expect, save = [], []
        if "expect" in step:
            expect = self._steps.expect(step["expect"], (*path, "expect"), self.scope, kind)
        if "save" in step:
            save = self._steps.save(step["save"], (*path, "save"), self.scope, kind, self.slots)
        return {
            "name": self._name(step.get("name"), name, (*path, "name")),
            "transaction": None,
            "expect": expect,
            "save": save,
        }

    def _name(self, given: Any, default: str, path: Path) -> str:
        if given is not None:
            if not isinstance(given, str) or not _is_line(given) or len(given) > _NAME_LENGTH_MAX:
                hint = f"take text of at most {_NAME_LENGTH_MAX} characters on one line"
                raise Problem(path, f"{shown(given)} can't name a step", hint)
            if given in self._names:
                raise Problem(path, f"there are two steps called {shown(given)}", "give each its own name")
            self._names.add(given)
            return given
        name, number = default, 1
        while name in self._names:
            number += 1
            name = f"{default} {number}"
        self._names.add(name)
        return name


def _is_line(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()

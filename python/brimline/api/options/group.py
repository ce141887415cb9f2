"""Owns what a group of options is: each is declared once, for the command line, for Python and for the reference."""

import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from brimline.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How a field of a group is said on the command line. `flags`, apart by a blank: "-q --quiet"; "" for an argument.

    `path`: what it changes in a spec. `excludes` and `requires` name fields of the same group. `types`: of the value,
    without None; the first is the command line's. `default` is None also where it is made for each call.
    """

    flags: str
    metavar: str
    help: str
    path: str | None
    excludes: tuple[str, ...]
    requires: tuple[str, ...]
    field: str = ""
    types: tuple[Any, ...] = ()
    default: Any = None

    @property
    def name(self) -> str:
        """As errors name it."""
        return self.flags.rpartition(" ")[2] or self.metavar

    @property
    def repeatable(self) -> bool:
        """Whether the value is a sequence, so that the option may be given several times."""
        return get_origin(self.types[0]) is Sequence


def option(
    flags: str,
    metavar: str,
    help: str,  # noqa: A002 (what it is)
    *,
    default: object = None,
    factory: Callable[[], object] | None = None,
    path: str | None = None,
    excludes: tuple[str, ...] = (),
    requires: tuple[str, ...] = (),
) -> Any:
    """A field of a group, as a dataclass has it; see `Option`. `factory` makes the default of each call."""
    said = Option(flags=flags, metavar=metavar, help=help, path=path, excludes=excludes, requires=requires)
    if factory is not None:
        return field(default_factory=factory, metadata={Option: said})
    return field(default=default, metadata={Option: said})


def declared(group: "type[Group]") -> dict[str, Option]:
    """The options of a group by their fields, in the order in which they are declared."""
    hints, found = get_type_hints(group), {}
    for each in fields(group):
        if Option in each.metadata:
            hint = hints[each.name]
            union = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
            types = tuple(kind for kind in union if kind is not NoneType)
            default = None if each.default is MISSING else each.default
            found[each.name] = replace(each.metadata[Option], field=each.name, types=types, default=default)
    return found


@dataclass(frozen=True, kw_only=True)
class Group:
    """A frozen dataclass whose fields are options. What isn't said is the default.

    Raises UsageError, which names the field, for a value of another type, and for options that contradict each other.
    Without slots, so that the surroundings of a verb can have the fields of several groups.
    """

    title: ClassVar[str] = "Options"

    def __post_init__(self) -> None:
        every, given = declared(type(self)), self.given
        for name, each in given.items():
            value = getattr(self, name)
            if not any(_is_of(value, kind) for kind in each.types):
                raise UsageError(
                    f"{name} is {_described(each.types[0])}, not {type(value).__name__} ({value!r:.40})",
                    hint=f"{type(self).__name__} says what each one takes; or leave it out",
                )
            if Path in each.types:
                object.__setattr__(self, name, Path(value))
            for other in each.excludes:
                if other in given:
                    both = f"{each.name} and {given[other].name}"
                    raise UsageError(f"{both} exclude each other", hint="give one of them")
            missing = [every[other].name for other in each.requires if other not in given]
            if missing:
                raise UsageError(
                    f"{each.name} has no effect without {missing[0]}",
                    hint=f"give {missing[0]} as well, or leave {each.name} out",
                )

    @property
    def given(self) -> dict[str, Option]:
        """The options that say something else than their defaults, by field."""
        return {name: each for name, each in declared(type(self)).items() if not self._is_default(each)}

    def _is_default(self, each: Option) -> bool:
        value = getattr(self, each.field)
        return value is None or (value == each.default and type(value) is type(each.default))

    @property
    def overrides(self) -> dict[str, object]:
        """What is said about the workload, by spec path; None where nothing is."""
        every = declared(type(self))
        return {each.path: getattr(self, name) for name, each in every.items() if each.path is not None}


def _is_of(value: object, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str)
    if kind in (int, float, Path):
        taken: Any = {int: int, float: int | float, Path: str | os.PathLike}[kind]
        return isinstance(value, taken) and not isinstance(value, bool)
    return isinstance(value, kind)


def _described(kind: Any) -> str:
    """What may be given, for an error."""
    if get_origin(kind) is Sequence:
        return "a list of texts"
    choices = get_args(kind) or (tuple(kind) if issubclass(kind, Enum) else ())
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    return {str: "text", bool: "True or False", Path: "a path"}.get(kind, "a number")

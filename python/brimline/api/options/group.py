"""Owns what a group of options is: each is declared once, for the command line, for Python and for the reference.

And what a value may be: one of another type is refused by the name that it was given under, also to a function.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from brimline.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")


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
            types = tuple(kind for kind in _kinds(hints[each.name]) if kind is not NoneType)
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
            _require(name, value, each.types, hint=f"{type(self).__name__} says what each one takes; or leave it out")
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


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """A function for notebooks, which raises UsageError, with the parameter's name, for a value of another type."""
    parameters = signature(function).parameters
    by_place = [each.name for each in parameters.values() if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    kinds: dict[str, tuple[Any, ...]] = {}
    for each in parameters.values():
        if each.kind is Parameter.VAR_KEYWORD:  # of a TypedDict, whose keys they are
            kinds |= {name: _kinds(kind) for name, kind in get_type_hints(get_args(each.annotation)[0]).items()}
        else:
            kinds[each.name] = _kinds(each.annotation)

    @wraps(function)
    def call(*by_order: P.args, **by_name: P.kwargs) -> R:
        given = {**dict(zip(by_place, by_order, strict=False)), **by_name}
        for name, value in given.items():
            if name in kinds:
                _require(name, value, kinds[name], hint=f"help({function.__name__}) says what each one takes")
        return function(*by_order, **by_name)

    return call


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """What a value may be."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _require(name: str, value: object, kinds: Sequence[Any], *, hint: str) -> None:
    if not any(_is_of(value, kind) for kind in kinds):
        wanted = _described(Path if Path in kinds else kinds[0])
        raise UsageError(f"{name} is {wanted}, not {type(value).__name__} ({value!r:.40})", hint=hint)


def _is_of(value: object, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str)
    if kind in (int, float, Path):
        taken: Any = {int: int, float: int | float, Path: str | os.PathLike}[kind]
        return isinstance(value, taken) and not isinstance(value, bool)
    return kind is Any or isinstance(value, get_origin(kind) or kind)


def _described(kind: Any) -> str:
    """What may be given, for an error."""
    if get_origin(kind) in (Sequence, Mapping):
        return "a list of texts" if get_origin(kind) is Sequence else "a dictionary"
    choices = get_args(kind) or (tuple(kind) if issubclass(kind, Enum) else ())
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    if issubclass(kind, int | float) and kind is not bool:
        return "a number"
    return {str: "text", bool: "True or False", Path: "a path"}.get(kind, f"of {kind.__name__}")

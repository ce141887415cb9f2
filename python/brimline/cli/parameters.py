"""Owns what the parameter of a verb says of itself, for completion of command lines and for forms."""

from collections.abc import Iterator
from enum import Enum
from inspect import Parameter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer


def info_of(parameter: Parameter) -> Any:
    """What typer is told of it: help, metavar, flags."""
    return get_args(parameter.annotation)[1]


def is_argument(parameter: Parameter) -> bool:
    """Whether it has a place instead of a flag."""
    return get_origin(parameter.annotation) is Annotated and isinstance(info_of(parameter), typer.models.ArgumentInfo)


def kind_of(parameter: Parameter) -> Any:
    """The type of a value, without None."""
    hint = get_args(parameter.annotation)[0]
    if get_origin(hint) in (Union, UnionType):
        return next((each for each in get_args(hint) if each is not NoneType), hint)
    return hint


def takes_value(parameter: Parameter) -> bool:
    """Whether an option is followed by a value."""
    return not is_argument(parameter) and kind_of(parameter) is not bool


def is_list(parameter: Parameter) -> bool:
    """Whether it may be given several times."""
    return get_origin(kind_of(parameter)) is list


def choices_of(parameter: Parameter) -> tuple[str, ...]:
    """The values that there are where there are so many and no others; empty for what is free."""
    kind = kind_of(parameter)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(each.value) for each in kind)
    return tuple(_literals(get_args(parameter.annotation)[0]))


def _literals(hint: Any) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from map(str, get_args(hint))

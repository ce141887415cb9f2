"""Owns how a verb takes groups of options: typer sees each option, the verb gets the groups.

    @grouped
    def scan(workload: WorkloadOptions, server: Annotated[ServerOptions, without("null")], …) -> int:

What a verb alone has is a group without a title, or a parameter. It stands in the place of an option of the same name
of another group.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import typer

from brimline.api.options.group import Group, Option, declared
from brimline.errors import UsageError


@dataclass(frozen=True, slots=True)
class Taken:
    """Which options of a group a verb takes, those of `names` or all others; `helps`: what it says of them instead."""

    names: tuple[str, ...]
    only: bool
    helps: Mapping[str, str]


def only(*names: str, **helps: str) -> Taken:
    """These options of a group have a meaning for the verb, and no others."""
    return Taken((*names, *helps), only=True, helps=helps)


def without(*names: str, **helps: str) -> Taken:
    """All but these options of a group have a meaning for the verb."""
    return Taken(names, only=False, helps=helps)


@dataclass(frozen=True, slots=True)
class GoingOn:
    """The option `--resume DIR` of an experiment, which is `what` to its user; `beside`: what may be given as well."""

    what: str
    beside: tuple[str, ...]


def going_on_with(what: str, *beside: str) -> GoingOn:
    """`--resume DIR`. Of what is measured only the parameters `beside` may be given with it."""
    return GoingOn(what, beside)


OWN = Group.title
"""The part of the help with what one verb alone has."""
_TAKE_ALL = without()
_SURROUNDING = ("server", "data", "output")
"""Groups that say nothing of what is measured."""


def grouped(verb: Callable[..., int]) -> Callable[..., int]:
    """The verb as typer calls it, with an option for each field of its groups. Raises UsageError as the groups do."""
    taken_by = inspect.signature(verb).parameters
    own = _own_names(taken_by.values())
    groups: dict[str, tuple[type[Group], list[Option]]] = {}
    parameters: list[inspect.Parameter] = []
    resume: GoingOn | None = None
    for name, each in taken_by.items():
        kind, extra = _parts(each.annotation)
        if isinstance(extra, GoingOn):
            resume = extra
            parameters.append(_resume_parameter(extra))
        elif isinstance(kind, type) and issubclass(kind, Group):
            taken = extra if isinstance(extra, Taken) else _TAKE_ALL
            options = [
                option
                for option in declared(kind).values()
                if (option.field in taken.names) is taken.only and (kind.title == OWN or option.field not in own)
            ]
            groups[name] = kind, options
            parameters += [_parameter(option, kind.title, taken.helps) for option in options]
        else:
            parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    free = {option.field for name in _SURROUNDING if name in groups for option in groups[name][1]}
    fixed = [each for each in parameters if each.name not in free]

    @functools.wraps(verb)
    def called(context: typer.Context | None = None, **values: Any) -> int:
        if resume is not None and context is not None and values["resume"] is not None:
            _refuse_beside(resume, fixed, context)
        made = {name: kind(**_said(options, values)) for name, (kind, options) in groups.items()}
        return verb(**made, **values)

    asked = [_keyword("context", typer.Context, inspect.Parameter.empty)] if resume is not None else []
    called.__signature__ = inspect.Signature([*parameters, *asked])  # type: ignore[attr-defined]
    return called


def _own_names(parameters: Iterable[inspect.Parameter]) -> set[str]:
    """The options of the verb alone: those of its own group, and parameters that are no groups."""
    kinds = {each.name: _parts(each.annotation)[0] for each in parameters}
    groups = {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Group)}
    return kinds.keys() - groups.keys() | {
        field for kind in groups.values() if kind.title == OWN for field in declared(kind)
    }


def _parts(annotation: Any) -> tuple[Any, Any]:
    return get_args(annotation)[:2] if get_origin(annotation) is Annotated else (annotation, None)


def _parameter(each: Option, panel: str, helps: Mapping[str, str]) -> inspect.Parameter:
    kind = each.types[0]
    kind = list[get_args(kind)[0]] if each.repeatable else kind  # type: ignore[misc]
    default = None if each.repeatable else each.default
    said: dict[str, Any] = {
        "metavar": each.metavar or None,
        "help": helps.get(each.field, each.help),
        "show_default": default is not None,
    }
    flags = each.flags.split()
    info = typer.Option(*flags, rich_help_panel=panel, **said) if flags else typer.Argument(**said)
    hint = kind if default is not None else kind | None
    return _keyword(each.field, Annotated[hint, info], default)


def _resume_parameter(resume: GoingOn) -> inspect.Parameter:
    told = f"Go on with {resume.what} that was cut short."
    info = typer.Option("--resume", metavar="DIR", help=told, show_default=False)
    return _keyword("resume", Annotated[str | None, info], None)


def _keyword(name: str, annotation: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _said(options: Sequence[Option], values: dict[str, Any]) -> dict[str, Any]:
    """What was said of a group, taken out of `values`; typer's None is that nothing was."""
    said = {each: values.pop(each.field) for each in options}
    return {each.field: tuple(it) if each.repeatable else it for each, it in said.items() if it is not None}


def _refuse_beside(resume: GoingOn, parameters: Sequence[inspect.Parameter], context: typer.Context) -> None:
    """What is gone on with is as it was begun. Raises UsageError for an option that says something of it again."""
    given = [
        _flag(each)
        for each in parameters
        if each.name not in ("resume", *resume.beside) and _is_given(each.name, context)
    ]
    if given:
        noun = resume.what.partition(" ")[2]
        raise UsageError(
            f"--resume goes on with the {noun} as it was begun, and {given[0]} is given as well",
            hint=f"leave {' and '.join(given)} out",
        )


def _is_given(name: str, context: typer.Context) -> bool:
    """Whether an option stands on the command line, be it with the value that it has by default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def flags_of(verb: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a verb by their flags."""
    return {flag: each for each in inspect.signature(verb).parameters.values() for flag in _flags(each)}


def _flag(parameter: inspect.Parameter) -> str:
    """As errors name a parameter."""
    flags = _flags(parameter)
    return flags[-1] if flags else str(get_args(parameter.annotation)[1].metavar)


def _flags(parameter: inspect.Parameter) -> list[str]:
    _, info = _parts(parameter.annotation)
    decls = () if info is None else (info.default, *(info.param_decls or ()))
    return [each for each in decls if isinstance(each, str)]

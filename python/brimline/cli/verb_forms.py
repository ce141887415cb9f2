"""Owns which verbs the page can start, and the form of each: it follows from the verb's parameters."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import typer

from brimline.cli.app import VERBS
from brimline.cli.grouped import flags_of
from brimline.cli.parameters import choices_of, info_of, is_argument, is_list, kind_of
from brimline.spec import shipped_workloads
from brimline.study.spec import shipped_studies
from brimline.ui.forms import Field, FieldKind, VerbForm

STARTED: Final = (
    ("run",),
    ("load",),
    ("capacity",),
    ("sweep",),
    ("scan",),
    ("grow",),
    ("ab",),
    ("interfere",),
    ("study", "run"),
)
"""What measures, and is about a server that it reaches over the network or starts itself."""
_NOT_IN_A_FORM: Final = frozenset(
    {
        "--uri",
        "--runs-dir",
        "--lang",
        "--json",
        "--quiet",
        "--details",
        "--resume",
        "--resume-design",
        "-p",
        "-P",
        "--levels",
    }
)
"""What the page says itself, or has other ways for; options that are paths are left out as well."""
_DOCUMENTS: Final[dict[str, Callable[[], list[str]]]] = {
    "WORKLOAD": shipped_workloads,
    "SPEC_A": shipped_workloads,
    "SPEC_B": shipped_workloads,
    "STUDY": lambda: list(shipped_studies()),
}
"""Arguments that are documents, and which of them come with brimline."""


def verb_forms() -> list[VerbForm]:
    """A form for each verb that can be started."""
    return [_form(words) for words in STARTED]


def _form(words: tuple[str, ...]) -> VerbForm:
    function = _function(words)
    flags = flags_of(function)
    return VerbForm(
        words=words,
        line=VERBS[words[0]].line,
        fields=(*_arguments(function), *_options(function)),
        always=tuple(flag for flag in ("--json",) if flag in flags),
        has_server="--uri" in flags,
    )


def _function(words: tuple[str, ...]) -> Callable[..., Any]:
    found = VERBS[words[0]].imported()
    if not isinstance(found, typer.Typer):
        return found
    inner = {each.name or getattr(each.callback, "__name__", ""): each.callback for each in found.registered_commands}
    called = inner[words[1]]
    assert called is not None  # noqa: S101 - each of a group's verbs has a function
    return called


def _arguments(function: Callable[..., Any]) -> Iterator[Field]:
    for each in inspect.signature(function).parameters.values():
        if is_argument(each):
            name = str(info_of(each).metavar)
            kind: FieldKind = "document" if name in _DOCUMENTS else "lines" if is_list(each) else "text"
            choices = tuple(_DOCUMENTS[name]()) if name in _DOCUMENTS else ()
            yield Field(
                name=name, help=info_of(each).help, kind=kind, panel="Workload", choices=choices, is_argument=True
            )


def _options(function: Callable[..., Any]) -> Iterator[Field]:
    by_parameter = {each.name: (flag, each) for flag, each in flags_of(function).items() if flag.startswith("-")}
    for flag, each in by_parameter.values():
        if flag in _NOT_IN_A_FORM or kind_of(each) is Path or is_argument(each):
            continue
        kind = kind_of(each)
        choices = choices_of(each)
        shape: FieldKind = "text"
        if kind is bool:
            shape = "flag"
        elif choices:
            shape = "choice"
        elif is_list(each):
            shape = "lines"
        elif kind in (int, float):
            shape = "number"
        default = "" if each.default in (None, False, inspect.Parameter.empty) or kind is bool else str(each.default)
        panel = info_of(each).rich_help_panel or "Options"
        yield Field(name=flag, help=info_of(each).help or "", kind=shape, panel=panel, choices=choices, default=default)

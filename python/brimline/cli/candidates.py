"""Owns what may stand at the end of an unfinished command line: verbs, options, and values that have names."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from brimline.analysis.metrics import KINDS as FIGURES
from brimline.api.options import default_runs_directory
from brimline.cli.app import VERBS
from brimline.cli.grouped import flags_of
from brimline.cli.parameters import choices_of, info_of, is_argument, is_list, kind_of, takes_value
from brimline.experiments.vary.factor_kinds import KINDS as FACTORS
from brimline.experiments.vary.factor_kinds import WORKLOAD
from brimline.record import list_records
from brimline.servers.catalogue import RELEASES
from brimline.servers.lab.names import EXAMPLES
from brimline.servers.lab.state import labs_directory, stored_labs
from brimline.servers.state import is_own
from brimline.spec import shipped_workloads
from brimline.wording import shortened

FILES: Final = ":files"
_LENGTH_MAX: Final = 60
"""Characters of a description, so that it stays on its line."""
Named = Mapping[str, str]
"""Words that may stand there, each with what it is."""
_HELP: Final = {"--help": "What there is."}
_PROGRAM: Final = {**_HELP, "--version": "Print the version."}


def candidates(words: Sequence[str]) -> Named:
    """What the last of `words`, which is unfinished, can become; `FILES` is among it where a file's name may stand."""
    *before, last = words or [""]
    verbs: Mapping[str, Any] = {name: each.imported for name, each in VERBS.items()}
    lines: Named = {name: each.line for name, each in VERBS.items()}
    others: Named = _PROGRAM
    while True:
        at = next((number for number, word in enumerate(before) if not word.startswith("-")), None)
        if at is None:
            return _begun(last, {**lines, **(others if last.startswith("-") else {})})
        if before[at] not in verbs:
            return {}
        called, before = verbs[before[at]](), before[at + 1 :]
        if not isinstance(called, typer.Typer):
            return _of_verb(called, before, last)
        inner = {str(each.name or getattr(each.callback, "__name__", "")): each for each in called.registered_commands}
        verbs = {name: lambda each=each: each.callback for name, each in inner.items()}
        lines = {name: _first_line(each.callback) for name, each in inner.items()}
        others = _HELP


def _of_verb(called: Callable[..., Any], before: Sequence[str], last: str) -> Named:
    options = flags_of(called)
    valued = {flag for flag, each in options.items() if takes_value(each)}
    name, separator, value = last.partition("=")
    if before and before[-1] in valued:
        return _values(before[-1], options[before[-1]], last)
    if separator and name in valued:
        found = _values(name, options[name], value)
        return {word if word == FILES else f"{name}={word}": said for word, said in found.items()}
    if last.startswith("-"):
        return _begun(last, {flag: info_of(each).help or "" for flag, each in options.items()} | _HELP)
    arguments = [each for each in inspect.signature(called).parameters.values() if is_argument(each)]
    given = [word for prior, word in zip(("", *before), before, strict=False) if prior not in valued]
    place = sum(not word.startswith("-") for word in given)
    if arguments and (place < len(arguments) or is_list(arguments[-1])):
        argument = arguments[min(place, len(arguments) - 1)]
        return _values(info_of(argument).metavar or "", argument, last)
    return {}


def _values(name: str, parameter: inspect.Parameter, last: str) -> Named:
    """What an option or an argument, called `name`, can be."""
    if choices := choices_of(parameter):
        return _begun(last, dict.fromkeys(choices, ""))
    if name in _NAMED:
        return _NAMED[name](last)
    return {FILES: ""} if kind_of(parameter) is Path or info_of(parameter).metavar in ("FILE", "DIR") else {}


def _factors(last: str) -> Named:
    """`topology=standalone,sharded-2`: the factor, then levels."""
    name, separator, levels = last.partition("=")
    if not separator:
        return _begun(last, {f"{factor}=": each.what for factor, each in FACTORS.items()})
    chosen = levels.rpartition(",")[0]
    known = shipped_workloads() if name == WORKLOAD else FACTORS[name].levels if name in FACTORS else ()
    before = f"{name}={chosen}," if chosen else f"{name}="
    return _begun(last, {f"{before}{level}": "" for level in known if level not in chosen.split(",")})


def _figures(last: str) -> Named:
    chosen = last.rpartition(",")[0]
    return _begun(last, {f"{chosen},{name}" if chosen else name: "" for name in FIGURES})


def _records(last: str) -> Named:
    found = [entry.directory.name for entry in reversed(list_records(default_runs_directory()))]
    return {**_begun(last, dict.fromkeys(["latest", *found], "")), FILES: ""}


def _labs(last: str) -> Named:
    directory = labs_directory()
    return _begun(last, {lab.name: lab.topology for lab in stored_labs(directory)} if is_own(directory) else {})


def _of(words: Iterable[str]) -> Callable[[str], Named]:
    known = dict.fromkeys(words, "")
    return lambda last: _begun(last, known)


_NAMED: Final[Mapping[str, Callable[[str], Named]]] = {
    "WORKLOAD": lambda last: {**_begun(last, dict.fromkeys(shipped_workloads(), "")), FILES: ""},
    "RECORD": _records,
    "A... [vs] B...": _records,
    "NAME": _labs,
    "--vary": _factors,
    "--show": _figures,
    "--lang": _of(("en", "zh")),
    "--topology": _of(EXAMPLES),
    "--server-version": _of(each.version for each in RELEASES),
}
"""By an option's flag or an argument's name: the values that have names."""


def _begun(last: str, known: Named) -> Named:
    return {word: said for word, said in known.items() if word.startswith(last)}


def _first_line(function: Callable[..., Any] | None) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def lines_for(found: Mapping[str, str], shell: str) -> str:
    """What may stand there, with what each is, as the script of a shell reads it."""
    lines = []
    for word, said in found.items():
        short = shortened(said, _LENGTH_MAX)
        if word == FILES or shell == "bash":
            lines.append(word)
        elif shell == "zsh":
            name = word.replace(":", "\\:")
            lines.append(f"{name}:{short}" if short else name)
        else:
            lines.append(f"{word}\t{short}")
    return "".join(f"{line}\n" for line in lines)

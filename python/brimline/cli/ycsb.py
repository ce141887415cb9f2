"""Owns `brimline ycsb`: YCSB's command line. Its long flags have one dash, so it is parsed here."""

import difflib
import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Final, NoReturn, cast

import typer

from brimline.api.options import Options
from brimline.api.ycsb import ycsb as ycsb_api
from brimline.cli.mongo_flags import hint_for
from brimline.cli.output import RECORD_KEPT, printing
from brimline.cli.words import redact_words
from brimline.errors import UsageError, redact_word
from brimline.spec.properties import Assignment
from brimline.spec.ycsb_front import Phase
from brimline.spec.ycsb_properties import ADDRESS_HINT

_USAGE: Final = (
    "brimline ycsb load|run mongodb [-P FILE]... [-p NAME=VALUE]... "
    "[-threads N] [-target N] [-s] [-l LABEL] [-db CLASS]"
)
_PHASES: Final = {"load": "-load", "run": "-t"}
_BINDING: Final = "mongodb"
_OTHER_DRIVERS: Final = ("mongodb-async", "mongodb-reactive")
_BINDING_CLASS: Final = "site.ycsb.db.MongoDbClient"
_PROPERTY_OF_FLAG: Final = {"-threads": "threadcount", "-target": "target", "-l": "label", "-db": "db"}
_HELP: Final = ("-h", "-help", "--help")
_WITHOUT_MEANING: Final = {
    "-cp": "there is no class path",
    "-jvm-args": "there is no JVM",
}


@dataclass(slots=True)
class _Words:
    """What a command line asks for. `properties` are assignments in the order given: a later one counts."""

    property_files: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)


def ycsb(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="load or run, mongodb, and YCSB's flags: -P -p -threads -target -s -l.", show_default=False
        ),
    ] = None,
) -> int:
    """Load or run as YCSB does: same flags, same properties, same output."""
    given = words or []
    if any(word in _HELP for word in given) and not _names_host(given):
        typer.echo(f"Usage: {_USAGE}\n\ndocs/ycsb.md says what is the same and what differs on purpose.")
        return 0
    phase, flags = _phase(given)
    parsed = _parse(flags, phase)
    client_words = [_PHASES[phase], "-db", _BINDING_CLASS, *redact_words(flags)]
    _talk(f"Command line: {' '.join(client_words)}")
    options = Options(command=redact_words(("brimline", "ycsb", *given)))
    result = ycsb_api(
        phase,
        property_files=parsed.property_files,
        properties=parsed.properties,
        options=options,
        say=_say,
        talk=_talk,
    )
    if result.error is not None:
        raise result.error
    return 0


def _names_host(given: Sequence[str]) -> bool:
    """Whether `-h` has a value, as in MongoDB's own tools."""
    return any(word == "-h" and not after.startswith("-") for word, after in itertools.pairwise(given))


def _say(text: str) -> None:
    with printing(hint=RECORD_KEPT):
        sys.stdout.write(text)


def _talk(line: str) -> None:
    with suppress(BrokenPipeError):  # nobody listens any more, which is no reason to stop measuring
        print(line, file=sys.stderr, flush=True)  # noqa: T201


def _phase(given: Sequence[str]) -> tuple[Phase, Sequence[str]]:
    if len(given) < 2:
        raise UsageError("ycsb needs a phase and a binding", hint=f"usage: {_USAGE}")
    phase, binding, *flags = given
    if phase not in _PHASES:
        raise UsageError(f'ycsb can load and run, not "{phase}"', hint=f"usage: {_USAGE}")
    if binding != _BINDING:
        hint = "the only one is mongodb"
        if binding in _OTHER_DRIVERS:
            hint = "mongodb does the same work by brimline's own client; through the reactive driver: brimline "
            hint += f"{phase} -P FILE --client java-reactive"
        raise UsageError(f'"{binding}" is not a binding of brimline', hint=hint)
    return cast("Phase", phase), flags


def _parse(flags: Sequence[str], phase: Phase) -> _Words:
    parsed = _Words()
    rest = iter(flags)
    for flag in rest:
        if flag == "-P":
            parsed.property_files.append(_value(flag, rest))
        elif flag == "-p":
            parsed.properties.append(_value(flag, rest))
        elif flag == _PHASES[phase]:
            continue  # what the phase says already
        elif flag in _PHASES.values():
            raise UsageError(f"{flag} contradicts ycsb {phase}", hint=f"remove {flag}, or say the other phase")
        elif flag == "-s":
            parsed.properties.append("status=true")
        elif flag in _PROPERTY_OF_FLAG:
            parsed.properties.append(Assignment(f"{_PROPERTY_OF_FLAG[flag]}={_value(flag, rest)}", flag=flag))
        else:
            _refuse(flag)
    return parsed


def _value(flag: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise UsageError(f"{flag} needs a value", hint=f"usage: {_USAGE}")
    return value


def _refuse(flag: str) -> NoReturn:
    name, _, _ = flag.partition("=")
    if name in _WITHOUT_MEANING:
        raise UsageError(f"{name} would have no effect", hint=_WITHOUT_MEANING[name])
    if hint_for(name) or hint_for(f"-{name}") or name.strip("-") in ("uri", "url"):
        raise UsageError(f'ycsb has no flag "{redact_word(name)}"', hint=ADDRESS_HINT)
    known = ("-P", "-p", "-s", *_PROPERTY_OF_FLAG)
    near = difflib.get_close_matches(f"-{flag.strip('-')}", known, n=1)
    raise UsageError(
        f'ycsb has no flag "{redact_word(flag)}"',
        hint=f'did you mean "{near[0]}"' if near else f"usage: {_USAGE}",
    )

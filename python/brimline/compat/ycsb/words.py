"""Owns the command line of YCSB's client: its phase, its flags, and what they mean as properties. Pure."""

import difflib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn, cast

from brimline.compat.mongo_tools.flags import hint_for
from brimline.errors import UsageError, redact_word
from brimline.spec.properties import Assignment
from brimline.spec.ycsb_front import Phase
from brimline.spec.ycsb_properties import ADDRESS_HINT

USAGE: Final = (
    "brimline ycsb load|run mongodb|mongodb-async [-P FILE]... [-p NAME=VALUE]... "
    "[-threads N] [-target N] [-s] [-l LABEL] [-db CLASS]"
)
_PHASES: Final = {"load": "-load", "run": "-t"}


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding of YCSB's: the class that its script names, and the client that stands for its driver."""

    class_name: str
    client: str


BINDINGS: Final = {
    "mongodb": Binding("site.ycsb.db.MongoDbClient", "wire"),
    "mongodb-async": Binding("site.ycsb.db.AsyncMongoDbClient", "java-reactive"),
}
_PROPERTY_OF_FLAG: Final = {"-threads": "threadcount", "-target": "target", "-l": "label", "-db": "db"}
_HELP: Final = ("-h", "-help", "--help")
_WITHOUT_MEANING: Final = {
    "-cp": "there is no class path",
    "-jvm-args": "there is no JVM",
}


@dataclass(slots=True)
class YcsbWords:
    """What a command line asks for. `properties` are assignments in the order given: a later one counts."""

    property_files: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)


def wants_help(given: Sequence[str]) -> bool:
    """Whether it asks for the help, and for nothing that `-h` means elsewhere."""
    return any(word in _HELP for word in given) and not _names_host(given)


def _names_host(given: Sequence[str]) -> bool:
    """Whether `-h` has a value, as in MongoDB's own tools."""
    return any(word == "-h" and not after.startswith("-") for word, after in itertools.pairwise(given))


def client_words(phase: Phase, binding: Binding, flags: Sequence[str]) -> list[str]:
    """The words that YCSB's script hands to its client for these `flags`."""
    return [_PHASES[phase], "-db", binding.class_name, *flags]


def phase_of(given: Sequence[str]) -> tuple[Phase, Binding, Sequence[str]]:
    """The phase, the binding, and the flags behind it. Raises UsageError for anything that isn't one of MongoDB."""
    if len(given) < 2:
        raise UsageError("ycsb needs a phase and a binding", hint=f"usage: {USAGE}")
    phase, binding, *flags = given
    if phase not in _PHASES:
        raise UsageError(f'ycsb can load and run, not "{phase}"', hint=f"usage: {USAGE}")
    if binding not in BINDINGS:
        hint = "there are mongodb, by brimline's own client, and mongodb-async, by the reactive driver for Java"
        raise UsageError(f'"{binding}" is not a binding of brimline', hint=hint)
    return cast("Phase", phase), BINDINGS[binding], flags


def parse_words(flags: Sequence[str], phase: Phase) -> YcsbWords:
    """What `flags` say. Raises UsageError for one that is unknown, would have no effect, or names a server."""
    parsed = YcsbWords()
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
        raise UsageError(f"{flag} needs a value", hint=f"usage: {USAGE}")
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
        hint=f'did you mean "{near[0]}"' if near else f"usage: {USAGE}",
    )

"""Owns the form of a verb: its fields, which follow from its options, and what of a filled one becomes words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from brimline.errors import UsageError, redact_text

FieldKind = Literal["text", "number", "choice", "flag", "lines", "document"]
OWN_TEXT: Final = "own text"
"""The choice of a document that is typed in beside it; it is the name of no shipped one."""
TEXT_OF: Final = " text"
"""Behind a field's name: the text of a document of one's own."""
ADDRESS: Final = "uri"
PASSWORD: Final = "password"  # noqa: S105 (what it is called)
"""Fields that become variables of the environment, which no list of processes shows."""
_WORDS_MAX: Final = 2_000
"""Characters of a value: a list of levels is long, and nothing is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An option or an argument. `name` is its flag, of an argument what help calls it.

    Of a `document` the `choices` are shipped ones; `lines` has a value on each line.
    """

    name: str
    help: str
    kind: FieldKind
    panel: str
    choices: tuple[str, ...] = ()
    default: str = ""
    is_argument: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbForm:
    """A verb that can be started: its words, and what may be said to it. `has_server`: it takes an address."""

    words: tuple[str, ...]
    line: str
    fields: tuple[Field, ...]
    always: tuple[str, ...] = ()
    has_server: bool = False

    @property
    def name(self) -> str:
        """As people call it."""
        return " ".join(self.words)

    @property
    def panels(self) -> dict[str, list[Field]]:
        """The fields by what they are about, in order."""
        found: dict[str, list[Field]] = {}
        for field in self.fields:
            found.setdefault(field.panel, []).append(field)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What a form says: options and arguments as words, and documents of one's own by the place of their argument."""

    options: tuple[str, ...]
    arguments: tuple[str, ...]
    documents: dict[int, str]
    address: str | None
    password: str | None


def filled(form: VerbForm, given: Sequence[tuple[str, str]]) -> Filled:
    """The words of a filled form. Raises UsageError for a field that it hasn't, and for a value that is none.

    An option and its value are one word, so that no value is read as an option.
    """
    said = {name: value.replace("\r\n", "\n").strip() for name, value in given}
    known = {field.name: field for field in form.fields}
    texts = {f"{name}{TEXT_OF}" for name, field in known.items() if field.kind == "document"}
    for name in said:
        if name not in known and name not in texts and name not in (ADDRESS, PASSWORD):
            raise UsageError(f"the form of {form.name} has no {name[:40]}", hint="load the page again")
    options: list[str] = []
    arguments: list[str] = []
    documents: dict[int, str] = {}
    for name, field in known.items():
        value = said.get(name, "")
        if field.kind == "document":
            if value == OWN_TEXT:
                documents[len(arguments)] = _own_text(name, said)
            elif value:
                _require(value in field.choices, name, "is none of the shipped ones")
            if value:
                arguments.append(value)
        elif field.kind == "flag":
            options += [name] if value else []
        elif value and value != field.default:
            lines = [line.strip() for line in value.split("\n") if line.strip()] if field.kind == "lines" else [value]
            for line in lines:
                _require_value(field, line)
            if field.is_argument:
                arguments += lines
            else:
                options += [f"{name}={line}" for line in lines]
    return Filled(
        options=tuple(options),
        arguments=tuple(arguments),
        documents=documents,
        address=said.get(ADDRESS) or None,
        password=said.get(PASSWORD) or None,
    )


def _own_text(name: str, said: dict[str, str]) -> str:
    text = said.get(f"{name}{TEXT_OF}", "")
    _require(bool(text), name, "has no text")
    return text


def _require_value(field: Field, value: str) -> None:
    _require(value.isprintable() and len(value) <= _WORDS_MAX, field.name, "is no value")
    _require(
        redact_text(value) == value, field.name, "holds a password; addresses with one belong into the field for it"
    )
    _require(not field.choices or value in field.choices, field.name, "is none of the choices")


def _require(holds: bool, name: str, problem: str) -> None:
    if not holds:
        raise UsageError(f"{name} {problem}", hint="go back to the form")

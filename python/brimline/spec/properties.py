r"""Owns the syntax of Java's property files, as `java.util.Properties.load` defines it.

Logical lines end at LF, CR or CRLF, or go on after an odd number of backslashes; `#` or `!` begins a comment;
a key ends at the first `=`, `:` or blank that is not escaped; `\uXXXX`, `\t`, `\n`, `\r` and `\f` stand
for characters. Bytes are Latin-1. One thing is stricter than Java: a key that occurs twice in a file is
refused, as one of the two is a slip.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from brimline.errors import SpecError, redact_word

FILE_BYTES_MAX = 256 * 1024
_BY_NAME = "-p"
_SAVE_AS = "save it as UTF-8 without a byte order mark"
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<character>.))", re.DOTALL)
_ESCAPED_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY_END = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")


@dataclass(frozen=True, slots=True)
class Property:
    """A value and where it was given: "workloada:12", "-p", or the flag that stands for it."""

    value: str
    origin: str

    @property
    def flag(self) -> str:
        """The flag that gave it without naming it: "-threads"; else ""."""
        return self.origin if self.origin.startswith("-") and self.origin != _BY_NAME else ""

    @property
    def by_word(self) -> bool:
        """Whether it was given on the command line, for this one call; what stands in a file is for others too."""
        return self.origin == _BY_NAME or bool(self.flag)


def parse_properties(data: bytes, source: str) -> dict[str, Property]:
    """Reads a property file. Raises SpecError, which names `source` and the line."""
    if len(data) > FILE_BYTES_MAX:
        raise SpecError(
            f"{source} is larger than {FILE_BYTES_MAX // 1024} KiB", hint="properties are a few lines of text"
        )
    _check_encoding(data, source)
    properties: dict[str, Property] = {}
    for number, line in _logical_lines(data.decode("latin-1")):
        origin = f"{source}:{number}"
        key, value = _split(line, origin)
        if key in properties:
            first = properties[key].origin
            raise SpecError(
                f"{origin}: {key}: the property occurs twice; it is at {first} already",
                path=key,
                line=number,
                hint="remove one of the two; -p overrides a file, and a later -P an earlier one",
            )
        properties[key] = Property(value, origin)
    return properties


def _check_encoding(data: bytes, source: str) -> None:
    """Refuses what Java would read as other keys than were meant. Raises SpecError."""
    if data.startswith(codecs.BOM_UTF8):
        # To Java it is part of the first key, which then names nothing.
        raise SpecError(
            f"{source}:1: begins with a byte order mark", line=1, hint="save it without one (UTF-8, no BOM)"
        )
    if data.startswith(_UTF_16_MARKS):
        raise SpecError(f"{source}:1: is UTF-16 text, which no property file is", line=1, hint=_SAVE_AS)
    if (place := data.find(b"\0")) >= 0:
        # Every other byte of UTF-16 without its mark; no property has one.
        line = data.count(b"\n", 0, place) + 1
        raise SpecError(f"{source}:{line}: holds a zero byte, as UTF-16 text does", line=line, hint=_SAVE_AS)


class Assignment(str):
    """A `k=v` that a flag of its own stands for, such as -threads for `threadcount`."""

    __slots__ = ("flag",)

    flag: str

    def __new__(cls, text: str, *, flag: str) -> Self:
        """`flag` is what the user wrote."""
        assignment = super().__new__(cls, text)
        assignment.flag = flag
        return assignment


def parse_assignment(text: str) -> tuple[str, Property]:
    """Reads the `k=v` of `-p k=v`. No escapes here: the shell has its own."""
    key, separator, value = text.partition("=")
    key = key.strip()
    if not separator or not key:
        raise SpecError(f'-p "{redact_word(text)}" is no assignment', hint="write -p name=value")
    return key, Property(value.strip(), text.flag if isinstance(text, Assignment) else _BY_NAME)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Number of the first natural line, and the line with its continuations; comments are left out."""
    pending: str | None = None
    first = 0
    for number, natural in enumerate(_LINE_END.split(text), start=1):
        line = natural.lstrip(_BLANKS)
        if pending is None:
            if not line or line[0] in "#!":
                continue
            pending, first = "", number
        if _is_continued(line):
            pending += line[:-1]
            continue
        yield first, pending + line
        pending = None
    if pending:
        yield first, pending


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str, origin: str) -> tuple[str, str]:
    key_match = _KEY_END.match(line)
    key = key_match.group() if key_match else ""
    separator = _SEPARATOR.match(line, len(key))
    value = line[separator.end() if separator else len(key) :]
    return _unescape(key, origin), _unescape(value, origin)


def _unescape(text: str, origin: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match["code"]:
            return chr(int(match["code"], 16))
        if match["character"] == "u":
            raise SpecError(
                f"{origin}: \\u is not followed by four hexadecimal digits",
                hint="write it like \\u0041, or \\\\ for a backslash",
            )
        return _ESCAPED_CHARACTERS.get(match["character"], match["character"])

    return _ESCAPE.sub(replace, text)

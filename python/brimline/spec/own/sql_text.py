"""Owns the text of an SQL statement: where its parameters are, its first word, and the table that it is about.

What stands in quotes, between dollars or in a comment is text: a `$name` there is no parameter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from brimline.spec.document import Path
from brimline.spec.own.problems import Problem
from brimline.spec.own.templates import Plain, Reference
from brimline.spec.readers import shown

Dialect = Literal["mysql", "postgres"]
DIALECTS: Final[tuple[Dialect, ...]] = ("mysql", "postgres")
STATEMENT_CHARACTERS_MAX: Final = 1_000_000

_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"[^\W\d][\w$]*")
_NUMBER: Final = re.compile(r"\d[\w.]*")
_PARAMETER: Final = re.compile(r"\$(?:\{(?P<braced>[^{}]*)\}|(?P<name>[^\W\d]\w*(?:\.\w+)*))")
_DOLLAR_QUOTE: Final = re.compile(r"\$[^\W\d]\w*\$")
_DOLLAR: Final = re.compile(r"\$\$[^\W\d][\w$]*")
_MAIN_VERBS: Final = ("select", "insert", "update", "delete", "replace", "merge")
_WRITING: Final = ("insert", "update", "delete", "replace", "merge", "truncate", "into")
_SAME_AS: Final = {"start": "begin", "end": "commit", "abort": "rollback"}
_BEFORE_A_TABLE: Final = ("from", "into", "update", "table", "join", "call")
_BETWEEN: Final = ("only", "ignore", "low_priority", "delayed", "high_priority", "if", "not", "exists")


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a statement. `kind`: a word, a parameter, a sign, or text that is taken as it is."""

    kind: Literal["word", "parameter", "sign", "text", "space"]
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in one dialect: text and parameters in a row, what the server counts it as, and its table.

    `has_more`: a word in it says that it may write as well, such as a WITH that deletes, or SELECT … INTO.
    """

    parts: tuple[Plain | Reference, ...]
    verb: str
    table: str
    locks: bool
    has_more: bool
    ends_with_values: bool

    def text(self, dialect: Dialect) -> str:
        """The statement as it is prepared, its parameters as the dialect writes them."""
        made, number = "", 0
        for part in self.parts:
            if isinstance(part, Plain):
                made += part.text
            else:
                number += 1
                made += "?" if dialect == "mysql" else f"${number}"
        return made


def read_statement(text: str, path: Path, dialects: tuple[Dialect, ...]) -> dict[Dialect, Statement]:
    """The statement in each of `dialects`, which must agree about where its texts end. Raises Problem."""
    if len(text) > STATEMENT_CHARACTERS_MAX:
        raise Problem(path, f"is longer than {STATEMENT_CHARACTERS_MAX} characters", "make it shorter")
    if "\0" in text:
        raise Problem(path, "holds a NUL", "leave it out")
    made = {dialect: _read(list(_tokens(text, path, dialect)), path, dialect) for dialect in dialects}
    first = made[dialects[0]]
    for dialect, other in made.items():
        if [part for part in other.parts if isinstance(part, Reference)] != [
            part for part in first.parts if isinstance(part, Reference)
        ]:
            hint = "write '' for a quote in text, or sql: {mysql: …, postgres: …}"
            raise Problem(path, f"has a text that {dialect} and {dialects[0]} read in different ways", hint)
    return made


def _read(tokens: list[Token], path: Path, dialect: Dialect) -> Statement:
    said = [token for token in tokens if token.kind != "space"]
    if not said:
        raise Problem(path, "says nothing", 'write sql: "SELECT …"')
    while said and said[-1].text == ";":
        del said[-1]
    if any(token.text == ";" and token.kind == "sign" for token in said):
        raise Problem(path, "is more than one statement", "write one step for each, or a transaction")
    if not said:
        raise Problem(path, "says nothing", 'write sql: "SELECT …"')
    if any(token.text == "?" and token.kind == "sign" for token in said) and dialect == "mysql":
        hint = "write $name for a value; for an operator of PostgreSQL write sql: {postgres: …}"
        raise Problem(path, "has a ?, which is a parameter without a name", hint)
    words = [token.text.lower() if token.kind == "word" else "" for token in said]
    return Statement(
        parts=tuple(_parts(tokens)),
        verb=_verb(said, words, path),
        table=_table(said, words),
        locks="for" in words and words[-1] in ("update", "share", "locked", "nowait"),
        has_more=_has_more(said, words) or any(token.text.startswith(("/*!", "/*M!")) for token in tokens),
        ends_with_values=words[-1] in ("values", "value"),
    )


def _parts(tokens: list[Token]) -> Iterator[Plain | Reference]:
    """Text between parameters, without what ends the statement."""
    kept = list(tokens)
    while kept and (kept[-1].kind == "space" or kept[-1].text == ";"):
        del kept[-1]
    text = ""
    for token in kept:
        if token.kind == "parameter":
            if text:
                yield Plain(text)
            text = ""
            yield Reference(token.text)
        else:
            text += token.text
    if text:
        yield Plain(text)


def _verb(said: list[Token], words: list[str], path: Path) -> str:
    """What the server counts the statement as: of a WITH the statement that follows it."""
    depth = 0
    first = next((word for word in words if word), "")
    if not first:
        raise Problem(path, f"{shown(said[0].text)} begins no statement", 'write sql: "SELECT …"')
    if first == "with":
        for token, word in zip(said, words, strict=True):
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "sign" else 0
            if depth == 0 and word in _MAIN_VERBS:
                return word
    return _SAME_AS.get(first, first)


def _has_more(said: list[Token], words: list[str]) -> bool:
    """Whether a word behind the first writes. One that is called as a function, or is a column of a table, doesn't."""
    for place in range(1, len(words)):
        if words[place] in _WRITING and said[place - 1].text != ".":
            after = said[place + 1].text if place + 1 < len(said) else ""
            if after != "(":
                return True
    return False


def _table(said: list[Token], words: list[str]) -> str:
    """The table that a report names a statement by, "" where none is found."""
    for number, word in enumerate(words):
        if word not in _BEFORE_A_TABLE:
            continue
        rest = number + 1
        while rest < len(words) and words[rest] in _BETWEEN:
            rest += 1
        if rest < len(said) and said[rest].kind in ("word", "text"):
            return said[rest].text.strip('"`').replace("/", " ")
    return ""


def _tokens(text: str, path: Path, dialect: Dialect) -> Iterator[Token]:
    at = 0
    while at < len(text):
        token, length = _token(text, at, path, dialect)
        yield token
        at += length


def _token(text: str, at: int, path: Path, dialect: Dialect) -> tuple[Token, int]:
    sign = text[at]
    if match := _SPACE.match(text, at):
        return Token("space", match.group()), len(match.group())
    if length := _comment(text, at, path, dialect):
        # It is sent as well: some comments are hints.
        return Token("space", text[at : at + length]), length
    if sign in "'\"`":
        escapes = (sign == "'" and _has_escapes(text, at, dialect)) or (sign == '"' and dialect == "mysql")
        length = _quoted(text, at, path, escapes=escapes)
        return Token("text", text[at : at + length]), length
    if sign == "$":
        return _dollar(text, at, path)
    for pattern, kind in ((_WORD, "word"), (_NUMBER, "text")):
        if match := pattern.match(text, at):
            return Token("word" if kind == "word" else "text", match.group()), len(match.group())
    return Token("sign", sign), 1


def _comment(text: str, at: int, path: Path, dialect: Dialect) -> int:
    """How long the comment is that begins here; 0: none does."""
    begins = ("--", "#") if dialect == "mysql" else ("--",)
    if text.startswith(begins, at):
        # MariaDB wants a blank behind --, so that 5--1 is 6.
        if text.startswith("--", at) and dialect == "mysql" and text[at + 2 : at + 3].strip():
            return 0
        end = text.find("\n", at)
        return (len(text) if end < 0 else end) - at
    if not text.startswith("/*", at):
        return 0
    depth, place = 1, at + 2
    while depth:
        end = text.find("*/", place)
        if end < 0:
            raise Problem(path, "has a comment that isn't closed", "add */")
        inner = text.find("/*", place, end) if dialect == "postgres" else -1
        depth, place = (depth + 1, inner + 2) if inner >= 0 else (depth - 1, end + 2)
    return place - at


def _has_escapes(text: str, at: int, dialect: Dialect) -> bool:
    """Whether a backslash stands before a sign in a text: of PostgreSQL in E'…' alone."""
    if dialect == "mysql":
        return True
    before = text[at - 2 : at] if at > 1 else " " + text[:at]
    return before[-1:] in ("e", "E") and not (before[:1].isalnum() or before[:1] in ("_", "$"))


def _quoted(text: str, at: int, path: Path, *, escapes: bool) -> int:
    mark, place = text[at], at + 1
    while place < len(text):
        if escapes and text[place] == "\\":
            place += 2
        elif text[place] == mark:
            if text[place + 1 : place + 2] != mark:
                return place + 1 - at
            place += 2
        else:
            place += 1
    raise Problem(path, f"has a {mark} that isn't closed", f"add {mark}, or write {mark * 2} for the sign itself")


def _dollar(text: str, at: int, path: Path) -> tuple[Token, int]:
    if match := _DOLLAR_QUOTE.match(text, at):
        end = text.find(match.group(), match.end())
        if end >= 0:
            length = end + len(match.group()) - at
            return Token("text", text[at : at + length]), length
    if match := _DOLLAR.match(text, at):
        return Token("word", match.group()[1:]), len(match.group())
    if match := _PARAMETER.match(text, at):
        name = match["braced"] if match["braced"] is not None else match["name"]
        if not name:
            raise Problem(path, "has a ${} that names no value", "write ${name}")
        return Token("parameter", f"${name}"), len(match.group())
    after = text[at + 1 : at + 2]
    if after.isdigit():
        raise Problem(path, f"has ${after}, and parameters have names here", "write $name")
    if after == "$":
        raise Problem(path, "has $$, which begins no name", "write $body$ … $body$ around a text")
    raise Problem(path, "has a $ that names no value", "write $name, or $$name for a name that begins with $")

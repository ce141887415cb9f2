"""Owns which regular expressions are taken: what Rust's `regex` and every other kind of them mean the same by.

So an expression is checked when a workload is read, and the engine takes what was checked. Look-around and
back-references are not among them, as they can't be found in a time that grows with the text alone.

Source: the syntax of the crate `regex`.
"""

import re
from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown

PATTERN_CHARACTERS_MAX: Final = 1000
_REPEATS_MAX: Final = 1000
_GROUP: Final = re.compile(r"\?(?::|P?<[A-Za-z_]\w*>|[imsx]+\)|[imsx]+:)", re.ASCII)
_QUANTIFIER: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}", re.ASCII)
_ESCAPES: Final = frozenset("dDwWsSbBAznrtfv")
_CLASS_ESCAPES: Final = frozenset("dDwWsSnrtfv")
_HEXADECIMAL: Final = re.compile(r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}")
_POSIX: Final = re.compile(r"\[:\^?[a-z]+:\]")
_REFUSED_GROUPS: Final = (
    (("?=", "?!", "?<=", "?<!"), "look-around"),
    (("?P=", "?P>", "?&", "?R"), "a back-reference"),
    (("?>",), "an atomic group"),
    (("?#",), "a comment"),
    (("?(",), "a condition"),
)


def read_pattern(value: Any, path: Path, *, needs_group: bool = False) -> str:
    """A regular expression. Raises Problem."""
    if not isinstance(value, str) or not value:
        raise Problem(path, f"must be a regular expression, not {shown(value)}", "write it as text: 'id=([0-9]+)'")
    if len(value) > PATTERN_CHARACTERS_MAX:
        message = f"is longer than {PATTERN_CHARACTERS_MAX} characters"
        raise Problem(path, message, "take a part of it, which is found as well")
    groups = _Scanner(value, path).groups()
    if needs_group and not groups:
        hint = 'put ( ) around what is kept: name="t" value="(.*?)"'
        raise Problem(path, f"{shown(value)} has no group", hint)
    return value


class _Scanner:
    """Goes through an expression once, and makes of it what Python's `re` takes, which checks the rest."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._made: list[str] = []

    def groups(self) -> int:
        """How many groups there are, those without a capture left out."""
        while self._at < len(self._text):
            self._next()
        try:
            return re.compile("".join(self._made)).groups
        except (re.error, OverflowError, RecursionError) as error:
            reason = str(error).partition(" at position")[0]
            hint = "write \\ before a sign that stands for itself"
            raise Problem(self._path, f"is no regular expression: {reason}", hint) from None

    def _refuse(self, what: str, hint: str = "take the part of it that works without") -> Problem:
        message = f"{shown(self._text)} has {what}, which the engine's regular expressions don't have"
        return Problem(self._path, message, hint)

    def _take(self, length: int, made: str | None = None) -> None:
        part = self._text[self._at : self._at + length]
        self._made.append(part if made is None else made)
        self._at += length

    def _next(self) -> None:
        sign = self._text[self._at]
        if sign == "\\":
            self._escape(_ESCAPES)
        elif sign == "(":
            self._group()
        elif sign == "[":
            self._class()
        elif sign == "{":
            self._repeats()
        elif sign in "*+?":
            self._take(1)
            self._after_quantifier()
        else:
            self._take(1)

    def _after_quantifier(self) -> None:
        if self._text[self._at : self._at + 1] == "+":
            raise self._refuse("a possessive quantifier", "leave the second + out")
        if self._text[self._at : self._at + 1] == "?":
            self._take(1)
        if self._text[self._at : self._at + 1] in ("*", "+", "?", "{"):
            raise Problem(self._path, f"{shown(self._text)} repeats what is repeated", "put ( ) around the inner part")

    def _escape(self, known: frozenset[str]) -> None:
        after = self._text[self._at + 1 : self._at + 2]
        if match := _HEXADECIMAL.match(self._text, self._at + 1):
            self._take(1 + len(match.group()))
        elif after.isdigit() and after:
            raise self._refuse("a back-reference")
        elif after == "z" and after in known:
            self._take(2, r"\Z")
        elif after in known or (after and after.isascii() and not after.isalnum() and after not in "<>"):
            self._take(2)
        else:
            raise self._refuse(f"\\{after}", "write the sign itself, or [ ] with those that are meant")

    def _group(self) -> None:
        rest = self._text[self._at + 1 :]
        for begins, what in _REFUSED_GROUPS:
            if rest.startswith(begins):
                raise self._refuse(what)
        if not rest.startswith("?"):
            self._take(1)
            return
        match = _GROUP.match(rest)
        if match is None:
            raise self._refuse(f"({rest[:2]}", "groups begin with (, (?: or (?P<name>")
        made = match.group()
        if made.endswith(")"):
            # Python takes flags at the beginning alone.
            if self._at:
                raise Problem(self._path, f"{shown(self._text)} has flags in the middle", "begin it with (?i)")
            self._take(1 + len(made))
        else:
            self._take(1 + len(made), "(" + made.replace("?<", "?P<"))

    def _class(self) -> None:
        self._take(1)
        if self._text[self._at : self._at + 1] == "^":
            self._take(1)
        if self._text[self._at : self._at + 1] == "]":
            raise Problem(self._path, f"{shown(self._text)} begins a class with ]", "write \\] in it")
        while self._at < len(self._text):
            sign, two = self._text[self._at], self._text[self._at : self._at + 2]
            if sign == "]":
                self._take(1)
                return
            if sign == "\\":
                self._escape(_CLASS_ESCAPES)
            elif sign == "[":
                if match := _POSIX.match(self._text, self._at):
                    raise self._refuse(match.group(), "write the characters, such as a-z")
                raise Problem(self._path, f"{shown(self._text)} has a [ in a class", "write \\[ in it")
            elif two in ("&&", "--", "~~", "||"):
                raise Problem(self._path, f"{shown(self._text)} has {two} in a class", f"write it once, or \\{two[0]}")
            else:
                self._take(1)
        raise Problem(self._path, f"{shown(self._text)} has a [ that isn't closed", "write \\[ for the sign itself")

    def _repeats(self) -> None:
        match = _QUANTIFIER.match(self._text, self._at)
        if match is None:
            hint = "write \\{ for the sign itself, {2} or {2,5} for how often"
            raise Problem(self._path, f"{shown(self._text)} has a {{ that says no number", hint)
        if any(int(bound) > _REPEATS_MAX for bound in match.groups() if bound):
            raise Problem(self._path, f"{shown(self._text)} repeats more than {_REPEATS_MAX} times", "write + or *")
        self._take(len(match.group()))
        self._after_quantifier()

"""Owns the syntax of `${…}`: text with variables and functions in it, as JMeter's own parser takes it apart."""

from dataclasses import dataclass
from typing import Final

_DEPTH_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Variable:
    """`${name}`."""

    name: str

    def __str__(self) -> str:
        return f"${{{self.name}}}"


@dataclass(frozen=True, slots=True)
class Call:
    """`${__name(argument,…)}`; `source` is how it was written."""

    name: str
    arguments: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return self.source


Part = str | Variable | Call


def parts_of(text: str) -> list[Part]:
    """Constant text, variables and calls, in order. What isn't closed is constant text, as in JMeter."""
    parts: list[Part] = []
    plain: list[str] = []
    at = 0
    while at < len(text):
        end = _closing(text, at + 2) if text.startswith("${", at) else None
        if end is not None:
            if plain:
                parts.append("".join(plain))
                plain = []
            parts.append(_reference(text[at + 2 : end], text[at : end + 1]))
            at = end + 1
        elif text[at] == "\\" and text[at + 1 : at + 2] in ("$", "\\") and "${" in text:
            plain.append(text[at + 1])
            at += 2
        else:
            plain.append(text[at])
            at += 1
    if plain:
        parts.append("".join(plain))
    return parts


def _closing(text: str, start: int) -> int | None:
    """Where the brace is that closes what was opened before `start`."""
    depth, at = 1, start
    while at < len(text) and depth <= _DEPTH_MAX:
        if text[at] == "\\":
            at += 1
        elif text.startswith("${", at):
            depth += 1
            at += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return None


def _reference(inner: str, source: str) -> Part:
    name, opened, rest = inner.partition("(")
    if not name.strip().startswith("__"):
        return Variable(inner.strip())
    if not opened:
        return Call(name.strip(), (), source)
    closing = rest.rfind(")")
    return Call(name.strip(), tuple(_arguments(rest[:closing] if closing >= 0 else rest)), source)


def _arguments(text: str) -> list[str]:
    """The arguments between commas; a comma behind a backslash, or within another `${…}`, is none."""
    found, at, plain = [], 0, ""
    while at < len(text):
        end = _closing(text, at + 2) if text.startswith("${", at) else None
        if end is not None:
            plain, at = plain + text[at : end + 1], end + 1
        elif text[at] == "\\" and text[at + 1 : at + 2] in (",", "\\"):
            plain, at = plain + text[at + 1], at + 2
        elif text[at] == ",":
            found.append(plain.strip())
            plain, at = "", at + 1
        else:
            plain, at = plain + text[at], at + 1
    return [*found, plain.strip()] if found or plain.strip() else []

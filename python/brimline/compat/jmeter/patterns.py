"""Owns regular expressions of a plan, in Perl's syntax, as a workload takes them."""

import re

from brimline.spec.own.patterns import read_pattern
from brimline.spec.own.problems import Problem


def usable(pattern: str) -> bool:
    """Whether a workload may have it."""
    try:
        read_pattern(pattern, ())
    except Problem:
        return False
    return True


def literal(text: str) -> str:
    """A pattern that finds just this text."""
    return re.sub(r"([\\.+*?()|\[\]{}^$#&~\-])", r"\\\1", text)


def groups(pattern: str) -> list[int]:
    """Where the groups begin that are kept."""
    found: list[int] = []
    escaped = in_class = False
    for at, character in enumerate(pattern):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(" and not pattern.startswith("(?", at):
            found.append(at)
    return found


def with_one_group(pattern: str, number: int) -> str | None:
    """The same where only group `number` is kept, 0 being all of it; None where there is no such group."""
    opened = groups(pattern)
    if not 0 <= number <= len(opened):
        return None
    kept = opened[number - 1] if number else None
    made = "".join("(?:" if at in opened and at != kept else character for at, character in enumerate(pattern))
    return made if number else f"({made})"

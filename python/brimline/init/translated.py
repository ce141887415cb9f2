"""Owns what a translation of another tool's settings is: the text of a workload, and what it says of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.init.left_out import LeftOut
from brimline.init.yaml_text import yaml_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """The text of the workload, and the texts of files `beside` it by name."""

    text: str
    beside: Mapping[str, str]
    collections: int = 0
    operations: int
    not_taken: Sequence[str]


def used_values(values: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The values that `parts` of a workload, or values that they name, name."""
    text = yaml_text(parts)
    used: dict[str, Any] = {}
    while True:
        further = {
            name: form
            for name, form in values.items()
            if name not in used and _names(text + yaml_text(used) if used else text, name)
        }
        if not further:
            return {name: form for name, form in values.items() if name in used}
        used |= further


def _names(text: str, name: str) -> bool:
    for named in (f"${name}", f"${{{name}"):
        start = text.find(named)
        while start >= 0:
            following = text[start + len(named) : start + len(named) + 1]
            if not (following.isalnum() or following == "_"):
                return True
            start = text.find(named, start + 1)
    return False


def header_lines(first: Sequence[str], left: LeftOut, *, by: str) -> list[str]:
    """The comment on top of a workload: `first`, then what is not, or not as it was, `by` its place."""
    lines = list(first)
    if left.lost:
        lines += ["", f"Not taken over, by {by}:", *(f"- {each}" for each in left.lost)]
    if left.changed:
        lines += ["", f"Taken over in another form, by {by}:", *(f"- {each}" for each in left.changed)]
    return lines


def uuid_form() -> dict[str, Any]:
    """The value that is a random UUID (version 4) as text."""
    of = {length: {"kind": "string", "length": length, "alphabet": "hex"} for length in (3, 4, 8, 12)}
    variant = {"kind": "string", "length": 1, "alphabet": "89ab"}
    return {"kind": "text", "parts": [of[8], "-", of[4], "-4", of[3], "-", variant, of[3], "-", of[12]]}

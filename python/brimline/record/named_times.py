"""Owns CPU times by the name of a program in one cell of a row: `mongod 127.0.0.1:27018=1200;cc1plus=7`."""

import re
from collections.abc import Mapping

_MEANT = ";="
_TIME = re.compile("[0-9]{1,19}")


def named_times_text(times_ns: Mapping[str, int]) -> str:
    """The cell; names come from outside, and what can't be printed or would end one is a `?`."""
    return ";".join(f"{_plain(name)}={time_ns}" for name, time_ns in times_ns.items())


def read_named_times(text: object) -> dict[str, int]:
    """What a cell says; nothing of one that is empty or damaged."""
    if not isinstance(text, str):
        return {}
    parts = (part.rpartition("=") for part in text.split(";"))
    return {name: int(time) for name, _, time in parts if name and _TIME.fullmatch(time)}


def _plain(name: str) -> str:
    return "".join(each if each.isprintable() and each not in _MEANT else "?" for each in name)

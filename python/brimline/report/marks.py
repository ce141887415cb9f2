"""Owns the marks that formats put between words of a report: full-width ones where the words are Chinese."""

import re
from collections.abc import Iterable

_HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff]")


def comma_of(words: Iterable[str]) -> str:
    """What stands between words: the comma of Chinese where one of them is."""
    return "，" if any(map(_HAN.search, words)) else ", "


def labelled(label: str, value: str) -> str:
    """`label: value`."""
    return f"{label}{'：' if _HAN.match(label[-1:]) else ': '}{value}"


def noted(text: str, note: str) -> str:
    """`text (note)`, or `text` alone without a note."""
    if not note:
        return text
    return f"{text}（{note}）" if _HAN.search(note) or _HAN.match(text[-1:]) else f"{text} ({note})"

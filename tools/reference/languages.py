"""Owns saying a page of the reference in another language: its sentences, by the English ones that the code has."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

Say = Callable[[str], str]


def english(text: str) -> str:
    """As the code has it."""
    return text


def chinese(text: str) -> str:
    """In Chinese; what has none yet stays English, and a test names it."""
    return sentences().get(text, text)


@cache
def sentences() -> dict[str, str]:
    """The Chinese sentences by the English ones."""
    said: dict[str, str] = json.loads(Path(__file__).with_name("chinese.json").read_text(encoding="utf-8"))
    return said

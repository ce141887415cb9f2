"""Owns what of a study must not be stored: it is printed with its document, so that a password has no place in it."""

import re
from collections.abc import Sequence

from brimline.record.redaction import redact

_USER = re.compile(r"(?<=://)[^\s:/@?#,]+@")
"""A user alone, which is no secret: the password comes from a file."""


def holds_secret(word: str, before: str = "") -> bool:
    """Whether a word of a command, behind that `before` it, holds a password."""
    words = [before, _USER.sub("", word)]
    return bool(redact(words) != words)


def storable(words: Sequence[str]) -> list[str]:
    """`words` with `***` for each secret."""
    pairs = zip(("", *words), words, strict=False)
    return [redact([before, word])[1] if holds_secret(word, before) else word for before, word in pairs]

"""Owns the words of a command line as they may be printed and stored: without what must stay secret.

A text can't tell where a password ends, a word can. So each word is looked at for itself, and by the flag before it.
"""

import re
from collections.abc import Sequence
from typing import Final

from brimline.errors import is_secret_flag, redact_uri, redact_word
from brimline.process_list import MASK
from brimline.servers.uri_options import OPTION_NAMES
from brimline.spec.ycsb_properties import KNOWN_NAMES

_URI_OPTION: Final = re.compile(r"(?<=[?&;])(?P<name>[^?&;=]+)(?P<value>=[^&;]*)?")
_PROPERTY_NAMES: Final = frozenset(KNOWN_NAMES)
_URI_FLAGS: Final = frozenset({"--uri", "--from"})
_OF_YCSB: Final = frozenset({"maxpoolsize"})
"""Options of an address that are taken from YCSB's words only."""


def redact_words(words: Sequence[str]) -> tuple[str, ...]:
    """`words` with `***` for each secret.

    The value of a property or of a connection string's option that brimline doesn't know may be one.
    """
    return tuple(_shown(word, before) for before, word in zip(("", *words), words, strict=False))


def _shown(word: str, before: str) -> str:
    if before == "-p":
        return _assignment(word)
    if before in _URI_FLAGS:
        return _address(word)
    if is_secret_flag(before):
        return MASK
    if word.startswith("-p") and len(word) > len("-p"):
        return f"-p{_assignment(word.removeprefix('-p'))}"
    return _address(redact_word(word)) if "://" in word else redact_word(word)


def _address(text: str) -> str:
    return _URI_OPTION.sub(_option, redact_uri(text))


def _option(found: re.Match[str]) -> str:
    if found["name"].lower() in OPTION_NAMES | _OF_YCSB:
        return found[0]
    return MASK if found["value"] is None else f"{found['name']}={MASK}"


def _assignment(text: str) -> str:
    name, separator, value = text.partition("=")
    if not separator:
        return redact_word(text)
    if name.strip() not in _PROPERTY_NAMES:
        return f"{redact_word(name)}={MASK}"
    return f"{name}={_address(value)}"


def hide_secrets(message: str, words: Sequence[str]) -> str:
    """`message` with each of `words` that it repeats as it may be shown."""
    for word, shown in zip(words, redact_words(words), strict=True):
        if word != shown:
            message = message.replace(word, shown)
    return message

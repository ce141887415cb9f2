"""Owns what other users of the machine see of the command line: the process list shows the words that started it.

They lie in the process's own memory, where they can be written over (proc(5): `arg_start` and `arg_end` in
`/proc/PID/stat`, and `/proc/PID/mem`). Until this has run they can be seen, for as long as Python takes to start; a
password that comes from a file, a prompt or BRIMLINE_PASSWORD never is. It imports next to nothing: it comes first.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from brimline.errors import is_secret_flag, redact_uri, redact_word

MASK = "***"
PASSWORD_VARIABLE = "BRIMLINE_PASSWORD"  # noqa: S105 (the name of a variable)
"""Where a password may come from, besides a file and a prompt."""
_ARG_START, _ARG_END = 45, 46
"""Fields 48 and 49 of proc(5), counted from behind the program's name, which is field 2."""


def hide_secrets_at_once(words: Sequence[str]) -> None:
    """Hides what is a secret whatever the verb is. What only the verb's own options tell is hidden once it is known."""
    hide(words, (_shown(word, before) for before, word in zip(("", *words), words, strict=False)))


def hide(words: Sequence[str], shown: Iterable[str]) -> None:
    """Writes over those of `words`, the command line, that are shown otherwise. Where the kernel refuses, they stay."""
    secrets = [(word, instead) for word, instead in zip(words, shown, strict=True) if word != instead]
    if secrets:
        with suppress(OSError, ValueError, IndexError):
            _overwrite(secrets)


def _shown(word: str, before: str) -> str:
    if is_secret_flag(before):
        return MASK
    return redact_uri(word) if before == "--uri" else redact_word(word)


def _overwrite(secrets: Sequence[tuple[str, str]]) -> None:
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        memory.seek(start)
        area = memory.read(end - start)
        for word, shown in secrets:
            held = word.encode(errors="surrogateescape")
            kept = shown.encode(errors="surrogateescape")[: len(held)].ljust(len(held), b"\0")
            area = area.replace(held, kept)
        memory.seek(start)
        memory.write(area)

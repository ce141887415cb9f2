"""Owns what other users of the machine see of the command line: the process list shows the words that started it.

They lie in the process's own memory, where they can be written over (proc(5): `arg_start` and `arg_end` in
`/proc/PID/stat`, and `/proc/PID/mem`). Until this has run they can be seen; a password that comes from a file or from
BRIMLINE_PASSWORD never is.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from brimline.cli.words import redact_words

_ARG_START, _ARG_END = 45, 46
"""Fields 48 and 49 of proc(5), counted from behind the program's name, which is field 2."""


def hide_secrets_from_process_list(words: Sequence[str]) -> None:
    """Writes over those of `words`, the command line, that hold a secret. Where the kernel refuses, they stay."""
    secrets = [(word, shown) for word, shown in zip(words, redact_words(words), strict=True) if word != shown]
    if secrets:
        with suppress(OSError, ValueError, IndexError):
            _overwrite(secrets)


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

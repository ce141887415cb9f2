"""Owns what other users of the machine see of the command line: the process list shows the words that started it.

They lie in the process's own memory, where they can be written over (proc(5): `arg_end` in `/proc/PID/stat`, and
`/proc/PID/mem`). Until this has run they can be seen, for as long as Python itself takes to start; a password that
comes from a file, a prompt or BRIMLINE_PASSWORD never is. What tells a secret from other words takes as long again to
import. So all words go first, and those that are no secret come back.
"""

import os

MASK = "***"
PASSWORD_VARIABLE = "BRIMLINE_PASSWORD"  # noqa: S105 (the name of a variable)
"""Where a password may come from, besides a file and a prompt."""
_ARG_END = 46
"""Field 49 of proc(5), counted from behind the program's name, which is field 2."""
_hidden: tuple[list[str], int] | None = None
"""This process's words that were written over, and where in its memory the first of them begins."""


def hide_all(words: list[str]) -> None:
    """Takes `words`, which end this process's command line, out of the list. Where the kernel refuses, they stay."""
    global _hidden
    held = b"".join(b"%b\0" % os.fsencode(word) for word in words)
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 (pathlib takes milliseconds to import)
            start = int(file.read().rpartition(b")")[2].split()[_ARG_END]) - len(held)
        if _memory(start, len(held)) == held:
            _write(start, bytes(len(held)))
            _hidden = list(words), start
    except (OSError, ValueError, IndexError):
        return


def show(words: list[str], shown: list[str]) -> None:
    """Puts what is `shown` of each of `words` in its place, as far as it fits, if these words were hidden before."""
    if _hidden is None or _hidden[0] != words:
        return
    rooms = [(len(os.fsencode(word)), os.fsencode(instead)) for word, instead in zip(words, shown, strict=True)]
    try:
        _write(_hidden[1], b"".join(b"%b\0" % instead[:room].ljust(room, b"\0") for room, instead in rooms))
    except OSError:
        return


def show_but_secrets(words: list[str]) -> None:
    """Shows what is no secret whatever the verb is. What only the verb's own options tell is hidden soon after."""
    from brimline.errors import is_secret_flag, redact_uri, redact_word

    def visible(word: str, before: str) -> str:
        if is_secret_flag(before):
            return MASK
        return redact_uri(word) if before == "--uri" else redact_word(word)

    show(words, [visible(word, before) for before, word in zip(["", *words], words, strict=False)])


def _memory(start: int, size: int) -> bytes:
    file = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        return os.pread(file, size, start)
    finally:
        os.close(file)


def _write(start: int, area: bytes) -> None:
    file = os.open("/proc/self/mem", os.O_WRONLY)
    try:
        os.pwrite(file, area, start)
    finally:
        os.close(file)

"""Owns the reading of a foreign file: line by line in bounded memory, and errors that name the file and the line."""

import hashlib
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from brimline.errors import UsageError, visible
from brimline.record.imported import SourceFile

LINE_LENGTH_MAX = 1 << 20
"""Characters; a longer line is no line of a results file."""
HEAD_BYTES = 64 * 1024
_BLOCK_BYTES = 1 << 20
EPOCH_MS_MIN = 100_000_000_000
"""1973. No tool wrote a lower number of milliseconds: such are seconds."""
EPOCH_MS_MAX = 32_503_680_000_000
"""The year 3000."""
ELAPSED_MS_MAX = 7 * 86_400_000
SAMPLES_MAX = 10**9
"""Samples that one row may stand for, and threads that may be active."""
SAMPLE_BYTES_MAX = 1 << 40
ELAPSED_US_MAX = 1_000 * ELAPSED_MS_MAX
SPAN_S_MAX = 10 * 366 * 86_400
"""What a run may last."""
COUNT_MAX = 10**15
"""Beyond these a figure is damage, and the sums of a file's would not fit into 64 bits."""
FORMATS_HINT = "JMeter's JTL (CSV or XML), the output of YCSB and go-ycsb, and histogram logs (.hdr) can be read"
_WHOLE = re.compile(r"[0-9]{1,19}")
_DECIMAL = re.compile(r"[0-9]{1,300}(?:\.[0-9]{0,300})?(?:[eE][+-]?[0-9]{1,3})?")


def whole_number(text: str, *, most: int) -> int | None:
    """A whole number from 0 to `most`, written in digits; None for everything else."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and number <= most else None


def decimal_number(text: str, *, most: float) -> float | None:
    """A number from 0 to `most`; None for everything else, such as NaN and Infinity."""
    number = float(text) if _DECIMAL.fullmatch(text) else math.inf
    return number if number <= most else None


def bad_file(path: Path, problem: str, *, line: int | None = None, hint: str | None = None) -> UsageError:
    """The one error about a file: where, and what is wrong."""
    where = f"{path.name}:{line}" if line is not None else path.name
    return UsageError(f"{where}: {problem}", hint=hint)


def head_of(path: Path) -> bytes:
    """The first bytes of a file. Raises UsageError when it can't be read or is empty."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if not head:
        raise bad_file(path, "the file is empty", hint=FORMATS_HINT)
    return head


def open_text(path: Path) -> IO[str]:
    """The file as text. Raises UsageError.

    JMeter writes in whatever encoding its machine has, and messages only hold letters that matter: what is no
    UTF-8 is replaced.
    """
    try:
        return path.open(encoding="utf-8-sig", errors="replace", newline="")
    except OSError as error:
        raise unreadable(path, error) from error


def lines_of(stream: IO[str], path: Path, *, length_max: int = LINE_LENGTH_MAX) -> Iterator[str]:
    """The lines with their ends. Raises UsageError at one of more than `length_max` characters, or that is no text."""
    number = 0
    try:
        while line := stream.readline(length_max):
            number += 1
            if "\0" in line:
                raise bad_file(path, "this is no text", line=number, hint=FORMATS_HINT)
            if len(line) == length_max and not line.endswith("\n"):
                raise bad_file(path, f"the line is longer than {length_max} characters", line=number)
            yield line
    except OSError as error:
        raise unreadable(path, error) from error


def described(path: Path, form: str) -> SourceFile:
    """Size and digest of a file that was read. Raises UsageError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
            size_bytes = file.tell()
    except OSError as error:
        raise unreadable(path, error) from error
    return SourceFile(name=visible(path.name), format=form, size_bytes=size_bytes, sha256=digest.hexdigest())


def unreadable(path: Path, error: OSError) -> UsageError:
    """The error for a file that can't be read."""
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    hint = "name the files in it" if isinstance(error, IsADirectoryError) else "name a file that can be read"
    return UsageError(f"can't read {path}: {reason}", hint=hint)

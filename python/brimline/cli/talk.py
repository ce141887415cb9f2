"""Owns standard error where it can't be written: what is said there is lost, and nothing else is.

Progress and notes are talk beside the work. A full disk behind `2>log`, a reader that is gone or a closed descriptor
must cost neither the run nor its result on standard output.
"""

import io
import os
import sys
from pathlib import Path
from typing import Any

from brimline.errors import on_one_line


class _LossyFile(io.FileIO):
    """A file that takes what can't be written for written."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return memoryview(data).nbytes


def say(text: str) -> None:
    """A note on standard error, on one line whatever is in it: names of a server's and its words are."""
    sys.stderr.write(f"{on_one_line(text)}\n")
    sys.stderr.flush()


def let_talk_be_lost() -> None:
    """Makes the process' standard error one that never fails. One that somebody has put in its place is theirs."""
    if sys.stderr is None:  # closed; what is opened next would be standard error
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    elif (ours := sys.__stderr__) is not None and sys.stderr is ours:
        file = io.BufferedWriter(_LossyFile(ours.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, encoding=ours.encoding, errors=ours.errors, line_buffering=True)

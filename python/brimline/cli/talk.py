"""Owns standard error where it can't be written: what is said there is lost, and nothing else is.

Progress and notes are talk beside the work. A full disk behind `2>log`, a reader that is gone or a closed descriptor
must cost neither the run nor its result on standard output.
"""

import io
import os
import sys
from pathlib import Path
from typing import Any


class _LossyFile(io.FileIO):
    """A file that takes what can't be written for written."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return memoryview(data).nbytes


def let_talk_be_lost() -> None:
    """Makes the process' standard error one that never fails. One that somebody has put in its place is theirs."""
    before = sys.stderr
    if before is None:  # closed; what is opened next would be standard error
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    elif before is sys.__stderr__:
        file = io.BufferedWriter(_LossyFile(before.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, encoding=before.encoding, errors=before.errors, line_buffering=True)

"""Owns what a damaged record is to who reads it: one error that names its directory, whatever is wrong in it."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brimline.errors import RecordError
from brimline.record.files import DAMAGED_HINT

_SIGNS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, csv.Error)
"""What reading or analysing a file ends in when a value is missing, of another type, or out of all bounds."""
_REASON_LENGTH_MAX = 200


@contextmanager
def damage_told(directory: Path) -> Iterator[None]:
    """Around what reads the record in `directory`, or analyses what was read. Raises RecordError for a damaged one.

    Not around what measures: there such an exception is a defect of brimline.
    """
    try:
        yield
    except _SIGNS as error:
        raise RecordError(
            f"the record in {directory} is damaged: {_reason(error)}",
            hint=DAMAGED_HINT,
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    first_line = str(error).partition("\n")[0]
    return first_line[:_REASON_LENGTH_MAX] or type(error).__name__

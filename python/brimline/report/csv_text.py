"""Owns how rows become CSV that a spreadsheet opens without running any of it."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from brimline.errors import on_one_line


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading and its rows; None is an empty cell."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(harmless, rows))
    return output.getvalue()


_FORMULA = re.compile(r"[\s\ufffd]*[=+\-@\u2212\uff1d\uff0b\uff0d\uff20]")
"""How a formula begins: with one of these, typed as anybody types them, whatever blanks come before."""


def harmless(row: Iterable[Any]) -> list[Any]:
    """The cells of a row, of which a spreadsheet runs none as a formula; each text is kept on its line."""
    return [_harmless(value) if isinstance(value, str) else value for value in row]


@lru_cache(maxsize=1024)
def _harmless(value: str) -> str:
    text = on_one_line(value)
    return f"'{text}" if _FORMULA.match(text) else text

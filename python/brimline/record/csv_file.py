"""Owns rows of comma-separated values as records hold them: under one header, lines ended by a line feed."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from brimline.record.files import AppendOnlyFile
from brimline.record.pieces import PiecesFile


class CsvFile:
    """An append-only file of rows under one header; None is an empty cell. Raises RecordError.

    With `goes_on` rows are added to those of a file that is there, under its header. `in_pieces`: a full one is put
    aside, see `record.pieces`.
    """

    def __init__(self, path: Path, columns: tuple[str, ...], *, goes_on: bool = False, in_pieces: bool = False) -> None:
        is_there = goes_on and path.exists()
        head = csv_text([columns])
        self._file = PiecesFile(path, head=head) if in_pieces else AppendOnlyFile(path, goes_on=is_there)
        header = _header(path) if is_there else ()
        self._columns = header or columns
        if not header and not in_pieces:
            self._file.append(head)

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Adds rows whole or not at all; what isn't among the columns is left out."""
        self._file.append(csv_text([row.get(column) for column in self._columns] for row in rows))

    def sync(self) -> None:
        """Waits until the rows are on the disk."""
        self._file.sync()

    def close(self) -> None:
        """Closes the file; idempotent."""
        self._file.close()


def _header(path: Path) -> tuple[str, ...]:
    """The columns of a file; none where it is empty."""
    with path.open(newline="") as file:
        return tuple(next(csv.reader(file), ()))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as text."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()

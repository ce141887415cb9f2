"""Owns files of a record that go on in pieces: one that is full is numbered and compressed, and all are read as one.

`operations.csv` that is full becomes `operations.0001.csv.gz`, and rows go on in a new `operations.csv`. Each piece has
the file's head, so that any tool reads it alone. Whatever a crash leaves is whole: a piece is compressed beside itself,
and takes its place when it is on the disk.
"""

import gzip
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from brimline.errors import RecordError
from brimline.record.closing import Closing
from brimline.record.files import AppendOnlyFile, is_there, require_file
from brimline.record.layout import FILE_MODE, unreadable, unwritable

PIECE_BYTES_MAX = 32 * 1024 * 1024
"""Hours of one row a second. A piece is compressed while the engine measures, which takes a second for so much."""
_HEAD_LINES_MAX = 16
_NUMBER = re.compile(r"\.(\d{4,})$")


class PiecesFile(Closing):
    """An append-only file that begins a new piece when one is full.

    `head` begins the file and each further piece; it may also be set later, before anything is appended to the second.
    Raises RecordError as `AppendOnlyFile` does.
    """

    def __init__(self, path: Path, *, head: str = "") -> None:
        self._path = path
        self.head = head
        self._number = 0
        self._file = AppendOnlyFile(path)
        if head:
            self._file.append(head)

    def append(self, text: str) -> None:
        """Adds `text` whole or not at all."""
        if self._file.size_bytes > len(self.head) and self._file.size_bytes + len(text) > PIECE_BYTES_MAX:
            self._begin_piece()
        self._file.append(text)

    def sync(self) -> None:
        """Waits until the last piece is on the disk; the others are."""
        self._file.sync()

    def close(self) -> None:
        """Closes the file; idempotent."""
        self._file.close()

    def _begin_piece(self) -> None:
        self._file.sync()
        self._file.close()
        self._number += 1
        full = _piece(self._path, self._number)
        try:
            self._path.rename(full)
        except OSError as error:
            raise unwritable(self._path, error) from error
        with suppress(OSError):  # a disk without room for it keeps the piece as it is
            _compress(full)
        self._file = AppendOnlyFile(self._path)
        if self.head:
            self._file.append(self.head)


def pieces_of(path: Path) -> list[Path]:
    """The full pieces of a file, in order, without the one that goes on. Raises RecordError."""
    try:
        found = {
            int(number[1]): each
            for each in sorted(path.parent.glob(f"{path.stem}.*{path.suffix}*"))  # the compressed one comes last
            if (number := _NUMBER.search(each.name.removesuffix(".gz").removesuffix(path.suffix))) is not None
            and each.name.startswith(path.stem)
        }
    except OSError as error:
        raise unreadable(path, error) from error
    return [found[number] for number in sorted(found)]


def lines_of(path: Path) -> Iterator[str]:
    """The whole lines of a file and of its pieces, the head once; none when it isn't there.

    A last one without its line break was torn by a crash and is left out. Raises RecordError.
    """
    pieces = pieces_of(path)
    if is_there(path):
        require_file(path)
        pieces.append(path)
    head: list[str] | None = None
    for piece in pieces:
        lines = _lines(piece)
        begun = list(islice(lines, _HEAD_LINES_MAX))
        repeated = 0
        if head is not None:
            same = (ours == first for ours, first in zip(begun, head, strict=False))
            repeated = next((place for place, is_same in enumerate(same) if not is_same), len(begun))
        head = head or begun
        yield from begun[repeated:]
        yield from lines


def _lines(path: Path) -> Iterator[str]:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.endswith("\n"):
                    yield line
    except (OSError, EOFError) as error:
        raise unreadable(path, error) if isinstance(error, OSError) else RecordError(f"{path} is cut short") from error


def _piece(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.{number:04}{path.suffix}")


def _compress(path: Path) -> None:
    """Puts `path.gz` in its place once that is on the disk."""
    temporary = path.with_name(f".{path.name}.gz.tmp")
    try:
        with (
            path.open("rb") as plain,
            os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE), "wb") as file,
        ):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=4, mtime=0) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path.with_name(f"{path.name}.gz"))
        path.unlink()
    finally:
        temporary.unlink(missing_ok=True)

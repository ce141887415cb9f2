"""Owns the log of operations of a record: `operations.log`, a row for each operation that finished.

The engine writes it, in the form that docs/reference/operation-log.md describes, and it reads it again here.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brimline.errors import RecordError
from brimline.record.layout import OPERATION_LOG_FILE, unreadable

if TYPE_CHECKING:
    from brimline._native import OperationTimes

Selection = tuple[str, str, str, str]
"""Operation; part (whole, read, update, per_document); ending (ok, miss, failed); clock (service, response)."""


def log_path(directory: Path) -> Path:
    """Where the log of a record is, if it has one."""
    return directory / OPERATION_LOG_FILE


def count_rows(directory: Path) -> Mapping[str, Mapping[str, int]]:
    """Rows of a record's log by operation and ending. Raises RecordError."""
    from brimline import _native  # here, so that records can be read without the engine

    path = log_path(directory)
    try:
        return _native.count_operations(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def csv_text(directory: Path) -> Iterator[str]:
    """A record's log as CSV, in pieces. Raises RecordError."""
    from brimline import _native  # as above

    path = log_path(directory)
    try:
        rows = _native.OperationRows(path)
        while text := rows.next_text():
            yield text
    except OSError as error:
        raise _unreadable(path, error) from error


class LoggedTimes:
    """Times of chosen operations, in whole microseconds, in the order in which they ended.

    `text` goes through them once: "label,wall clock in ms,time in us" a line. Then `counts_us` says how often each time
    was there. Raises RecordError.
    """

    def __init__(self, directory: Path, selections: Sequence[Selection], *, label: str) -> None:
        from brimline import _native  # as above

        self._path = log_path(directory)
        try:
            self._times: OperationTimes = _native.OperationTimes(self._path, list(selections), label)
        except OSError as error:
            raise _unreadable(self._path, error) from error

    def text(self) -> Iterator[str]:
        """The lines, in pieces."""
        try:
            while text := self._times.next_text():
                yield text
        except OSError as error:
            raise _unreadable(self._path, error) from error

    def counts_us(self) -> dict[int, int]:
        """How often each time was there, ascending."""
        return dict(self._times.counts_us())


def _unreadable(path: Path, error: OSError) -> RecordError:
    return unreadable(path, error) if error.errno else RecordError(f"{path} {error}")

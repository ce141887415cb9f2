"""Owns the log of single operations: a row of 48 bytes for each that finished, in runs that ask for it.

Rows are as the engine makes them (`crates/engine/src/operation_log.rs`), little endian and in the order in which each
engine thread finished them, interval by interval. Instants are ns of the run's clock, whose zero is the summary's
`started_unix_ns`; one that there is none of is `NEVER`.
"""

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brimline.errors import RecordError
from brimline.record.layout import OPERATION_LOG_FILE, unreadable
from brimline.units import format_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROW_BYTES: Final = 48
NEVER: Final = 2**64 - 1
"""When an operation of a closed loop was due, and the second step of an operation in one."""

KINDS: Final = ("read", "update", "insert", "scan", "read_modify_write", "load", "transaction")
ENDINGS: Final = ("ok", "miss", "failed")
PHASES: Final = ("warmup", "measure", "drain")
_KIND_AT, _ENDING_AT = 44, 45
_COLUMNS: Final = [
    ("due_ns", "<u8"),
    ("sent_ns", "<u8"),
    ("first_done_ns", "<u8"),
    ("second_sent_ns", "<u8"),
    ("done_ns", "<u8"),
    ("documents", "<u4"),
    ("kind", "u1"),
    ("ending", "u1"),
    ("phase", "u1"),
    ("", "u1"),
]


def check_room(directory: Path, operation_count: int | None) -> None:
    """Raises RecordError where so many rows would not fit on the disk; nothing is known of a run without a number."""
    needed_bytes = (operation_count or 0) * ROW_BYTES
    free_bytes = shutil.disk_usage(directory).free
    if needed_bytes > free_bytes:
        raise RecordError(
            f"a log of {operation_count} operations takes {format_bytes(needed_bytes)}, "
            f"and {format_bytes(free_bytes)} are free in {directory}",
            hint="free some space, choose another place with --runs-dir, or do without the log",
        )


class LoggedTotals:
    """How many operations were logged, by kind and ending; without numpy, which a load has no memory for."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int]] = Counter()

    def add(self, rows: bytes) -> None:
        """Counts rows."""
        self._counts.update(zip(rows[_KIND_AT::ROW_BYTES], rows[_ENDING_AT::ROW_BYTES], strict=True))

    def by_name(self) -> Mapping[tuple[str, str], int]:
        """The numbers by the names of kind and ending."""
        return {(KINDS[kind], ENDINGS[ending]): number for (kind, ending), number in self._counts.items()}


def read_operation_log(directory: Path) -> "NDArray[np.void]":
    """The rows of a record, as a structured array with the columns of the file; a torn last one is left out.

    Raises RecordError when the record has no log, or one that can't be read.
    """
    import numpy as np  # not above: a load does without

    path = directory / OPERATION_LOG_FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    return np.frombuffer(data, dtype=np.dtype(_COLUMNS), count=len(data) // ROW_BYTES)

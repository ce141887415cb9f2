"""Owns the number of a worker: the lowest that no other process holds, by a lock on a file of that number.

The kernel frees the lock when its process ends in any way. The file keeps until when ids of that number may be used, so
that the next process with it begins behind them, also after the clock was set back.
"""

import fcntl
import os
from pathlib import Path

from order_service.ids import WORKERS_MAX


class WorkerNumber:
    """A number that is this process's for as long as it lives."""

    def __init__(self, directory: Path) -> None:
        """Takes the lowest free number of `directory`. Raises OSError where there is none."""
        directory.mkdir(parents=True, exist_ok=True)
        for number in range(WORKERS_MAX):
            descriptor = os.open(directory / f"worker-{number}", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            self.number, self._descriptor = number, descriptor
            return
        raise OSError(f"all {WORKERS_MAX} worker numbers are taken")

    @property
    def reserved_until_ms(self) -> int:
        """Until when earlier processes with this number may have made ids; 0: there was none."""
        text = os.pread(self._descriptor, 32, 0).strip()
        return int(text) if text.isdigit() else 0

    def reserve(self, until_ms: int) -> None:
        """Keeps that ids may be made until then."""
        os.pwrite(self._descriptor, f"{until_ms:020d}\n".encode(), 0)

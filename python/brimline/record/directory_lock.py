"""Owns that a record directory is written by one process at a time, and that others can tell whether it is."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from brimline.errors import RecordError
from brimline.record.layout import unreadable

_ATTEMPTS, _PAUSE_S = 5, 0.02
"""A reader that asks whether a directory is held holds it itself for some microseconds."""


def lock_directory(directory: Path) -> int:
    """A descriptor that holds the directory for this process until it is closed. Raises RecordError."""
    descriptor = _opened(directory)
    try:
        _lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        raise _not_held(directory, error) from error
    return descriptor


def _lock(descriptor: int) -> None:
    for _ in range(_ATTEMPTS - 1):
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(_PAUSE_S)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def being_written(directory: Path) -> RecordError:
    """The error for a record that another process holds."""
    return RecordError(f"{directory} is being written by another process", hint="wait until it ends")


def _not_held(directory: Path, error: OSError) -> RecordError:
    if isinstance(error, BlockingIOError):
        return being_written(directory)
    return RecordError(
        f"{directory} can't be kept from other writers: {(error.strerror or str(error)).lower()}",
        hint="its file system has no locks: choose another place with --runs-dir",
    )


def is_held(directory: Path) -> bool:
    """Whether a process holds the directory now: the kernel lets go of it when that process ends, however it ends.

    False also where it can't be known: without the right to read the directory, and on a file system without locks.
    """
    try:
        descriptor = _opened(directory)
    except RecordError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _opened(directory: Path) -> int:
    try:
        return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(directory, error) from error

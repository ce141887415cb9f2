"""Owns that a record directory is written by one process at a time."""

import fcntl
import os
from pathlib import Path

from brimline.errors import RecordError
from brimline.record.layout import unreadable


def lock_directory(directory: Path) -> int:
    """A descriptor that holds the directory for this process until it is closed. Raises RecordError."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(directory, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise RecordError(f"{directory} is being written by another process", hint="wait until it ends") from error
    return descriptor

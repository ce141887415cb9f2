"""Owns the operating system's copies of a server's files in memory: dropping them, and telling how much is there.

`posix_fadvise(POSIX_FADV_DONTNEED)` needs no rights beyond opening the file, where writing to
`/proc/sys/vm/drop_caches` needs root and takes everybody's copies. It is advice: pages that are dirty or mapped stay,
so that files are synced first, and what is left is looked for with reads that may not wait (`RWF_NOWAIT`, Linux 4.14).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PAGE_BYTES = 4096
_BLOCK_BYTES = 512
"""Unit of `st_blocks` (stat(2)), whatever the file system's own blocks are."""
LOOKS_PER_FILE = 256
"""Pages of a file that are tried, evenly spread."""


def drop(directory: Path) -> None:
    """Asks the kernel to forget what it holds of all files below `directory`; files that can't be opened are left."""
    for path in _files(directory):
        with _opened(path) as file:
            if file is not None:
                os.fsync(file)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def resident_share(directory: Path) -> float | None:
    """Share of collections' and indexes' files below `directory` that lies in memory; None where it can't be seen.

    From samples. The journal is left out: its files are made in advance, and what was never written to them always
    reads at once.
    """
    resident_bytes = seen_bytes = 0.0
    for path in _files(directory, "*.wt"):
        with _opened(path) as file:
            size = 0 if file is None else os.fstat(file).st_size
            if file is None or not size:
                continue
            share = _resident(file, size)
        if share is None:
            return None
        resident_bytes += share * size
        seen_bytes += size
    return resident_bytes / seen_bytes if seen_bytes else None


def disk_bytes(directory: Path) -> int:
    """What the files below `directory` take on disk, as blocks that are really there."""
    blocks = 0
    for path in _files(directory):
        with suppress(FileNotFoundError):
            blocks += path.stat().st_blocks
    return blocks * _BLOCK_BYTES


def _resident(file: int, size: int) -> float | None:
    page_count = -(-size // PAGE_BYTES)
    tried = sorted({look * page_count // LOOKS_PER_FILE for look in range(LOOKS_PER_FILE)})
    there = 0
    for page in tried:
        try:
            there += bool(os.preadv(file, [bytearray(1)], page * PAGE_BYTES, os.RWF_NOWAIT))
        except BlockingIOError:
            continue
        except OSError:
            return None
    return there / len(tried)


def _files(directory: Path, pattern: str = "*") -> Iterator[Path]:
    """Files that are still there; a running server takes some away at any time."""
    for path in sorted(directory.rglob(pattern)):
        if path.is_file():
            yield path


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)

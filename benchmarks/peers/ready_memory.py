"""Owns that free memory is ready: the first use of a page costs the server as much for every client, and little.

A virtual machine may give free memory back to its host ("free page reporting"), and to take a page again costs ten
microseconds, where a document that is loaded in batches costs the server eight. Which client pays is chance. Only whole
blocks of 2 MiB are given back, so a page that is held in each of them keeps the rest of it here.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

_PART_OF_AVAILABLE = 0.5
_BLOCK_BYTES = 512 << 10
"""A quarter of what is given back: where a block lies in physical memory isn't known here."""


@contextmanager
def ready_memory(bytes_max: int) -> Iterator[int]:
    """Half of the free memory, at most `bytes_max`, has been used once and stays in the machine for the `with` block.

    Gives how much. A hundredth of it is held, the rest is free for whoever needs it.
    """
    size = min(bytes_max, int(psutil.virtual_memory().available * _PART_OF_AVAILABLE))
    size -= size % _BLOCK_BYTES
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        area.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(0, size, mmap.PAGESIZE):
            area[page] = 1
        for block in range(0, size, _BLOCK_BYTES):
            area.madvise(mmap.MADV_DONTNEED, block + mmap.PAGESIZE, _BLOCK_BYTES - mmap.PAGESIZE)
        yield size

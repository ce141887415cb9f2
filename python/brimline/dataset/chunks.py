"""Owns in how large pieces a server is asked for records by their keys."""

from collections.abc import Iterator
from itertools import count

CHUNK_RECORDS = 10_000
"""Records asked for at once: 240 KB of keys, a few milliseconds of the server's time."""


def chunks(first: int, stop: int | None) -> Iterator[range]:
    """The records from `first` up to `stop`, in order; None: without an end."""
    for start in count(first, CHUNK_RECORDS) if stop is None else range(first, stop, CHUNK_RECORDS):
        end = start + CHUNK_RECORDS
        yield range(start, end if stop is None else min(end, stop))

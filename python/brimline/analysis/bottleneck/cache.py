"""Owns the candidate "cache": WiredTiger's cache, or a buffer pool, was too small for what operations touched."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullest, fullness
from brimline.analysis.bottleneck.waiting import WAITING_SHARE_FULL, WAITING_SHARE_NEAR, waiting_share
from brimline.analysis.observation import Observation
from brimline.units import format_bytes, format_number, format_percentage
from brimline.wording import joined, message

PAGE_BYTES = 32 * 1024
"""WiredTiger's `leaf_page_max` in MongoDB: what one miss reads, before decompression."""
READ_BYTES_FULL = PAGE_BYTES / 2
"""Bytes read into the cache per command from which every second command misses a page.

A page from the file system's cache was measured at 26 to 35 µs, as much as half a lookup by key; from a disk it is
more.
"""
READ_BYTES_NEAR = PAGE_BYTES / 10
"""Bytes from which every tenth command misses a page."""
FILL_MIN = 0.5
"""A cache filled less than this is not too small, it is cold: it has not been read full yet."""
DIRTY_FULL = 0.20
"""WiredTiger's `eviction_dirty_trigger`: from there on threads of clients must evict.
https://source.wiredtiger.com/develop/group__wt.html (eviction_dirty_trigger, eviction_trigger)
"""
DIRTY_NEAR = 0.10
"""Half of that: twice `eviction_dirty_target`, so that eviction does not keep up."""
FILL_FULL = 0.95
"""WiredTiger's `eviction_trigger`, likewise for all content."""
EVICTIONS_FULL = 0.1
"""Pages evicted by clients' threads per command: one command in ten does the cache's work before its own."""
EVICTIONS_NEAR = 0.01
"""The same for one command in a hundred."""


MISSES_PER_STATEMENT_FULL = 0.5
"""Pages per statement that were not in the buffer pool, from which every second statement reads one."""
MISSES_PER_STATEMENT_NEAR = 0.1
"""The same for every tenth."""


def cache(observation: Observation) -> Evidence:
    """Full when commands miss pages, must evict themselves, or wait for room in the cache."""
    signs = _signs(observation)
    if not signs:
        return Evidence(kind=BottleneckKind.CACHE, standing=Fullness.UNKNOWN, text="cache unknown")
    telling = next((text for standing, text in signs if standing is Fullness.FULL), signs[0][1])
    return Evidence(
        kind=BottleneckKind.CACHE,
        standing=fullest(*(standing for standing, _ in signs)),
        text=joined("; ", [text for _, text in signs]),
        verdict=message("the cache ({sign})", sign=telling),
    )


def _signs(observation: Observation) -> list[tuple[Fullness, str]]:
    """What is known of the cache, a sign each."""
    found = (
        _buffer_pool(observation),
        _misses(observation),
        _evictions(observation),
        _waits(observation),
        _dirt(observation),
        _fill(observation),
    )
    return [sign for sign in found if sign is not None]


def _buffer_pool(observation: Observation) -> tuple[Fullness, str] | None:
    misses, share = observation.server_use.buffer_misses_per_statement, observation.server_use.buffer_miss_share
    if misses is None or share is None:
        return None
    standing = fullness(misses, full=MISSES_PER_STATEMENT_FULL, near=MISSES_PER_STATEMENT_NEAR)
    return standing, message(
        "{misses} pages per statement not in the buffer pool, {share} of those asked for",
        misses=format_number(misses),
        share=format_percentage(share),
    )


def _misses(observation: Observation) -> tuple[Fullness, str] | None:
    read = observation.server_use.cache_read_bytes_per_command
    if read is None:
        return None
    standing = fullness(read if _warm(observation) else 0.0, full=READ_BYTES_FULL, near=READ_BYTES_NEAR)
    return standing, message("{size} read into it per command", size=format_bytes(read))


def _evictions(observation: Observation) -> tuple[Fullness, str] | None:
    evicted = observation.server_use.evictions_by_application_per_command
    if evicted is None:
        return None
    standing = fullness(evicted, full=EVICTIONS_FULL, near=EVICTIONS_NEAR)
    return standing, message("{count} pages evicted per command by clients' threads", count=format_number(evicted))


def _waits(observation: Observation) -> tuple[Fullness, str] | None:
    waiting = waiting_share(observation, observation.server_use.cache_waiting)
    if waiting is None:
        return None
    standing = fullness(waiting if _warm(observation) else 0.0, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR)
    return standing, message("{share} of the operations in flight waited for it", share=format_percentage(waiting))


def _dirt(observation: Observation) -> tuple[Fullness, str] | None:
    dirty = observation.server_use.cache_dirty
    if dirty is None:
        return None
    return fullness(dirty, full=DIRTY_FULL, near=DIRTY_NEAR), message("dirty {share}", share=format_percentage(dirty))


def _fill(observation: Observation) -> tuple[Fullness, str] | None:
    """A full cache alone hurts nobody: the trigger only makes evictions likely."""
    fill = observation.server_use.cache_fill
    if fill is None:
        return None
    standing = Fullness.NEAR if fill >= FILL_FULL else Fullness.NOT
    return standing, message("cache filled {share}", share=format_percentage(fill))


def _warm(observation: Observation) -> bool:
    return (observation.server_use.cache_fill or 0.0) >= FILL_MIN

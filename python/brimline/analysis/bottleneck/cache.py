"""Owns the candidate "cache": WiredTiger's cache was too small for the data that operations touched or changed."""

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


def cache(observation: Observation) -> Evidence:
    """Full when commands miss pages, must evict themselves, or wait for room in the cache."""
    use = observation.server_use
    read = use.cache_read_bytes_per_command
    waiting = waiting_share(observation, use.cache_waiting)
    warm = use.cache_fill is not None and use.cache_fill >= FILL_MIN
    standing = fullest(
        fullness(read if warm else None, full=READ_BYTES_FULL, near=READ_BYTES_NEAR),
        fullness(use.evictions_by_application_per_command, full=EVICTIONS_FULL, near=EVICTIONS_NEAR),
        fullness(waiting if warm else None, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR),
        fullness(use.cache_dirty, full=DIRTY_FULL, near=DIRTY_NEAR),
        # A full cache alone hurts nobody: the triggers only make evictions likely.
        Fullness.UNKNOWN if use.cache_fill is None else Fullness.NEAR if use.cache_fill >= FILL_FULL else Fullness.NOT,
    )
    seen = [*_content(observation), *_work(observation, waiting)]
    return Evidence(
        kind=BottleneckKind.CACHE,
        standing=standing,
        text=joined("; ", seen) if seen else "cache unknown",
        verdict=message("the cache ({seen})", seen=joined("; ", seen)),
    )


def _content(observation: Observation) -> list[str]:
    use = observation.server_use
    if use.cache_fill is None:
        return []
    filled = message("cache filled {fill}", fill=format_percentage(use.cache_fill))
    if use.cache_dirty is None:
        return [filled]
    return [message("{filled}, dirty {dirty}", filled=filled, dirty=format_percentage(use.cache_dirty))]


def _work(observation: Observation, waiting: float | None) -> list[str]:
    use = observation.server_use
    seen: list[str] = []
    if use.cache_read_bytes_per_command is not None:
        size = format_bytes(use.cache_read_bytes_per_command)
        seen.append(message("{size} read into it per command", size=size))
    if use.evictions_by_application_per_command is not None:
        count = format_number(use.evictions_by_application_per_command)
        seen.append(message("{count} pages evicted per command by clients' threads", count=count))
    if waiting is not None:
        share = format_percentage(waiting)
        seen.append(message("{share} of the operations in flight waited for it", share=share))
    return seen

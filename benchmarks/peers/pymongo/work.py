"""Owns what both PyMongo peers share: records, commands, the window, the result. See ../../README.md."""

import argparse
import array
import bisect
import itertools
import math
import platform
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pymongo
from pymongo.results import UpdateResult

from benchmarks.peers.protocol import answer

THETA = 0.99
FIELD_COUNT = 10
FIELD_LENGTH = 100
SCATTER = 2_654_435_761
FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 1_099_511_628_211
MASK = 2**64 - 1

WARM_UP, MEASURE, STOP = range(3)

Document = dict[str, Any]


class Records:
    """Which record an operation takes and what is written: YCSB's keys and documents, exact zipfian popularity."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._cumulative = list(itertools.accumulate((rank + 1) ** -THETA for rank in range(count)))
        self._inserted = itertools.count()

    def choose(self, chance: random.Random) -> str:
        """The key of a loaded record, the popular ones more often."""
        rank = bisect.bisect_left(self._cumulative, chance.random() * self._cumulative[-1])
        return key(min(rank, self._count - 1) * SCATTER % self._count)

    def change(self, chance: random.Random) -> Document:
        """One field with a new value."""
        return {"$set": {f"field{chance.randrange(FIELD_COUNT)}": chance.randbytes(FIELD_LENGTH)}}

    def next(self, chance: random.Random) -> Document:
        """The next record of a load."""
        document: Document = {"_id": key(next(self._inserted))}
        for number in range(FIELD_COUNT):
            document[f"field{number}"] = chance.randbytes(FIELD_LENGTH)
        return document

    def batch(self, chance: random.Random, count: int) -> list[Document]:
        """The next records of a load."""
        return [self.next(chance) for _ in range(count)]


def next_command(
    given: argparse.Namespace, records: Records, collection: Any, chance: random.Random
) -> Callable[[], Any]:
    """The next command, its key chosen and its documents built: what is left is what its latency is of."""
    if given.workload == "load" and given.batch > 1:
        return partial(collection.insert_many, records.batch(chance, given.batch), ordered=False)
    if given.workload == "load":
        return partial(collection.insert_one, records.next(chance))
    if given.workload == "c" or chance.random() < 0.5:
        return partial(collection.find_one, {"_id": records.choose(chance)})
    return partial(collection.update_one, {"_id": records.choose(chance)}, records.change(chance))


def fulfilled(reply: Any) -> bool:
    """Whether a command that the server carried out has found or written what it was meant to."""
    return reply.matched_count == 1 if isinstance(reply, UpdateResult) else reply is not None


def key(number: int) -> str:
    """YCSB's hashed key: FNV-1a over the eight bytes of the record's number, lowest first."""
    hashed = FNV_OFFSET
    for byte in number.to_bytes(8, "little"):
        hashed = (hashed ^ byte) * FNV_PRIME & MASK
    return f"user{abs(hashed - 2**64 if hashed >> 63 else hashed)}"


@dataclass(slots=True)
class Window:
    """Where the run is: warm-up, measured window, stop."""

    phase: int = WARM_UP


class Histogram:
    """Counts of values in buckets that are at most a thousandth wide, so that memory is bounded, as in HdrHistogram.

    Values below 2048 have buckets of their own; above, each power of two has 1024. What is 2^36 (69 s in ns) or more
    counts as the largest below it.
    """

    _BITS = 10
    _LARGEST = 2**36 - 1

    def __init__(self) -> None:
        self._counts = array.array("I", bytes(4 * (self._bucket(self._LARGEST) + 1)))

    def record(self, value: int) -> None:
        """Counts one value."""
        self._counts[self._bucket(min(value, self._LARGEST))] += 1

    def add(self, other: "Histogram") -> None:
        """Counts all that the other one has counted."""
        for bucket, count in enumerate(other._counts):
            if count:
                self._counts[bucket] += count

    def quantile(self, share: float) -> int | None:
        """The smallest value that at least `share` of all are not above, as the top of its bucket; None of nothing."""
        wanted = max(math.ceil(share * sum(self._counts)), 1)
        for bucket, total in enumerate(itertools.accumulate(self._counts)):
            if total >= wanted:
                return self._top(bucket)
        return None

    def _bucket(self, value: int) -> int:
        shift = max(value.bit_length() - self._BITS - 1, 0)
        return (shift << self._BITS) + (value >> shift)

    def _top(self, bucket: int) -> int:
        shift = max((bucket >> self._BITS) - 1, 0)
        return ((bucket - (shift << self._BITS) + 1) << shift) - 1


@dataclass(slots=True)
class Tally:
    """What one thread or task did within the window."""

    window: Window
    latencies_ns: Histogram = field(default_factory=Histogram)
    operations: int = 0
    failed: int = 0

    def note(self, sent_ns: int, documents: int, *, ok: bool) -> None:
        """Counts one command if it ended within the window; one that failed with all its documents."""
        if self.window.phase != MEASURE:
            return
        if ok:
            self.latencies_ns.record(time.perf_counter_ns() - sent_ns)
            self.operations += documents
        else:
            self.failed += documents


def report(tallies: list[Tally], window_ns: int) -> None:
    """Says the result of all threads or tasks together."""
    latencies_ns = Histogram()
    for tally in tallies:
        latencies_ns.add(tally.latencies_ns)
    answer(
        {
            "operations": sum(tally.operations for tally in tallies),
            "failed": sum(tally.failed for tally in tallies),
            "window_ns": window_ns,
            "p50_ns": latencies_ns.quantile(0.5),
            "p99_ns": latencies_ns.quantile(0.99),
            "versions": {"pymongo": pymongo.version, "python": platform.python_version()},
        }
    )

"""Owns what is measured, how long, and on which cores."""

import os
from dataclasses import dataclass

CACHE_GB = 40.0
"""So much that no client pays for eviction: a server begins to evict when what was written fills a fortieth of it
(eviction_updates_target). It uses no more of the memory than documents need."""
_DOCUMENTS_PER_S_AT_LEAST = {False: 15_000, True: 100_000}
"""What a client that loads by count does at least, unbatched and batched: how long it will take is an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One kind of work. `workload` is what peers are told; `unit` is what is counted."""

    name: str
    title: str
    workload: str
    batched: bool = False

    @property
    def loads(self) -> bool:
        """Whether it fills an empty collection."""
        return self.workload == "load"

    @property
    def unit(self) -> str:
        """What a figure per operation is per."""
        return "document" if self.loads else "operation"


CELLS = (
    Cell(name="c", title="Workload C: find by `_id`", workload="c"),
    Cell(name="a", title="Workload A: half find by `_id`, half update of one field", workload="a"),
    Cell(name="load", title="Load, one document per command", workload="load"),
    Cell(name="batch", title="Load, batches", workload="load", batched=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Lengths in seconds. `warmup_compiling_s` is for peers that compile while they run, as on a JVM and Node.js.

    `batched_part` of all lengths are for batched loads: they fill a collection the sooner, and a larger one is dearer
    for the server, by a fifth at 750 000 documents beside 450 000. `documents_per_s_ycsb` is what YCSB loads unbatched:
    who loads by count has a collection as large as that, see `documents`. `ready_bytes_max`: see `ready_memory`.
    """

    rounds: int = 3
    records: int = 100_000
    threads: int = 32
    batch: int = 1_000
    warmup_s: float = 2.0
    warmup_compiling_s: float = 12.0
    measured_s: float = 6.0
    batched_part: float = 0.5
    documents_per_s_ycsb: int = 15_000
    seed: int = 1
    client_cores: tuple[int, ...] = (0,)
    server_cores: tuple[int, ...] = (1,)
    ready_bytes_max: int = 8 << 30

    def batch_of(self, cell: Cell) -> int:
        """Documents per command."""
        return self.batch if cell.batched else 1

    def warmup_of(self, cell: Cell, *, compiles: bool) -> float:
        """Seconds before the window."""
        return (self.warmup_compiling_s if compiles else self.warmup_s) * (self.batched_part if cell.batched else 1)

    def measured_of(self, cell: Cell) -> float:
        """Seconds of the window."""
        return self.measured_s * (self.batched_part if cell.batched else 1)

    def length_of(self, cell: Cell, *, compiles: bool, by_count: bool) -> float:
        """Seconds of a run; about, of a load that ends by count."""
        if cell.loads and by_count:
            return self.documents / _DOCUMENTS_PER_S_AT_LEAST[cell.batched]
        return self.warmup_of(cell, compiles=compiles) + self.measured_of(cell)

    @property
    def documents(self) -> int:
        """How many documents a client loads that ends by count, not by time.

        So many that its collection is as large on average as YCSB's in the window of an unbatched load, which begins
        when the warm-up has filled it.
        """
        mean = self.documents_per_s_ycsb * (self.warmup_compiling_s + self.measured_s / 2)
        return max(round(2 * mean), self.threads * self.batch)


def default_cores() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """One core for the client and another for the server; the same one where there is no other."""
    available = sorted(os.sched_getaffinity(0))
    return (available[0],), (available[1 % len(available)],)

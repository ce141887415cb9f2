"""Owns what is measured, how long, and on which cores."""

import os
from dataclasses import dataclass

CACHE_GB = 40.0
"""So much that no client pays for eviction: a server begins to evict when what was written fills a fortieth of it
(eviction_updates_target). It uses no more of the memory than documents need."""
DOCUMENTS_PER_S_SINGLE = 20_000
DOCUMENTS_PER_S_BATCHED = 125_000
"""How many documents a load of brimline's has for each second that is to be measured."""


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
    """Lengths in seconds. `warmup_jvm_s` is for peers on a JVM, which compiles while it runs."""

    rounds: int = 3
    records: int = 100_000
    threads: int = 32
    batch: int = 1_000
    warmup_s: float = 2.0
    warmup_jvm_s: float = 12.0
    measured_s: float = 6.0
    seed: int = 1
    client_cores: tuple[int, ...] = (0,)
    server_cores: tuple[int, ...] = (1,)

    def batch_of(self, cell: Cell) -> int:
        """Documents per command."""
        return self.batch if cell.batched else 1

    def load_documents(self, cell: Cell) -> int:
        """How many documents a client loads that ends by count, not by time."""
        per_s = DOCUMENTS_PER_S_BATCHED if cell.batched else DOCUMENTS_PER_S_SINGLE
        return max(round(per_s * self.measured_s), self.threads * self.batch)


def default_cores() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """One core for the client and another for the server; the same one where there is no other."""
    available = sorted(os.sched_getaffinity(0))
    return (available[0],), (available[1 % len(available)],)

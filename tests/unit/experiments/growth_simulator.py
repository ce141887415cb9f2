"""A server whose growth is known: what its cache holds, what a miss costs, from which volume on importing slows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from brimline.analysis.growth.figures import LoadFigures, QueryFigures, Signals
from brimline.experiments.growth.order import Growth, GrowthSettings, GrowthTask, GrowthTrial

STEPS_MAX = 2_000
DOCUMENT_BYTES = 1_000
CACHE_BYTES = 256 << 20
DISK_BYTES = 10**9


@dataclass(kw_only=True)
class GrowingServer:
    """`cache_records` None: the cache holds everything. `blind`: it tells no signals. `drift`: of its speed.

    `import_slowed`: by which factor the whole machine is slower while the step up to so many records is imported.
    """

    cache_records: float | None = None
    hit_ns: float = 17_000.0
    miss_ns: float = 30_000.0
    import_break_records: float | None = None
    documents_per_s: float = 30_000.0
    import_slowed: Callable[[int], float] = lambda records: 1.0
    noise: float = 0.02
    drift: float = 0.3
    control: bool = True
    control_noise: float = 0.0
    blind: bool = False
    took_s: float = 1.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def answer(self, task: GrowthTask) -> GrowthTrial:
        """What this server shows for a task."""
        if task.stage == "load":
            return GrowthTrial(task=task, ended_by="completed", load=self._load(task), took_s=self.took_s)
        return GrowthTrial(task=task, ended_by="completed", query=self._query(task), took_s=self.took_s)

    def grow(self, settings: GrowthSettings, done: Sequence[GrowthTrial] = ()) -> list[GrowthTrial]:
        """The whole experiment on this server, or the rest of it."""
        machine, trials = Growth(settings), list(done)
        while (task := machine.next_probe(trials)) is not None:
            trials.append(self.answer(task))
            assert len(trials) < STEPS_MAX
        return trials

    def misses(self, records: int) -> float:
        """Pages missed per uniform query."""
        return 0.0 if self.cache_records is None else max(0.0, 1 - self.cache_records / records)

    def _load(self, task: GrowthTask) -> LoadFigures:
        past = 0.0
        if self.import_break_records is not None:
            past = max(task.records / self.import_break_records - 1, 0.0)
        machine = self.import_slowed(task.records)
        rate = self.documents_per_s / (1 + past) / machine * self._disturbed()
        signals = Signals(cache_pages_read=0.5 * past, evictions_by_application=0.2 * past, cache_bytes_max=CACHE_BYTES)
        return LoadFigures(
            documents=task.records - task.there,
            elapsed_s=(task.records - task.there) / rate,
            data_bytes=DOCUMENT_BYTES * task.records,
            storage_bytes=DOCUMENT_BYTES * task.records,
            index_bytes=30 * task.records,
            files_bytes=DOCUMENT_BYTES * task.records + (300 << 20),
            disk_share=DOCUMENT_BYTES * task.records / DISK_BYTES,
            control_ns=self.hit_ns * machine * self._disturbed(self.control_noise) if self.control else None,
            signals=Signals() if self.blind else signals,
        )

    def _query(self, task: GrowthTask) -> QueryFigures:
        misses = self.misses(task.records)
        machine = 1 + self.drift * abs(float(self.rng.normal()))  # meets queries and control alike, and only slows
        hit_ns = self.hit_ns * (task.records / 1000) ** 0.03
        time_ns = (hit_ns + misses * self.miss_ns) * machine * self._disturbed()
        return QueryFigures(
            queries=task.queries,
            queries_per_s=1e9 / time_ns * task.connections,
            service_mean_ns=2 * time_ns,
            service_p50_ns=round(2 * time_ns),
            service_p99_ns=round(6 * time_ns),
            server_time_ns=1.2 * time_ns,
            quiet_time_ns=time_ns,
            control_ns=self.hit_ns * machine * self._disturbed(self.control_noise) if self.control else None,
            signals=Signals() if self.blind else Signals(cache_pages_read=misses, cache_bytes_max=CACHE_BYTES),
        )

    def _disturbed(self, noise: float | None = None) -> float:
        return float(np.exp((self.noise if noise is None else noise) * self.rng.normal()))

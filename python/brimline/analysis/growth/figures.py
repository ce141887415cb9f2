"""Owns the figures of one loaded step and of one batch of queries, from its record and the looks around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brimline.analysis.distribution import Shard, distribution
from brimline.analysis.observation import Observation
from brimline.analysis.server_window import is_of_another_server
from brimline.execution import documents_inserted
from brimline.record import RunRecord
from brimline.record.model import ServerRow
from brimline.units import NS_PER_S, NS_PER_US

QUIET_QUANTILE = 0.1
SLICE_READS_MIN = 200
"""Reads of a slice: fewer make its mean a matter of which of them missed the cache."""
CACHE_PAGES_READ = "cache_pages_read"
"""The one counter that the runner notes beside the monitor's columns: pages of WiredTiger's cache that were misses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What the server did beside its work, for each document or query; shares are of the time. None: not seen."""

    cache_pages_read: float | None = None
    evictions_by_application: float | None = None
    eviction_time_ns: float | None = None
    cache_fill: float | None = None  # afterwards
    cache_bytes_max: int | None = None
    checkpoint_share: float | None = None
    disk_busy_share: float | None = None
    server_cpu_ns: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """One step. Sizes are of the collection after it and a checkpoint, `files_bytes` of all files of the server.

    `control_ns` is the time of a read of one record over and over, before and after it: the machine's speed just then.
    `shards`: what each server had and did, where several have the records.
    """

    documents: int
    elapsed_s: float
    data_bytes: int | None = None
    storage_bytes: int | None = None
    index_bytes: int | None = None
    files_bytes: int | None = None
    disk_share: float | None = None  # of the file system, in use
    control_ns: float | None = None
    signals: Signals = Signals()
    shards: tuple[Shard, ...] = ()

    @property
    def documents_per_s(self) -> float:
        """Import rate of the step."""
        return self.documents / self.elapsed_s if self.elapsed_s else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFigures:
    """One batch. `server_time_ns`: mean time of a query inside the server, `service_mean_ns`: as the client saw it.

    `quiet_time_ns` is that of the quieter part of the batch: of its mean times over short slices the lowest tenth.
    `control_ns` is the same of a batch beside it that reads one record over and over: the machine's speed just then.
    `page_cache_share` is the part of the server's files that was in the operating system's memory before it; with
    `restarted` the server had been started again. `problem` says why the batch shows nothing, "" where it does.
    """

    queries: int
    queries_per_s: float
    service_mean_ns: float
    service_p50_ns: int | None
    service_p99_ns: int | None
    server_time_ns: float | None = None
    quiet_time_ns: float | None = None
    control_ns: float | None = None
    restarted: bool = False
    page_cache_share: float | None = None
    settled: bool | None = None
    problem: str = ""
    signals: Signals = Signals()
    shards: tuple[Shard, ...] = ()

    @property
    def time_ns(self) -> float:
        """Time per query: inside the server where it says so, else as the client saw it."""
        return self.quiet_time_ns or self.server_time_ns or self.service_mean_ns


def load_figures(record: RunRecord, observation: Observation, facts: Mapping[str, Any]) -> LoadFigures:
    """The figures of a step that was loaded; `facts` is what the runner wrote beside the record."""
    sizes = facts.get("sizes", {})
    collection, database = sizes.get("collStats", {}), sizes.get("dbStats", {})
    documents = documents_inserted(record)
    used, total = database.get("fsUsedSize"), database.get("fsTotalSize")
    return LoadFigures(
        documents=documents,
        # With the answers to what was sent last, which lie beyond the measured window.
        elapsed_s=record.summary["elapsed_ns"] / NS_PER_S if record.summary else 0.0,
        data_bytes=collection.get("size"),
        storage_bytes=collection.get("storageSize"),
        index_bytes=collection.get("totalIndexSize"),
        files_bytes=facts.get("files_bytes"),
        disk_share=facts.get("disk_share", used / total if used is not None and total else None),
        control_ns=facts.get("control_ns"),
        signals=_signals(observation, facts, count=documents),
        shards=distribution(record.server_facts),
    )


def query_figures(record: RunRecord, observation: Observation, facts: Mapping[str, Any]) -> QueryFigures | None:
    """The figures of a batch; None where nothing was answered."""
    service = observation.service
    if service is None:
        return None
    return QueryFigures(
        queries=service.count,
        queries_per_s=observation.throughput_ops_per_s,
        service_mean_ns=service.mean_ns,
        service_p50_ns=service.p50_ns,
        service_p99_ns=service.p99_ns,
        server_time_ns=_read_time_ns(facts.get("before", {}), facts.get("after", {})),
        quiet_time_ns=quiet_time_ns(record.server),
        control_ns=facts.get("control_ns"),
        restarted=bool(facts.get("restarted", False)),
        page_cache_share=facts.get("page_cache_share"),
        settled=facts.get("settled"),
        problem=_problem(observation),
        signals=_signals(observation, facts, count=service.count),
        shards=distribution(record.server_facts),
    )


def quiet_time_ns(rows: Sequence[ServerRow]) -> float | None:
    """Mean time of a read inside the server in the quietest slices of a run: the 0.1 quantile of their means.

    What disturbs a shared machine comes in bursts and only adds. A cache that misses does so in every slice. None where
    the monitor saw no slice with enough reads.
    """
    slices, first = [], None
    for row in rows:
        if first is None or (is_of_another_server(row, first) and row.get("reads_ops") is not None):
            first = row
        elif not is_of_another_server(row, first) and (_growth(first, row, "reads_ops") or 0) >= SLICE_READS_MIN:
            slices.append(_read_time_ns(first, row))
            first = row
    known = [each for each in slices if each is not None]
    return float(np.quantile(known, QUIET_QUANTILE)) if known else None


def _read_time_ns(before: Mapping[str, Any], after: Mapping[str, Any]) -> float | None:
    """Mean time of a read inside the server between two looks; None where one of them doesn't tell."""
    count, time_us = _growth(before, after, "reads_ops"), _growth(before, after, "reads_latency_us")
    return time_us / count * NS_PER_US if count and time_us else None


def _problem(observation: Observation) -> str:
    if observation.error_rate:
        return "queries failed"
    return "documents were not found" if observation.miss_rate else ""


def _signals(observation: Observation, facts: Mapping[str, Any], *, count: int) -> Signals:
    before, after = facts.get("before", {}), facts.get("after", {})
    used, most = after.get("cache_bytes_used"), after.get("cache_bytes_max")
    return Signals(
        cache_pages_read=_each(before, after, CACHE_PAGES_READ, count),
        evictions_by_application=_each(before, after, "cache_pages_evicted_by_application", count),
        eviction_time_ns=_each(before, after, "cache_eviction_by_application_us", count, scale=NS_PER_US),
        cache_fill=used / most if used is not None and most else None,
        cache_bytes_max=most,
        checkpoint_share=observation.server_use.checkpoint_share,
        disk_busy_share=observation.server_use.disk_busy_share,
        server_cpu_ns=_each(before, after, "server_cpu_ns", count),
    )


def _each(
    before: Mapping[str, Any], after: Mapping[str, Any], column: str, count: int, *, scale: float = 1
) -> float | None:
    growth = _growth(before, after, column)
    return None if growth is None or not count else growth * scale / count


def _growth(before: Mapping[str, Any], after: Mapping[str, Any], column: str) -> float | None:
    """None where a look is missing, or the counter began anew between them."""
    first, last = before.get(column), after.get(column)
    return None if first is None or last is None or last < first else float(last - first)

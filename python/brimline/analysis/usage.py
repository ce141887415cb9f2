"""Owns what a run held open and moved in its measured window: connections, memory, operations and bytes a second.

What drivers in processes of their own said of themselves is of the whole run, as they say it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimline.analysis.server_window import ServerWindow
from brimline.record.model import IntervalRow, OperationRow, answered_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What was done in the window, a second: operations that were answered, and bytes as the client saw them.

    A driver in a process of its own shows no bytes of the documents that it brings: what it received is None.
    """

    answered_per_s: float
    received_bytes_per_s: float | None
    sent_bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was held at most, and moved. None: the monitor didn't see it.

    `client_connections` are the workload's own; `server_connections` all that the server had, those that watch it and
    its own too. `traffic` is by operation, of all together under None.

    Of drivers in processes of their own: the most memory of these, the time of collecting garbage for each operation,
    and the mean wait for a connection of the pool. None of brimline's own client, whose process has all else in it.
    """

    client_connections: int | None = None
    server_connections: float | None = None
    server_memory_bytes: float | None = None
    driver_memory_bytes: int | None = None
    driver_collection_ns_per_op: float | None = None
    driver_pool_wait_ns: float | None = None
    traffic: Mapping[str | None, Traffic] = field(default_factory=dict)


def usage(
    intervals: Sequence[IntervalRow],
    operations: Sequence[OperationRow],
    server: ServerWindow,
    *,
    measured_s: float,
    drivers: Sequence[Mapping[str, Any]] = (),
    all_finished: int = 0,
) -> Usage:
    """What the measured `intervals`, the `operations` done in them and the server's rows say.

    Of `drivers` in processes of their own, what they said: the engine's connections are their workers then. They said
    it of `all_finished` operations, those of the warm-up too.
    """
    kinds: list[str | None] = [None, *sorted({row["operation"] for row in operations})] if operations else []
    return Usage(
        client_connections=_sum(drivers, "connections_created")  # the most that they can have had at once
        if drivers
        else max((row["connections_up"] for row in intervals), default=None),
        server_connections=server.highest("connections"),
        server_memory_bytes=server.highest("resident_bytes"),
        driver_memory_bytes=_sum(drivers, "memory_peak_bytes"),
        driver_collection_ns_per_op=_of_each(_sum(drivers, "collections_ns"), all_finished),
        driver_pool_wait_ns=_of_each(_sum(drivers, "pool_waited_ns"), _sum(drivers, "pool_taken")),
        traffic={
            kind: _traffic([row for row in operations if kind in (None, row["operation"])], measured_s, drivers)
            for kind in kinds
            if measured_s
        },
    )


def _sum(drivers: Sequence[Mapping[str, Any]], name: str) -> int | None:
    """What the drivers said under `name`, together. None: there are none, or one of them doesn't say."""
    said = [each.get(name) for each in drivers]
    told = [count for count in said if isinstance(count, int)]
    return sum(told) if told and len(told) == len(said) else None


def _of_each(total: int | None, count: int | None) -> float | None:
    return total / count if total is not None and count else None


def _traffic(rows: Sequence[OperationRow], measured_s: float, drivers: Sequence[Mapping[str, Any]]) -> Traffic:
    return Traffic(
        answered_per_s=answered_count(rows) / measured_s,
        received_bytes_per_s=None if drivers else sum(row["bytes_in"] for row in rows) / measured_s,
        sent_bytes_per_s=sum(row["bytes_out"] for row in rows) / measured_s,
    )

"""Owns reading `serverStatus` across versions 4.4 to 8.x. Pure: a document in, columns out.

Where a metric moved, the new place is asked first: tickets are in `queues.execution` since 8.0, in
`wiredTiger.concurrentTransactions` before; both kinds of queue lengths since 7.0, `globalLock.currentQueue`
before.
"""

from collections.abc import Mapping
from typing import Any

COMMAND: Mapping[str, int] = {
    "serverStatus": 1,
    # Sections that no column needs; some of them are costly. `metrics` stays: `mem` goes with it.
    **dict.fromkeys(
        (
            "asserts",
            "catalogStats",
            "defaultRWConcern",
            "electionMetrics",
            "extra_info",
            "flowControl",
            "indexStats",
            "locks",
            "logicalSessionRecordCache",
            "opLatencies",
            "opReadConcernCounters",
            "readConcernCounters",
            "repl",
            "scramCache",
            "security",
            "shardingStatistics",
            "tcmalloc",
            "tenantMigrations",
            "trafficRecording",
            "transactions",
            "transportSecurity",
            "twoPhaseCommitCoordinator",
        ),
        0,
    ),
}

_MEBIBYTE = 1024 * 1024
_PRIORITIES = ("normalPriority", "lowPriority", "exempt")

Columns = dict[str, int | None]


def read_status(status: Mapping[str, Any]) -> Columns:
    """The columns of a `ServerRow` that a `serverStatus` answer holds."""
    return {
        "uptime_ms": _integer(status, "uptimeMillis"),
        **{name: _integer(status, "opcounters", name) for name in _OPCOUNTERS},
        "network_bytes_in": _integer(status, "network", "bytesIn"),
        "network_bytes_out": _integer(status, "network", "bytesOut"),
        "connections": _integer(status, "connections", "current"),
        "connections_active": _integer(status, "connections", "active"),
        "connections_created": _integer(status, "connections", "totalCreated"),
        "resident_bytes": _mebibytes(status, "mem", "resident"),
        "virtual_bytes": _mebibytes(status, "mem", "virtual"),
        **_cache(status),
        **_checkpoint(status),
        "journal_syncs": _integer(status, "wiredTiger", "log", "log sync operations"),
        "journal_sync_time_us": _integer(status, "wiredTiger", "log", "log sync time duration (usecs)"),
        **_admission(status, "read", lock_queue="readers"),
        **_admission(status, "write", lock_queue="writers"),
    }


_OPCOUNTERS = ("insert", "query", "update", "delete", "getmore", "command")


def _cache(status: Mapping[str, Any]) -> Columns:
    names = {
        "cache_bytes_max": "maximum bytes configured",
        "cache_bytes_used": "bytes currently in the cache",
        "cache_bytes_dirty": "tracked dirty bytes in the cache",
        "cache_bytes_read": "bytes read into cache",
        "cache_bytes_written": "bytes written from cache",
        "cache_pages_evicted_by_application": "pages evicted by application threads",
    }
    return {column: _integer(status, "wiredTiger", "cache", name) for column, name in names.items()}


def _checkpoint(status: Mapping[str, Any]) -> Columns:
    # 8.0 moved the figures into a section of their own and shortened their names.
    return {
        "checkpoint_running": _first(
            _integer(status, "wiredTiger", "checkpoint", "currently running"),
            _integer(status, "wiredTiger", "checkpoint", "progress state"),
            _integer(status, "wiredTiger", "transaction", "transaction checkpoint currently running"),
        ),
        "checkpoints": _first(
            _integer(status, "wiredTiger", "checkpoint", "total succeed number of checkpoints"),
            _integer(status, "wiredTiger", "transaction", "transaction checkpoints"),
        ),
        "checkpoint_total_ms": _first(
            _integer(status, "wiredTiger", "checkpoint", "total time (msecs)"),
            _integer(status, "wiredTiger", "transaction", "transaction checkpoint total time (msecs)"),
        ),
    }


def _admission(status: Mapping[str, Any], kind: str, *, lock_queue: str) -> Columns:
    tickets = _section(status, "queues", "execution", kind) or _section(
        status, "wiredTiger", "concurrentTransactions", kind
    )
    queues = [_integer(tickets, priority, "queueLength") for priority in _PRIORITIES]
    waiting = [length for length in queues if length is not None]
    return {
        f"{kind}_tickets_out": _integer(tickets, "out"),
        f"{kind}_tickets_total": _integer(tickets, "totalTickets"),
        f"{kind}_queue": sum(waiting) if waiting else _integer(status, "globalLock", "currentQueue", lock_queue),
    }


def _section(document: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for name in path:
        inner = document.get(name)
        if not isinstance(inner, Mapping):
            return {}
        document = inner
    return document


def _integer(document: Mapping[str, Any], *path: str) -> int | None:
    value = _section(document, *path[:-1]).get(path[-1])
    return int(value) if isinstance(value, int | float) else None


def _mebibytes(document: Mapping[str, Any], *path: str) -> int | None:
    value = _integer(document, *path)
    return None if value is None else value * _MEBIBYTE


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)

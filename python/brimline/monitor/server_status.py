"""Owns reading `serverStatus` across versions 4.4 to 8.x. Pure: a document in, columns out.

Where a metric moved, the new place is asked first: tickets are in `queues.execution` since 8.0, in
`wiredTiger.concurrentTransactions` before; both kinds of queue lengths since 7.0, `globalLock.currentQueue`
before. Checkpoints have a section of their own since 8.0, and evictions were renamed in 8.x.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Command = Mapping[str, Any]

COMMAND_PLAIN: Command = {
    "serverStatus": 1,
    "oplog": 1,  # left out unless it is asked for
    # Sections that no column needs; some of them are costly.
    **dict.fromkeys(
        (
            "activeIndexBuilds",
            "asserts",
            "batchedDeletes",
            "catalogStats",
            "defaultRWConcern",
            "electionMetrics",
            "freeMonitoring",
            "hedgingMetrics",
            "indexBulkBuilder",
            "indexStats",
            "internalTransactions",
            "logicalSessionRecordCache",
            "opReadConcernCounters",
            "opcountersRepl",
            "queryAnalyzers",
            "queryStats",
            "readConcernCounters",
            "readPreferenceCounters",
            "repl",
            "scramCache",
            "security",
            "sharding",
            "shardingStatistics",
            "spillWiredTiger",
            "storageEngine",
            "tcmalloc",
            "tenantMigrations",
            "trafficRecording",
            "transportSecurity",
            "twoPhaseCommitCoordinator",
        ),
        0,
    ),
}
"""Understood by every version. `metrics` stays although much of it is not needed: `mem` goes with it."""

_METRICS_UNUSED = (
    "aggStageCounters",
    "apiVersions",
    "changeStreams",
    "commands",
    "cursor",
    "dotsAndDollarsFields",
    "mongos",
    "operatorCounters",
    "query",
    "repl",
)
COMMAND: Command = {**COMMAND_PLAIN, "metrics": dict.fromkeys(_METRICS_UNUSED, False)}
"""The same without the parts of `metrics` that no column needs; a server that refuses such nesting gets
`COMMAND_PLAIN`. MongoDB 6.0.5 takes 270 µs of CPU for it, and 380 µs for the plain one, one after the other."""

ROLE = "repl"
"""The section that says whether a member is the primary; asked for only where a set is followed."""

_MS_PER_S = 1000
_MEBIBYTE = 1024 * 1024
_LOOK_HOLDS_A_TICKET = ("4.", "5.")
_PRIORITIES = ("normalPriority", "lowPriority", "exempt")
_OPCOUNTERS = ("insert", "query", "update", "delete", "getmore", "command")
_DOCUMENT_COUNTERS = ("inserted", "returned", "updated", "deleted")

Columns = dict[str, int | None]

COUNT_MAX = 2**53
"""No count, size or time of a server comes near; above it a float can't tell one number from the next."""


def with_role(command: Command) -> Command:
    """The same command with the server's role in the answer."""
    return {section: wanted for section, wanted in command.items() if section != ROLE}


def is_primary(status: Mapping[str, Any]) -> bool | None:
    """Whether the member that gave this answer is its set's primary; None where the answer doesn't say.

    Older servers use the older name.
    """
    role = _section(status, ROLE)
    told = role.get("isWritablePrimary", role.get("ismaster"))
    return told if isinstance(told, bool) else None


def read_status(status: Mapping[str, Any]) -> Columns:
    """The columns of a `ServerRow` that a `serverStatus` answer holds."""
    return {
        "uptime_ms": _integer(status, "uptimeMillis"),
        **{name: _integer(status, "opcounters", name) for name in _OPCOUNTERS},
        **_latencies(status),
        **_work(status),
        "network_bytes_in": _integer(status, "network", "bytesIn"),
        "network_bytes_out": _integer(status, "network", "bytesOut"),
        "network_requests": _integer(status, "network", "numRequests"),
        "connections": _integer(status, "connections", "current"),
        "connections_available": _integer(status, "connections", "available"),
        "connections_active": _integer(status, "connections", "active"),
        "connections_created": _integer(status, "connections", "totalCreated"),
        "resident_bytes": _mebibytes(status, "mem", "resident"),
        "virtual_bytes": _mebibytes(status, "mem", "virtual"),
        "page_faults": _integer(status, "extra_info", "page_faults"),
        "server_cpu_ns": _cpu_ns(status),
        **_cache(status),
        **_checkpoint(status),
        **_compaction(status),
        "journal_syncs": _integer(status, "wiredTiger", "log", "log sync operations"),
        "journal_sync_time_us": _integer(status, "wiredTiger", "log", "log sync time duration (usecs)"),
        "journal_bytes_written": _integer(status, "wiredTiger", "log", "log bytes written"),
        **_admission(status, "read", lock_queue="readers"),
        **_admission(status, "write", lock_queue="writers"),
        **_locks(status),
        **_transactions(status),
        **_write_concern(status),
        "oplog_window_ms": _oplog_window_ms(status),
    }


def _latencies(status: Mapping[str, Any]) -> Columns:
    columns = {}
    for kind in ("reads", "writes", "commands"):
        columns[f"{kind}_ops"] = _integer(status, "opLatencies", kind, "ops")
        columns[f"{kind}_latency_us"] = _integer(status, "opLatencies", kind, "latency")
    return columns


def _work(status: Mapping[str, Any]) -> Columns:
    return {
        **{f"documents_{name}": _integer(status, "metrics", "document", name) for name in _DOCUMENT_COUNTERS},
        "documents_expired": _integer(status, "metrics", "ttl", "deletedDocuments"),
        "entries_removed": _integer(status, "wiredTiger", "cursor", "cursor remove calls"),
        "documents_scanned": _integer(status, "metrics", "queryExecutor", "scannedObjects"),
        "index_keys_scanned": _integer(status, "metrics", "queryExecutor", "scanned"),
        "collection_scans": _integer(status, "metrics", "queryExecutor", "collectionScans", "total"),
        "sorts_without_index": _integer(status, "metrics", "operation", "scanAndOrder"),
        "write_conflicts": _first(
            _integer(status, "metrics", "operation", "writeConflicts"),
            _integer(status, "wiredTiger", "transaction", "update conflicts"),
        ),
    }


def _cpu_ns(status: Mapping[str, Any]) -> int | None:
    """User and system time of the process, as the server itself says; on Linux only."""
    user_us = _integer(status, "extra_info", "user_time_us")
    system_us = _integer(status, "extra_info", "system_time_us")
    return None if user_us is None or system_us is None else (user_us + system_us) * 1000


def _cache(status: Mapping[str, Any]) -> Columns:
    names = {
        "cache_bytes_max": "maximum bytes configured",
        "cache_bytes_used": "bytes currently in the cache",
        "cache_bytes_dirty": "tracked dirty bytes in the cache",
        "cache_bytes_updates": "bytes allocated for updates",
        "cache_bytes_read": "bytes read into cache",
        "cache_bytes_written": "bytes written from cache",
        "cache_read_by_application_us": "application threads page read from disk to cache time (usecs)",
        "cache_write_by_application_us": "application threads page write from cache to disk time (usecs)",
    }
    evicting = "application thread time evicting (usecs)"
    return {
        **{column: _integer(status, "wiredTiger", "cache", name) for column, name in names.items()},
        "cache_pages_evicted_by_application": _first(
            _integer(status, "wiredTiger", "cache", "page evict attempts by application threads"),
            _integer(status, "wiredTiger", "cache", "pages evicted by application threads"),
        ),
        "cache_eviction_by_application_us": _first(
            _integer(status, "wiredTiger", "cache", evicting),
            _integer(status, "wiredTiger", "thread-yield", evicting),
        ),
        "cache_wait_by_application_us": _integer(
            status, "wiredTiger", "thread-yield", "application thread time waiting for cache (usecs)"
        ),
    }


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
        "checkpoint_last_ms": _first(
            _integer(status, "wiredTiger", "checkpoint", "most recent time (msecs)"),
            _integer(status, "wiredTiger", "transaction", "transaction checkpoint most recent time (msecs)"),
        ),
    }


def _compaction(status: Mapping[str, Any]) -> Columns:
    ended = ("successful calls", "failed calls", "timeout", "interrupted")
    return {
        "compactions_running": _integer(status, "wiredTiger", "session", "table compact running"),
        "compactions": _sum(_integer(status, "wiredTiger", "session", f"table compact {each}") for each in ended),
    }


def _admission(status: Mapping[str, Any], kind: str, *, lock_queue: str) -> Columns:
    tickets = _section(status, "queues", "execution", kind) or _section(
        status, "wiredTiger", "concurrentTransactions", kind
    )
    waiting = _sum(_integer(tickets, priority, "queueLength") for priority in _PRIORITIES)
    return {
        f"{kind}_tickets_out": _without_the_look(_integer(tickets, "out"), kind, status),
        f"{kind}_tickets_total": _integer(tickets, "totalTickets"),
        f"{kind}_queue": _first(waiting, _integer(status, "globalLock", "currentQueue", lock_queue)),
        f"{kind}_queue_time_us": _sum(_integer(tickets, priority, "totalTimeQueuedMicros") for priority in _PRIORITIES),
    }


def _without_the_look(tickets_out: int | None, kind: str, status: Mapping[str, Any]) -> int | None:
    """Before 6.0 `serverStatus` holds a read ticket itself while it counts them: an idle 4.4.2 or 5.0.4 reports 1."""
    if not tickets_out or kind != "read" or not str(status.get("version", "")).startswith(_LOOK_HOLDS_A_TICKET):
        return tickets_out
    return tickets_out - 1


def _locks(status: Mapping[str, Any]) -> Columns:
    """Clients in the server, and waits summed over all resources and modes. A mode without waits is absent there."""
    locks = _section(status, "locks")
    return {
        "active_readers": _integer(status, "globalLock", "activeClients", "readers"),
        "active_writers": _integer(status, "globalLock", "activeClients", "writers"),
        "lock_waits": _modes_total(locks, "acquireWaitCount"),
        "lock_wait_us": _modes_total(locks, "timeAcquiringMicros"),
    }


def _modes_total(locks: Mapping[str, Any], figure: str) -> int | None:
    if not locks:
        return None
    per_mode = [_section(locks, resource, figure) for resource in locks]
    return sum(_integer(modes, mode) or 0 for modes in per_mode for mode in modes)


def _transactions(status: Mapping[str, Any]) -> Columns:
    names = {
        "transactions_open": "currentOpen",
        "transactions_active": "currentActive",
        "transactions_committed": "totalCommitted",
        "transactions_aborted": "totalAborted",
    }
    return {column: _integer(status, "transactions", name) for column, name in names.items()}


def _write_concern(status: Mapping[str, Any]) -> Columns:
    return {
        "write_concern_waits": _integer(status, "metrics", "getLastError", "wtime", "num"),
        "write_concern_wait_ms": _integer(status, "metrics", "getLastError", "wtime", "totalMillis"),
        "flow_control_wait_us": _integer(status, "flowControl", "timeAcquiringMicros"),
        "flow_control_lagged": _integer(status, "flowControl", "isLagged"),
    }


def _oplog_window_ms(status: Mapping[str, Any]) -> int | None:
    times = [getattr(_section(status, "oplog").get(name), "time", None) for name in ("earliestOptime", "latestOptime")]
    oldest_s, newest_s = (time if isinstance(time, int) else None for time in times)
    return None if oldest_s is None or newest_s is None or newest_s < oldest_s else (newest_s - oldest_s) * _MS_PER_S


def _section(document: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for name in path:
        inner = document.get(name)
        if not isinstance(inner, Mapping):
            return {}
        document = inner
    return document


def _integer(document: Mapping[str, Any], *path: str) -> int | None:
    return known_count(_section(document, *path[:-1]).get(path[-1]))


def known_count(value: object) -> int | None:
    """A count as a server tells it; None for what it can't have counted."""
    return int(value) if isinstance(value, int | float) and 0 <= value <= COUNT_MAX else None


def _mebibytes(document: Mapping[str, Any], *path: str) -> int | None:
    value = _integer(document, *path)
    return None if value is None else value * _MEBIBYTE


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None

"""Owns the columns of one look at the server. A value that isn't known is None, never 0.

Each column is one of three kinds, and its type says which:

- `Counter`: grows since the server's (or its host's) start; what it says is the difference of two rows, per time or
  per something else that was counted. It can fall back when the server was started again: see `uptime_ms`.
- `Gauge`: what holds at the instant of the look.
- `Constant`: the same in every row.

`COUNTERS`, `GAUGES` and `CONSTANTS` are their names.
"""

from dataclasses import dataclass, fields
from typing import Annotated, TypeAlias

Counter: TypeAlias = Annotated[int | None, "counter"]
Gauge: TypeAlias = Annotated[int | None, "gauge"]
Constant: TypeAlias = Annotated[int | float | None, "constant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """One look at the server.

    `at_ns` is when the answer was there and the host's figures were read, on the run's clock. `gap` says why a look
    failed, "" when it did not. `round_trip_ns` is how long the answers took. `server` is the address of the server that
    the row is of, "" where a followed set had no primary: from one address to another, counters begin anew.
    """

    at_ns: int
    gap: str = ""
    server: str = ""
    round_trip_ns: Gauge = None
    uptime_ms: Gauge = None
    # Operations, as the server counts them. A find is a `query`; each inserted document is an `insert`.
    insert: Counter = None
    query: Counter = None
    update: Counter = None
    delete: Counter = None
    getmore: Counter = None
    command: Counter = None
    # The server's own view of latency: operations, and the time inside the server of all of them together.
    reads_ops: Counter = None
    reads_latency_us: Counter = None
    writes_ops: Counter = None
    writes_latency_us: Counter = None
    commands_ops: Counter = None
    commands_latency_us: Counter = None
    # What they did to documents and indexes. A server counts what expired when it is through with all of it, and each
    # entry of a collection or an index that is removed, by whomever.
    documents_inserted: Counter = None
    documents_returned: Counter = None
    documents_updated: Counter = None
    documents_deleted: Counter = None
    documents_expired: Counter = None
    entries_removed: Counter = None
    documents_scanned: Counter = None
    index_keys_scanned: Counter = None
    collection_scans: Counter = None
    sorts_without_index: Counter = None
    write_conflicts: Counter = None
    # Traffic of the server process.
    network_bytes_in: Counter = None
    network_bytes_out: Counter = None
    network_requests: Counter = None
    # Connections now, how many more there may be, and made since the start.
    connections: Gauge = None
    connections_available: Gauge = None
    connections_active: Gauge = None
    connections_created: Counter = None
    # Memory of the process.
    resident_bytes: Gauge = None
    virtual_bytes: Gauge = None
    page_faults: Counter = None
    # WiredTiger's cache. "By application" is done by threads that serve clients, while those wait.
    cache_bytes_max: Constant = None
    cache_bytes_used: Gauge = None
    cache_bytes_dirty: Gauge = None
    cache_bytes_updates: Gauge = None
    cache_bytes_read: Counter = None
    cache_bytes_written: Counter = None
    cache_pages_evicted_by_application: Counter = None
    cache_eviction_by_application_us: Counter = None
    cache_wait_by_application_us: Counter = None
    cache_read_by_application_us: Counter = None
    cache_write_by_application_us: Counter = None
    # Checkpoints. `checkpoint_last_ms` is the length of the last one that ended.
    checkpoint_running: Gauge = None
    checkpoints: Counter = None
    checkpoint_total_ms: Counter = None
    checkpoint_last_ms: Gauge = None
    # Compaction of tables (`compact`): those at work now, and those that ended.
    compactions_running: Gauge = None
    compactions: Counter = None
    # Journal.
    journal_syncs: Counter = None
    journal_sync_time_us: Counter = None
    journal_bytes_written: Counter = None
    # Admission: tickets in use, in all, operations that wait for one, and the time they waited (from 7.0 on).
    read_tickets_out: Gauge = None
    read_tickets_total: Gauge = None
    write_tickets_out: Gauge = None
    write_tickets_total: Gauge = None
    read_queue: Gauge = None
    write_queue: Gauge = None
    read_queue_time_us: Counter = None
    write_queue_time_us: Counter = None
    # Locks: clients at work or waiting in the server, and waits for any lock of MongoDB's hierarchy.
    active_readers: Gauge = None
    active_writers: Gauge = None
    lock_waits: Counter = None
    lock_wait_us: Counter = None
    # Transactions.
    transactions_open: Gauge = None
    transactions_active: Gauge = None
    transactions_committed: Counter = None
    transactions_aborted: Counter = None
    # Of an SQL database: pages that statements asked the buffer pool for, those of them that were not there, its size;
    # bytes read from and written to data files; sessions that wait for a lock at the look, and for the log to be
    # written; waits because the log's buffer was full; fsyncs of data files and log.
    buffer_requests: Counter = None
    buffer_misses: Counter = None
    buffer_bytes_max: Constant = None
    buffer_bytes_used: Gauge = None
    buffer_bytes_dirty: Gauge = None
    database_bytes_read: Counter = None
    database_bytes_written: Counter = None
    lock_waiters: Gauge = None
    deadlocks: Counter = None
    log_waiters: Gauge = None
    log_waits: Counter = None
    fsyncs: Counter = None
    # Replication: waits for a write concern above 1, flow control, and the set as this member sees it. `members_*` are
    # numbers of members; the lags are 0 when nobody is behind. The oplog reaches back as far as its window.
    write_concern_waits: Counter = None
    write_concern_wait_ms: Counter = None
    flow_control_wait_us: Counter = None
    flow_control_lagged: Gauge = None
    oplog_window_ms: Gauge = None
    members_primary: Gauge = None
    members_secondary: Gauge = None
    members_arbiter: Gauge = None
    members_recovering: Gauge = None
    members_unreachable: Gauge = None
    replication_lag_slowest_ms: Gauge = None
    replication_lag_majority_ms: Gauge = None
    # CPU of the server process; `server_cpu_count` is how many CPUs it may use;
    # control groups allow parts of one.
    server_cpu_ns: Counter = None
    server_cpu_count: Constant = None
    # The deployment's other members on the server's host: their CPU together, and each by name, as
    # `record.named_times` writes it. Of other programs those that took most since the first look, where they were read.
    members_cpu_ns: Counter = None
    members_cpu_ns_by_name: str | None = None
    others_cpu_ns_by_name: str | None = None
    # The server's host, only when it is this machine. `iowait` is time in which a CPU had nothing to do but wait for a
    # disk; it is not part of `busy`.
    host_busy_ns: Counter = None
    host_iowait_ns: Counter = None
    host_cpu_count: Constant = None
    host_memory_total_bytes: Constant = None
    host_memory_available_bytes: Gauge = None
    host_swap_used_bytes: Gauge = None
    # The disk that holds the server's data: `busy` is time with any request in flight, `queue` the sum of the time of
    # all requests, so that its growth per time is the mean number in flight.
    disk_reads: Counter = None
    disk_writes: Counter = None
    disk_bytes_read: Counter = None
    disk_bytes_written: Counter = None
    disk_read_time_ms: Counter = None
    disk_write_time_ms: Counter = None
    disk_busy_ms: Counter = None
    disk_queue_time_ms: Counter = None
    disk_in_flight: Gauge = None
    disk_free_bytes: Gauge = None
    # The host's network: all real interfaces together, loopback apart.
    host_network_bytes_in: Counter = None
    host_network_bytes_out: Counter = None
    host_network_drops: Counter = None
    host_loopback_bytes: Counter = None
    host_tcp_retransmits: Counter = None
    # Whether the generator runs on the server's host: 1 or 0.
    shared_host: bool | None = None
    # Memory of the generator, and what watching costs: CPU time of the server for the monitor's connection, and of the
    # monitor's own thread.
    generator_resident_bytes: Gauge = None
    monitor_server_cpu_ns: Counter = None
    monitor_cpu_ns: Counter = None

    def columns(self) -> dict[str, int | float | str | None]:
        """The row as plain values, for the run record; a bool is 0 or 1."""
        values = {name: getattr(self, name) for name in COLUMNS}
        return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(ServerRow))
"""Names of the columns, in the order of the CSV file."""
COUNTERS: frozenset[str] = frozenset(field.name for field in fields(ServerRow) if field.type is Counter)
"""Columns that grow; only differences of two rows mean anything."""
GAUGES: frozenset[str] = frozenset(field.name for field in fields(ServerRow) if field.type is Gauge)
"""Columns that say what holds at the instant of the look."""
SQL_ALONE: frozenset[str] = frozenset(
    {
        *("buffer_requests", "buffer_misses", "buffer_bytes_max", "buffer_bytes_used", "buffer_bytes_dirty"),
        *("database_bytes_read", "database_bytes_written", "lock_waiters", "deadlocks", "log_waiters", "log_waits"),
        "fsyncs",
    }
)
"""Columns that MongoDB has nothing for."""
CONSTANTS: frozenset[str] = frozenset(field.name for field in fields(ServerRow) if field.type is Constant)
"""Columns that are the same in every row."""

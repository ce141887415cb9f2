"""Owns the columns of one look at the server. A value the server doesn't have is None, never 0."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """One look at the server.

    `at_ns` is when the answer was there and CPU times were read, on the run's clock. Columns named after
    counters grow since the server's start; rates are differences of two rows. `gap` says why a look failed,
    "" when it did not.
    """

    at_ns: int
    gap: str = ""
    round_trip_ns: int | None = None
    uptime_ms: int | None = None
    # Counters.
    insert: int | None = None
    query: int | None = None
    update: int | None = None
    delete: int | None = None
    getmore: int | None = None
    command: int | None = None
    network_bytes_in: int | None = None
    network_bytes_out: int | None = None
    # Connections now, and made since the start.
    connections: int | None = None
    connections_active: int | None = None
    connections_created: int | None = None
    # Memory of the process.
    resident_bytes: int | None = None
    virtual_bytes: int | None = None
    # WiredTiger's cache; evictions and transfers are counters.
    cache_bytes_max: int | None = None
    cache_bytes_used: int | None = None
    cache_bytes_dirty: int | None = None
    cache_bytes_read: int | None = None
    cache_bytes_written: int | None = None
    cache_pages_evicted_by_application: int | None = None
    # Checkpoints.
    checkpoint_running: int | None = None
    checkpoints: int | None = None
    checkpoint_total_ms: int | None = None
    # Journal; counters.
    journal_syncs: int | None = None
    journal_sync_time_us: int | None = None
    # Admission: tickets in use, in all, and operations that wait for one.
    read_tickets_out: int | None = None
    read_tickets_total: int | None = None
    write_tickets_out: int | None = None
    write_tickets_total: int | None = None
    read_queue: int | None = None
    write_queue: int | None = None
    # CPU, only of a server on this machine; times are counters.
    server_cpu_ns: int | None = None
    server_cpu_count: int | None = None
    host_busy_ns: int | None = None
    host_cpu_count: int | None = None
    shared_host: bool | None = None

    def columns(self) -> dict[str, int | str | None]:
        """The row as plain values, for the run record; a bool is 0 or 1."""
        values = {name: getattr(self, name) for name in COLUMNS}
        return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(ServerRow))
"""Names of the columns, in the order of the CSV file."""

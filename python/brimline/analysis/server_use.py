"""Owns how the server's parts were used over the measured window, from the columns that the monitor wrote.

Waits are given as mean numbers of waiting operations: the growth of "time waited" per time, which by Little's law is
how many were waiting at once on average. They compare with the operations in flight.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brimline.analysis.server_window import ServerWindow
from brimline.units import NS_PER_US

COMMANDS = ("query", "insert", "update", "delete", "getmore")
"""Opcounters of what a workload asks for; `command` is left out, it holds what monitoring sends."""
WRITES = ("insert", "update", "delete")
_KIND_SHARE_MIN = 0.1
"""Share of queries or of writes among both from which they belong to the workload."""
_TRANSACTIONS = ("transactions_committed", "transactions_aborted")
_MATCHED = ("documents_returned", "update", "delete")
_US_PER_S = 1e6
_MS_PER_S = 1e3
_BITS_PER_BYTE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUse:
    """The server over the measured window. Shares are of 1, `*_waiting` are mean numbers of operations.

    None: the monitor didn't see it, or the server has no such figure. `commands_per_s` and `writes_per_s` are the
    server's own counts; what is "per command" is divided by the first.
    """

    commands_per_s: float | None = None
    writes_per_s: float | None = None
    latency_mean_ns: float | None = None  # inside the server, reads and writes together
    latency_quicker_ns: float | None = None  # the mean of reads or of writes that were asked for, the lower one
    round_trip_min_ns: float | None = None  # of the monitor's own command
    # Query plans and conflicts.
    scanned_per_match: float | None = None  # documents looked at for each that was returned or written
    conflicts_per_write: float | None = None
    lock_waiting: float | None = None
    # Cache.
    cache_fill: float | None = None
    cache_dirty: float | None = None
    cache_read_bytes_per_command: float | None = None
    evictions_by_application_per_command: float | None = None
    cache_waiting: float | None = None  # reading pages, evicting, or waiting until others have
    # An SQL database's buffer pool: pages that statements asked for and that were not in it.
    buffer_misses_per_statement: float | None = None
    buffer_miss_share: float | None = None  # of all pages asked for
    deadlocks_per_s: float | None = None
    log_waiting: float | None = None  # sessions that wait for the log to be written, at a look
    fsyncs_per_s: float | None = None
    # Journal and checkpoints.
    journal_sync_share: float | None = None  # of the time, in which the journal was being synced
    journal_syncs_per_s: float | None = None
    journal_sync_mean_ns: float | None = None
    checkpoint_share: float | None = None  # of the looks, at which a checkpoint ran
    # Disk of the data.
    disk_busy_share: float | None = None
    disk_bytes_per_s: float | None = None
    disk_in_flight: float | None = None
    # Admission.
    read_tickets_share: float | None = None
    read_queue: float | None = None
    write_tickets_share: float | None = None
    write_queue: float | None = None
    # Network of the server process, replication.
    network_bytes_per_s: float | None = None
    link_share: float | None = None  # of what the host's interfaces can carry together, in the busier direction
    link_share_max: float | None = None  # of the slowest interface, should all of it have gone through that one
    write_concern_waiting: float | None = None
    replication_lag_s: float | None = None


def server_use(window: ServerWindow, *, link_bits_per_s: tuple[float, ...] = ()) -> ServerUse:
    """What the rows of the measured window say. `link_bits_per_s`: what each of the host's interfaces can carry."""
    return ServerUse(
        commands_per_s=window.rate(*COMMANDS),
        writes_per_s=window.rate(*WRITES),
        latency_mean_ns=_scaled(
            window.ratio(("reads_latency_us", "writes_latency_us"), ("reads_ops", "writes_ops")), NS_PER_US
        ),
        latency_quicker_ns=_latency_quicker_ns(window),
        round_trip_min_ns=window.lowest("round_trip_ns"),
        scanned_per_match=window.ratio(("documents_scanned",), _MATCHED),
        conflicts_per_write=window.ratio(("write_conflicts",), WRITES),
        lock_waiting=_lock_waiting(window),
        **_cache(window),
        **_buffer_pool(window),
        **_storage(window),
        read_tickets_share=window.mean_share("read_tickets_out", "read_tickets_total"),
        read_queue=window.mean("read_queue"),
        write_tickets_share=window.mean_share("write_tickets_out", "write_tickets_total"),
        write_queue=window.mean("write_queue"),
        network_bytes_per_s=window.rate("network_bytes_in", "network_bytes_out"),
        **_link_shares(window, link_bits_per_s),
        write_concern_waiting=_scaled(window.rate("write_concern_wait_ms"), 1 / _MS_PER_S),
        replication_lag_s=_scaled(window.highest("replication_lag_majority_ms"), 1 / _MS_PER_S),
    )


def link_bits_per_s(server_facts: Mapping[str, Any]) -> tuple[float, ...]:
    """What each interface of the server's host can carry, from a record's facts; empty unless all say so."""
    monitor = server_facts.get("monitor") or {}
    speeds = ((monitor.get("host") or {}).get("interfaces_bits_per_s") or {}).values()
    return () if None in speeds else tuple(float(each) for each in speeds)


def _link_shares(window: ServerWindow, speeds_bits_per_s: tuple[float, ...]) -> dict[str, float | None]:
    """Between which shares the fullest interface was used: rows hold the traffic of all of them together."""
    rates = [window.rate(column) for column in ("host_network_bytes_in", "host_network_bytes_out")]
    known = [rate for rate in rates if rate is not None]
    if not known or not any(speeds_bits_per_s):
        return {"link_share": None, "link_share_max": None}
    busier_bits_per_s = max(known) * _BITS_PER_BYTE
    slowest = min(each for each in speeds_bits_per_s if each)
    return {
        "link_share": busier_bits_per_s / sum(speeds_bits_per_s),
        "link_share_max": busier_bits_per_s / slowest,
    }


def _latency_quicker_ns(window: ServerWindow) -> float | None:
    """A kind that the workload hardly has is left out: a server reads a little for itself, however it is written to."""
    means = [
        window.ratio((f"{kind}_latency_us",), (f"{kind}_ops",))
        for kind, commands in (("reads", ("query",)), ("writes", WRITES))
        if (window.ratio(commands, ("query", *WRITES)) or 0.0) >= _KIND_SHARE_MIN
    ]
    return _scaled(min((mean for mean in means if mean is not None), default=None), NS_PER_US)


def _cache(window: ServerWindow) -> dict[str, float | None]:
    waits = [
        rate
        for column in ("cache_read_by_application_us", "cache_wait_by_application_us")
        if (rate := window.rate(column)) is not None
    ]
    return {
        "cache_fill": window.mean_share("cache_bytes_used", "cache_bytes_max"),
        "cache_dirty": window.mean_share("cache_bytes_dirty", "cache_bytes_max"),
        "cache_read_bytes_per_command": window.ratio(("cache_bytes_read",), COMMANDS),
        "evictions_by_application_per_command": window.ratio(("cache_pages_evicted_by_application",), COMMANDS),
        "cache_waiting": sum(waits) / _US_PER_S if waits else None,
    }


def _lock_waiting(window: ServerWindow) -> float | None:
    """By the time that was waited, else by who waited at each look."""
    by_time = _scaled(window.rate("lock_wait_us"), 1 / _US_PER_S)
    return window.mean("lock_waiters") if by_time is None else by_time


def _buffer_pool(window: ServerWindow) -> dict[str, float | None]:
    misses = ("buffer_misses",)
    per_statement = window.ratio(misses, ("query", *WRITES))
    return {
        # PostgreSQL counts no statements; those outside of a transaction are one each.
        "buffer_misses_per_statement": window.ratio(misses, _TRANSACTIONS) if per_statement is None else per_statement,
        "buffer_miss_share": window.ratio(misses, ("buffer_requests",)),
        "deadlocks_per_s": window.rate("deadlocks"),
        "log_waiting": window.mean("log_waiters"),
        "fsyncs_per_s": window.rate("fsyncs"),
    }


def _storage(window: ServerWindow) -> dict[str, float | None]:
    checkpoints = window.values("checkpoint_running")
    return {
        "journal_sync_share": _scaled(window.rate("journal_sync_time_us"), 1 / _US_PER_S),
        "journal_syncs_per_s": window.rate("journal_syncs"),
        "journal_sync_mean_ns": _scaled(window.ratio(("journal_sync_time_us",), ("journal_syncs",)), NS_PER_US),
        "checkpoint_share": sum(running > 0 for running in checkpoints) / len(checkpoints) if checkpoints else None,
        "disk_busy_share": _scaled(window.rate("disk_busy_ms"), 1 / _MS_PER_S),
        "disk_bytes_per_s": window.rate("disk_bytes_read", "disk_bytes_written"),
        "disk_in_flight": _scaled(window.rate("disk_queue_time_ms"), 1 / _MS_PER_S),
    }


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor

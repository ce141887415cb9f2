"""Owns what PostgreSQL is asked while it is watched: the views `pg_stat_*`, as far as the version has them.

A backend hands on what it counted at the end of a transaction, at most once a second, and all of it when it ends: what
a run did is counted once its connections are closed. Source: the manual's chapter "Monitoring Database Activity".
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from brimline.monitor.server_status import known_count
from brimline.monitor.sql.counters import SqlCounters
from brimline.monitor.sql.dialect import Columns, MonitorDialect
from brimline.servers.sql_client import CONTROL_SESSION, SqlClient, SqlError

_OF_DATABASE: Final = (
    "SELECT d.*, current_setting('block_size')::bigint AS block_bytes, "
    "pg_size_bytes(current_setting('shared_buffers')) AS shared_bytes, "
    "(extract(epoch FROM now() - pg_postmaster_start_time()) * 1000)::bigint AS uptime_ms "
    "FROM pg_stat_database d WHERE datname = $1"
)
_ACTIVITY: Final = (
    "SELECT count(*) AS connections, count(*) FILTER (WHERE state = 'active') AS active, "
    "count(*) FILTER (WHERE wait_event_type = 'Lock') AS lock_waiters, "
    "count(*) FILTER (WHERE state = 'active' AND wait_event IN ('WALSync', 'WalSync', 'WALWrite', 'WalWrite')) "
    "AS log_waiters, "
    "count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS open_transactions "
    "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
)
_CHECKPOINTS: Final = (
    "SELECT num_timed + num_requested AS checkpoints, write_time + sync_time AS ms FROM pg_stat_checkpointer",
    "SELECT checkpoints_timed + checkpoints_req AS checkpoints, checkpoint_write_time + checkpoint_sync_time AS ms "
    "FROM pg_stat_bgwriter",
)
_LOG: Final = (
    "SELECT w.wal_bytes, i.fsyncs AS wal_sync, i.fsync_time AS wal_sync_time, w.wal_buffers_full FROM pg_stat_wal w, "
    "(SELECT sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time FROM pg_stat_io WHERE object = 'wal') i",
    "SELECT wal_bytes, wal_sync, wal_sync_time, wal_buffers_full FROM pg_stat_wal",
)
_FSYNCS: Final = ("SELECT sum(fsyncs) AS fsyncs FROM pg_stat_io",)
_STATEMENTS: Final = (
    "SELECT lower(substring(query FROM '^[\\s(]*([A-Za-z]+)')) AS kind, sum(calls)::bigint AS calls "
    "FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1) GROUP BY 1"
)
_OTHERS: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' "
    "AND pid <> pg_backend_pid() AND application_name LIKE 'brimline%' AND (application_name = $2) = $3"
)
_KINDS: Final = {"start": "begin", "end": "commit", "abort": "rollback", "with": "select", "values": "select"}
_SETTLED_WITHIN_S: Final = 2.0
_REST_S: Final = 0.02


def _first(client: SqlClient, texts: tuple[str, ...], *parameters: Any) -> Mapping[str, Any]:
    """The one row of the first of `texts` that this version understands; empty where none does.

    What is refused once isn't asked for again.
    """
    for text in texts:
        if text in client.refused:
            continue
        try:
            found = client.named_rows(text, *parameters)
        except SqlError:
            client.refused.add(text)
            continue
        return found[0] if found else {}
    return {}


def _look(client: SqlClient, database: str) -> Columns:
    found = _first(client, (_OF_DATABASE,), database)
    activity = _first(client, (_ACTIVITY,))
    checkpoints, log = _first(client, _CHECKPOINTS), _first(client, _LOG)
    return read_views(
        found,
        activity=activity,
        checkpoints=checkpoints,
        log=log,
        fsyncs=_first(client, _FSYNCS),
    )


def read_views(
    database: Mapping[str, Any],
    *,
    activity: Mapping[str, Any],
    checkpoints: Mapping[str, Any],
    log: Mapping[str, Any],
    fsyncs: Mapping[str, Any],
) -> Columns:
    """The columns of a row; what the server doesn't say is None."""
    hit, read, block = _whole(database, "blks_hit"), _whole(database, "blks_read"), _whole(database, "block_bytes")
    synced_ms = _whole(log, "wal_sync_time")
    return {
        "uptime_ms": _whole(database, "uptime_ms"),
        "insert": _whole(database, "tup_inserted"),
        "update": _whole(database, "tup_updated"),
        "delete": _whole(database, "tup_deleted"),
        "documents_inserted": _whole(database, "tup_inserted"),
        "documents_updated": _whole(database, "tup_updated"),
        "documents_deleted": _whole(database, "tup_deleted"),
        "documents_scanned": _whole(database, "tup_returned"),
        "transactions_committed": _whole(database, "xact_commit"),
        "transactions_aborted": _whole(database, "xact_rollback"),
        "deadlocks": _whole(database, "deadlocks"),
        "buffer_requests": None if hit is None or read is None else hit + read,
        "buffer_misses": read,
        "buffer_bytes_max": _whole(database, "shared_bytes"),
        "database_bytes_read": None if read is None or block is None else read * block,
        "connections": _whole(activity, "connections"),
        "connections_active": _whole(activity, "active"),
        "lock_waiters": _whole(activity, "lock_waiters"),
        "log_waiters": _whole(activity, "log_waiters"),
        "transactions_open": _whole(activity, "open_transactions"),
        "checkpoints": _whole(checkpoints, "checkpoints"),
        "checkpoint_total_ms": _whole(checkpoints, "ms"),
        "journal_bytes_written": _whole(log, "wal_bytes"),
        "journal_syncs": _whole(log, "wal_sync"),
        "journal_sync_time_us": synced_ms * 1000 if synced_ms else None,  # 0: nobody takes the time
        "log_waits": _whole(log, "wal_buffers_full"),
        "fsyncs": _whole(fsyncs, "fsyncs"),
    }


def _whole(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return None if value is None else known_count(int(value))


def _counters(client: SqlClient, database: str) -> SqlCounters:
    found = client.named_rows(_OF_DATABASE, database)[0]
    statements: dict[str, int] | None = None
    try:
        rows = client.rows(_STATEMENTS, database)
    except SqlError:
        pass  # the extension isn't there, or may not be seen
    else:
        statements = {}
        for kind, calls in rows:
            name = _KINDS.get(str(kind), str(kind))
            statements[name] = statements.get(name, 0) + int(calls)
    return SqlCounters(
        engine="postgres",
        uptime_ms=int(found["uptime_ms"]),
        statements=statements,
        rows_written=sum(int(found[f"tup_{what}"]) for what in ("inserted", "updated", "deleted")),
        transactions=int(found["xact_commit"]) + int(found["xact_rollback"]),
        counts_attempts=True,
    )


def _settle(client: SqlClient, database: str, connected: bool) -> None:
    """What a session did is counted once it has ended. Those of a run that is about to begin have done nothing yet."""
    until_s = time.monotonic() + _SETTLED_WITHIN_S
    while int(client.rows(_OTHERS, database, CONTROL_SESSION, connected)[0][0]) and time.monotonic() < until_s:
        time.sleep(_REST_S)
    client.rows("SELECT pg_stat_clear_snapshot()")


def _sizes(client: SqlClient, database: str, table: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "database": {"total_bytes": int(client.rows("SELECT pg_database_size($1)", database)[0][0])}
    }
    of_table = client.named_rows(
        "SELECT c.reltuples::bigint AS row_estimate, pg_table_size(c.oid) AS data_bytes, "
        "pg_indexes_size(c.oid) AS index_bytes, pg_total_relation_size(c.oid) AS total_bytes "
        "FROM pg_class c WHERE c.oid = to_regclass(quote_ident($1))",
        table,
    )
    if of_table:
        found["table"] = {name: int(value) for name, value in of_table[0].items()}
    return found


def _thread(client: SqlClient, pid: int) -> Path | None:  # noqa: ARG001 (each connection has a process of its own)
    return Path("/proc") / str(client.thread)


DIALECT: Final = MonitorDialect(
    home="postgres", counts_itself=0, look=_look, counters=_counters, settle=_settle, sizes=_sizes, thread=_thread
)

"""Owns what MariaDB and MySQL are asked while they are watched: `SHOW GLOBAL STATUS` above all.

As counted by MariaDB 10.11: `Com_*` counts each statement once, prepared or not, also one that fails. `Handler_write`,
`Handler_update` and `Handler_delete` count rows of tables that are not temporary, also those of attempts that fail, or
are rolled back; an update that changes nothing counts none. Sources: the manuals' pages of status variables.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from brimline.monitor.server_status import COUNT_MAX, known_count
from brimline.monitor.sql.counters import SqlCounters
from brimline.monitor.sql.dialect import Columns, MonitorDialect
from brimline.servers.sql_client import SqlClient, SqlError

_STATEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "select": ("com_select",),
    "insert": ("com_insert", "com_insert_select"),
    "update": ("com_update", "com_update_multi"),
    "delete": ("com_delete", "com_delete_multi"),
    "replace": ("com_replace", "com_replace_select"),
    "begin": ("com_begin",),
    "commit": ("com_commit",),
    "rollback": ("com_rollback",),
    "call": ("com_call_procedure",),
}
_ROWS: Final = ("handler_write", "handler_update", "handler_delete")
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "query": _STATEMENTS["select"],
    "insert": _STATEMENTS["insert"] + _STATEMENTS["replace"],
    "update": _STATEMENTS["update"],
    "delete": _STATEMENTS["delete"],
    "command": (*_STATEMENTS["begin"], *_STATEMENTS["commit"], *_STATEMENTS["rollback"], *_STATEMENTS["call"]),
    "documents_inserted": ("handler_write",),
    "documents_updated": ("handler_update",),
    "documents_deleted": ("handler_delete",),
    "documents_scanned": ("handler_read_next", "handler_read_prev", "handler_read_rnd_next"),
    "index_keys_scanned": ("handler_read_key",),
    "collection_scans": ("select_scan", "select_full_join"),
    "sorts_without_index": ("sort_scan", "sort_range"),
    "network_bytes_in": ("bytes_received",),
    "network_bytes_out": ("bytes_sent",),
    "connections": ("threads_connected",),
    "connections_active": ("threads_running",),
    "connections_created": ("connections",),
    "lock_waits": ("innodb_row_lock_waits",),
    "lock_waiters": ("innodb_row_lock_current_waits",),
    "transactions_committed": ("com_commit",),
    "transactions_aborted": ("com_rollback",),
    "deadlocks": ("innodb_deadlocks",),
    "buffer_requests": ("innodb_buffer_pool_read_requests",),
    "buffer_misses": ("innodb_buffer_pool_reads",),
    "buffer_bytes_used": ("innodb_buffer_pool_bytes_data",),
    "buffer_bytes_dirty": ("innodb_buffer_pool_bytes_dirty",),
    "database_bytes_read": ("innodb_data_read",),
    "database_bytes_written": ("innodb_data_written",),
    "fsyncs": ("innodb_data_fsyncs",),
    "log_waits": ("innodb_log_waits",),
    "journal_bytes_written": ("innodb_os_log_written",),
}
"""Columns of a row by the status variables that they are the sum of."""
_FURTHER: Final = ("uptime", "innodb_row_lock_time", "innodb_buffer_pool_pages_total", "innodb_page_size")
_NAMES: Final = sorted(
    {*_FURTHER, *_ROWS, *(name for names in (*_STATEMENTS.values(), *_COLUMNS.values()) for name in names)}
)
_STATUS: Final = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({', '.join(repr(name) for name in _NAMES)})"
_US_PER_MS: Final = 1000


def _status(client: SqlClient) -> dict[str, int]:
    found = {}
    for name, value in client.rows(_STATUS):
        if str(value).isdecimal() and int(value) <= COUNT_MAX:
            found[str(name).lower()] = int(value)
    return found


def _total(status: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    known = [status[name] for name in names if name in status]
    return sum(known) if known else None


def read_status(status: Mapping[str, int]) -> Columns:
    """The columns of a row; what the server doesn't say is None."""
    columns: Columns = {column: _total(status, names) for column, names in _COLUMNS.items()}
    pages, page_bytes = status.get("innodb_buffer_pool_pages_total"), status.get("innodb_page_size")
    waited_ms, uptime_s = status.get("innodb_row_lock_time"), status.get("uptime")
    return columns | {
        "uptime_ms": None if uptime_s is None else uptime_s * 1000,
        "lock_wait_us": None if waited_ms is None else waited_ms * _US_PER_MS,
        "buffer_bytes_max": None if pages is None or page_bytes is None else pages * page_bytes,
    }


def _look(client: SqlClient, database: str) -> Columns:  # noqa: ARG001 (the counters are of all databases)
    return read_status(_status(client))


def _counters(client: SqlClient, database: str) -> SqlCounters:  # noqa: ARG001 (as above)
    status = _status(client)
    return SqlCounters(
        engine="mysql",
        uptime_ms=status.get("uptime", 0) * 1000,
        statements={kind: total for kind, names in _STATEMENTS.items() if (total := _total(status, names)) is not None},
        rows_written=_total(status, _ROWS),
        transactions=None,
        counts_attempts=True,
    )


def _settle(client: SqlClient, database: str, connected: bool) -> None:
    """Counts are up to date at once."""


def _sizes(client: SqlClient, database: str, table: str) -> dict[str, Any]:
    """Bytes by `innodb_tablespaces` where it may be seen, which are files' true sizes; else estimates."""
    found: dict[str, Any] = {}
    whole = client.named_rows(
        "SELECT COUNT(*) AS tables, SUM(data_length) AS data_bytes, SUM(index_length) AS index_bytes, "
        "SUM(data_free) AS free_bytes FROM information_schema.tables WHERE table_schema = %s",
        database,
    )
    found["database"] = _whole_numbers(whole[0])
    of_table = client.named_rows(
        "SELECT table_rows AS row_estimate, data_length AS data_bytes, index_length AS index_bytes, "
        "data_free AS free_bytes FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
        database,
        table,
    )
    if of_table:
        found["table"] = _whole_numbers(of_table[0])
    for view in ("innodb_sys_tablespaces", "innodb_tablespaces"):
        try:
            files = client.rows(
                f"SELECT name, file_size FROM information_schema.{view} WHERE name LIKE %s",  # noqa: S608
                f"{database}/%",
            )
        except SqlError:
            continue
        found["database"]["file_bytes"] = sum(int(size) for _, size in files)
        of_table_file = [int(size) for name, size in files if str(name) == f"{database}/{table}"]
        if "table" in found and of_table_file:
            found["table"]["file_bytes"] = of_table_file[0]
        break
    return found


def _whole_numbers(row: Mapping[str, Any]) -> dict[str, int | None]:
    return {name: None if value is None else known_count(int(value)) for name, value in row.items()}


def _thread(client: SqlClient, pid: int) -> Path | None:
    """MariaDB tells the thread of the system; MySQL its performance schema, where it is on."""
    for text in (
        "SELECT tid FROM information_schema.processlist WHERE id = CONNECTION_ID()",
        "SELECT thread_os_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID()",
    ):
        try:
            found = client.rows(text)
        except SqlError:
            continue
        if found and found[0][0]:
            return Path("/proc") / str(pid) / "task" / str(int(found[0][0]))
    return None


DIALECT: Final = MonitorDialect(
    home=None, counts_itself=1, look=_look, counters=_counters, settle=_settle, sizes=_sizes, thread=_thread
)

"""Owns an SQL database behind its address: who answers, in which version, and with which settings.

Source: the manuals of MariaDB, MySQL and PostgreSQL on their system variables.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from brimline.servers.deployment import Deployment, Engine, is_local_host
from brimline.servers.lab.lookup import lab_facts, lab_server
from brimline.servers.listening import listening_process
from brimline.servers.password import PasswordSource
from brimline.servers.sql_client import SqlClient, SqlError, open_client, sql_errors
from brimline.servers.sql_reading import ConnectionLost
from brimline.servers.target_uri import parse_target_uri

_MYSQL_SETTINGS: Final = (
    "binlog_format",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "max_connections",
    "query_cache_type",
    "read_only",
    "rpl_semi_sync_master_enabled",
    "rpl_semi_sync_source_enabled",
    "sync_binlog",
    "thread_handling",
    "tx_isolation",
    "transaction_isolation",
)
_POSTGRES_SETTINGS: Final = (
    "autovacuum",
    "checkpoint_timeout",
    "default_transaction_isolation",
    "effective_cache_size",
    "fsync",
    "full_page_writes",
    "max_connections",
    "max_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "synchronous_standby_names",
    "track_io_timing",
    "wal_level",
    "work_mem",
)
SETTINGS: Final = {"mysql": _MYSQL_SETTINGS, "postgres": _POSTGRES_SETTINGS}
"""What is kept of a server's settings with each record, under the server's own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Durability:
    """When a write is acknowledged. `on_disk`: not before a crash would keep it; None: it can't be told."""

    on_disk: bool | None
    words: str


def database(uri: str, *, password: PasswordSource | None = None) -> Deployment:
    """The database behind `uri`, which has answered and taken the login.

    Raises:
        UsageError: the address can't be honoured.
        TargetError: nothing answers, not as that kind of server, or it refuses.
    """
    target = parse_target_uri(uri, password=password)
    with open_client(target) as client, sql_errors("asking the server what it is"):
        version = str(client.rows("SELECT version()")[0][0])
        settings = _settings(client, target.protocol)
        place = _data_directory(client, target.protocol)
    process = listening_process(target.port) if is_local_host(target.host) else None
    lab, _ = lab_server(target.address) or (None, None)
    return Deployment(
        protocol=target.protocol,
        address=target.address,
        uri_redacted=target.redacted,
        kind="standalone",
        engine=_engine(target.protocol, version),
        version=_number(version),
        git_version="",
        local=process is not None,
        pid=process,
        cpu_count=None if process is None else os.cpu_count(),
        access=target.access,
        of_uri=target,
        lab=None if lab is None else lab_facts(lab),
        facts={"described": version, "settings": settings},
        data_directory=place,
    )


def durability(deployment: Deployment) -> Durability:
    """When an SQL database acknowledges a write, by its settings."""
    return durability_of(deployment.protocol, deployment.facts.get("settings", {}))


def durability_of(protocol: str, settings: Mapping[str, Any]) -> Durability:
    """The same of settings that a record holds."""
    if protocol == "mysql":
        names = ["innodb_flush_log_at_trx_commit", *(["sync_binlog"] if settings.get("log_bin") == "ON" else [])]
        known = [settings.get(name) for name in names]
        on_disk = None if None in known else all(value == "1" for value in known)
    else:
        names = ["fsync", "synchronous_commit"]
        known = [settings.get(name) for name in names]
        on_disk = None if None in known else known[0] == "on" and known[1] not in ("off",)
    words = ", ".join(f"{name}={value}" for name, value in zip(names, known, strict=True))
    return Durability(on_disk=on_disk, words=words)


def awaits_others(protocol: str, settings: Mapping[str, Any]) -> bool | None:
    """Whether a write is acknowledged only once another server has it; None where these settings don't tell."""
    if not settings:
        return None
    if protocol == "mysql":  # without the plugin there is no such variable
        return any(value == "ON" for name, value in settings.items() if name.startswith("rpl_semi_sync_"))
    return bool(settings.get("synchronous_standby_names")) and settings.get("synchronous_commit") not in (
        "local",
        "off",
    )


def _engine(protocol: str, version: str) -> Engine:
    if protocol == "postgres":
        return "PostgreSQL"
    return "MariaDB" if "mariadb" in version.lower() else "MySQL"


def _number(version: str) -> str:
    """`10.11.19-MariaDB-0+deb12u1` and `PostgreSQL 15.18 (Debian …) on …` without what is around the number."""
    words = version.removeprefix("PostgreSQL ").split()
    return words[0].partition("-")[0] if words else "unknown"


def _settings(client: SqlClient, protocol: str) -> dict[str, str]:
    names = SETTINGS[protocol]
    if protocol == "mysql":
        listed = ", ".join(f"'{name}'" for name in names)
        found = client.rows(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({listed})")
    else:
        listed = ", ".join(f"'{name}'" for name in names)
        found = client.rows(f"SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({listed})")  # noqa: S608
    return {str(name): str(value) for name, value in sorted(found)}


def _data_directory(client: SqlClient, protocol: str) -> Path | None:
    """Where the server keeps its data, if it tells this user."""
    with suppress(SqlError, ConnectionLost):
        text = "SELECT @@datadir" if protocol == "mysql" else "SHOW data_directory"
        return Path(str(client.rows(text)[0][0]))
    return None

"""Owns watching an SQL database: its counts around a run, its state during it, how large its tables are."""

from collections.abc import Mapping

from brimline.monitor.sql import mysql, postgres
from brimline.monitor.sql.agreement import check_sql_agreement
from brimline.monitor.sql.counters import SqlCounters
from brimline.monitor.sql.dialect import MonitorDialect
from brimline.monitor.sql.watched_database import WatchedDatabase

DIALECTS: Mapping[str, MonitorDialect] = {"mysql": mysql.DIALECT, "postgres": postgres.DIALECT}
"""What each kind of server is asked, by its protocol."""

__all__ = ["DIALECTS", "MonitorDialect", "SqlCounters", "WatchedDatabase", "check_sql_agreement"]

"""Owns the form of what one kind of SQL server is asked while it is watched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.monitor.sql.counters import SqlCounters
from brimline.servers.sql_client import SqlClient

Columns = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorDialect:
    """Functions of one connection; each raises SqlError and ConnectionLost.

    `home`: a database for the monitor's own connection, so that what it asks isn't counted as the load's; None: none.
    `counts_itself`: how many of the sessions at work that `look` tells are the monitor's own.
    `look`: columns of a `ServerRow` for a database. `counters`: what was counted so far of a database. `settle`:
    returns when what ended is counted, or after a moment; told whether the run's own connections are there already.
    `sizes`: of a database and one of its tables. `thread`: where the monitor's own thread is in /proc, given the
    server's pid.
    """

    home: str | None
    counts_itself: int
    look: Callable[[SqlClient, str], Columns]
    counters: Callable[[SqlClient, str], SqlCounters]
    settle: Callable[[SqlClient, str, bool], None]
    sizes: Callable[[SqlClient, str, str], Mapping[str, Any]]
    thread: Callable[[SqlClient, int], Path | None]

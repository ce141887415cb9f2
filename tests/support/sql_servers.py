"""Owns the MariaDB and PostgreSQL that tests share: one of each for a session, a database for each file of tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

from brimline.errors import UsageError
from brimline.servers.lab.own_sql import own_sql
from brimline.servers.lab.state import server_process
from brimline.servers.sql_client import SqlClient, open_client
from brimline.servers.sql_programs import SqlSystem, find_sql_program
from brimline.servers.target_uri import TargetUri, parse_target_uri

SYSTEMS: tuple[SqlSystem, ...] = ("mariadb", "postgres")
_MYSQL = os.environ.get("TEST_MYSQL")
_NAMES = {"mariadb": "MariaDB", "postgres": "PostgreSQL"}
_SCHEMES = {"mariadb": "mariadb", "postgres": "postgresql"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlServer:
    """A server. `admin` is the address of its own database, the user's password in it; `pid` is of one that is ours."""

    system: SqlSystem
    admin: str = field(repr=False)
    pid: int | None = None

    @property
    def protocol(self) -> str:
        return "mysql" if self.system == "mariadb" else "postgres"

    def uri(self, database: str) -> str:
        """The address of one of its databases."""
        return f"{self.admin.rpartition('/')[0]}/{database}"

    def target(self, database: str) -> TargetUri:
        return parse_target_uri(self.uri(database))

    @contextmanager
    def client(self, database: str) -> Iterator[SqlClient]:
        with open_client(self.target(database)) as client:
            yield client

    def make_database(self, name: str) -> None:
        """An empty database, whatever there was of that name."""
        with open_client(parse_target_uri(self.admin)) as client:
            client.change(f"DROP DATABASE IF EXISTS {name}" + (" WITH (FORCE)" if self.system == "postgres" else ""))
            client.change(f"CREATE DATABASE {name}")


@contextmanager
def shared_server(system: SqlSystem, directory: Path) -> Iterator[SqlServer]:
    """A server whose files are in `directory`; skips the test where its program isn't here.

    `TEST_MYSQL` of the environment, the address of a MySQL whose user may do everything, stands in MariaDB's place.
    """
    if system == "mariadb" and _MYSQL is not None:
        yield SqlServer(system=system, admin=_MYSQL)
        return
    try:
        find_sql_program(system)
    except UsageError:
        pytest.skip(f"no {_NAMES[system]} here: make {system}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(directory))
        server = own_sql(system, cache_gb=0.25)
        lab = server.__enter__()
    try:
        assert lab.password_file is not None
        user = f"{lab.user}:{quote(lab.password_file.read_text().strip(), safe='')}"
        address = lab.servers[0].address
        process = server_process(lab, lab.servers[0])
        assert process is not None
        yield SqlServer(system=system, admin=f"{_SCHEMES[system]}://{user}@{address}/brimline", pid=process.pid)
    finally:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(directory))
            server.__exit__(None, None, None)

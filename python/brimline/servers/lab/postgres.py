"""Owns how a PostgreSQL of a lab is set up, started, reached and asked.

Settings, all else is the server's default:

- `listen_addresses` 127.0.0.1, no Unix socket: reachable from this machine only, by the lab's user alone
  (SCRAM-SHA-256), from `pg_hba.conf` of the lab's own.
- `shared_buffers`: the lab's cache.
- `fsync`, `full_page_writes`, `synchronous_commit` on: a commit is on disk when it is acknowledged.
- `max_connections`: the default of 100 would end many a load before the server does.
- `pg_stat_statements` where it is installed: it counts statements, which the server else does not.

PostgreSQL does not run as root. For root it runs in a user namespace in which its user is nobody, so that its data
stays in the lab's private directory. SIGQUIT ends the server with all of its processes, and gives shared memory back.
"""

import signal
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pg8000.dbapi

from brimline.servers.deployment import CONNECT_TIMEOUT_S, split_address
from brimline.servers.lab import access
from brimline.servers.lab.spec import LabSpec
from brimline.servers.lab.state import Lab
from brimline.servers.lab.wish import Wish
from brimline.servers.launch import Manner
from brimline.servers.sql_programs import SqlProgram

CONNECTIONS_MAX = 2_000

_ACCESS_FILE = "pg_hba.conf"
_STATEMENTS = "pg_stat_statements"
_SMALL_SETUP = ("--wal-segsize=1", "--no-sync")
_FIRST_DATABASE = "postgres"
"""What `initdb` makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresWish(Wish):
    """A PostgreSQL."""

    binary: SqlProgram
    spec: LabSpec

    @property
    def program(self) -> Path:
        """The server's."""
        return self.binary.path

    def start(self, lab: Lab, directory: Path, port: int) -> tuple[list[str], Manner]:
        """Set up by `initdb` first."""
        setup = [
            *(str(self.binary.setup), "--pgdata", str(directory / "data"), "--username", str(lab.user)),
            *("--pwfile", str(lab.password_file), "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale"),
            *(_SMALL_SETUP if self.spec.small else ()),
        ]
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": "",
            "hba_file": lab.secret / _ACCESS_FILE,
            "shared_buffers": f"{round(self.spec.cache_gb * 2**20)}kB",
            "fsync": "on",
            "full_page_writes": "on",
            "synchronous_commit": "on",
            "max_connections": CONNECTIONS_MAX,
            **({"shared_preload_libraries": _STATEMENTS} if has_statements(self.binary) else {}),
        }
        if lab.tls:
            certificate = lab.secret / "server.pem"
            settings |= {"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": certificate}
        command = [str(self.binary.path), "-D", str(directory / "data")]
        command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return command, Manner(before=(tuple(setup),), end_signal=signal.SIGQUIT, seen_as_nobody=True)


def has_statements(binary: SqlProgram) -> bool:
    """Whether the extension that counts statements is installed."""
    root = binary.path.parent.parent
    return any(root.glob(f"lib/**/{_STATEMENTS}.so"))


def write_secrets(lab: Lab) -> None:
    """Writes who is let in. Raises OSError."""
    kind = "hostssl" if lab.tls else "host"
    access.private_file(lab.secret / _ACCESS_FILE, f"{kind} all {lab.user} 127.0.0.1/32 scram-sha-256\n")


def make_database(lab: Lab, address: str, binary: SqlProgram) -> None:
    """Makes the database that is there from the beginning. Raises what pg8000 raises."""
    for database, statements in (
        (_FIRST_DATABASE, [f"CREATE DATABASE {access.DATABASE}"]),
        (access.DATABASE, [f"CREATE EXTENSION {_STATEMENTS}"] if has_statements(binary) else []),
    ):
        with _connected(lab, address, database) as connection:
            connection.autocommit = True  # a database can't be made in a transaction
            for statement in statements:
                connection.cursor().execute(statement)


def connection_string(lab: Lab, address: str, *, with_password: bool) -> str:
    """How to reach the database that is there from the beginning."""
    ca = f"?sslmode=verify-ca&sslrootcert={quote(str(lab.ca_file), safe='/')}" if lab.tls else ""
    return f"postgresql://{access.user_information(lab, with_password=with_password)}{address}/{access.DATABASE}{ca}"


def answers(lab: Lab, address: str) -> bool:
    """Whether it lets the lab's user in, and answers."""
    try:
        with _connected(lab, address, _FIRST_DATABASE) as connection:
            connection.cursor().execute("SELECT 1")
    except (pg8000.dbapi.Error, OSError):
        return False
    return True


def _connected(lab: Lab, address: str, database: str) -> pg8000.dbapi.Connection:
    host, port = split_address(address)
    connection: pg8000.dbapi.Connection = pg8000.dbapi.connect(
        user=lab.user,
        host=host,
        port=port,
        database=database,
        password=access.password(lab),
        timeout=CONNECT_TIMEOUT_S,
        ssl_context=ssl.create_default_context(cafile=lab.ca_file) if lab.tls else False,
    )
    return connection

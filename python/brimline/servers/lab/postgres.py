"""Owns how a PostgreSQL of a lab is set up and started.

Settings, all else is the server's default:

- `listen_addresses` 127.0.0.1, no Unix socket: reachable from this machine only, by the lab's user alone
  (SCRAM-SHA-256), from `pg_hba.conf` of the lab's own.
- `shared_buffers`: the lab's cache.
- `fsync`, `full_page_writes`, `synchronous_commit` on: a commit is on disk when it is acknowledged.
- `max_connections`: the default of 100 would end many a load before the server does.
- `pg_stat_statements` where it is installed: it counts statements, which the server else does not.

- `dynamic_shared_memory_type` sysv: a file in /dev/shm would stay where the server is killed.

PostgreSQL does not run as root. For root it runs in a user namespace in which its user is nobody, so that its data
stays in the lab's private directory. In a namespace of its own its shared memory ends with its last process. SIGQUIT
ends the server with all of its processes, and gives shared memory back where there can be no such namespace, as in many
containers.
"""

import signal
from dataclasses import dataclass
from pathlib import Path

from brimline.servers.lab import access
from brimline.servers.lab.spec import LabSpec
from brimline.servers.lab.sql_access import sql_client
from brimline.servers.lab.state import Lab, LabServer
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
            "dynamic_shared_memory_type": "sysv",
            "max_connections": CONNECTIONS_MAX,
            **({"shared_preload_libraries": _STATEMENTS} if has_statements(self.binary) else {}),
        }
        if lab.tls:
            certificate = lab.secret / "server.pem"
            settings |= {"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": certificate}
        command = [str(self.binary.path), "-D", str(directory / "data")]
        command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return command, Manner(before=(tuple(setup),), end_signal=signal.SIGQUIT, apart=True)


def has_statements(binary: SqlProgram) -> bool:
    """Whether the extension that counts statements is installed."""
    root = binary.path.parent.parent
    return any(root.glob(f"lib/**/{_STATEMENTS}.so"))


def write_secrets(lab: Lab) -> None:
    """Writes who is let in. Raises OSError."""
    kind = "hostssl" if lab.tls else "host"
    access.private_file(lab.secret / _ACCESS_FILE, f"{kind} all {lab.user} 127.0.0.1/32 scram-sha-256\n")


def make_database(lab: Lab, server: LabServer, binary: SqlProgram) -> None:
    """Makes the database that is there from the beginning. Raises TargetError, SqlError, ConnectionLost."""
    with sql_client(lab, server, database=_FIRST_DATABASE) as client:
        client.change(f"CREATE DATABASE {access.DATABASE}")
    if has_statements(binary):
        with sql_client(lab, server) as client:
            client.change(f"CREATE EXTENSION {_STATEMENTS}")

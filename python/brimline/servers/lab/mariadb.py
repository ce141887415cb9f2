"""Owns how a MariaDB of a lab is set up and started.

Settings, all else is the server's default:

- `--bind-address 127.0.0.1`: reachable from this machine only. Its Unix socket is in its private directory.
- `--init-file`: makes the lab's user at each start, before anybody is let in. The file holds the password's hash.
- `--innodb-buffer-pool-size`: the lab's cache.
- `--innodb-flush-log-at-trx-commit 1`, no binary log: a commit is on disk when it is acknowledged, and written once.
- `--max-connections`: the default of 151 would end many a load before the server does.
- `--skip-name-resolve`: no look-up of names when a client connects.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from brimline.servers.lab import access
from brimline.servers.lab.spec import LabSpec
from brimline.servers.lab.state import Lab
from brimline.servers.lab.wish import Wish
from brimline.servers.launch import Manner
from brimline.servers.sql_programs import SqlProgram

CONNECTIONS_MAX = 10_000

_INIT_FILE = "mariadb-init.sql"
_SMALL = ("--innodb-log-file-size=8M", "--innodb-log-buffer-size=2M")


@dataclass(frozen=True, slots=True, kw_only=True)
class MariaDbWish(Wish):
    """A MariaDB."""

    binary: SqlProgram
    spec: LabSpec

    @property
    def program(self) -> Path:
        """The server's."""
        return self.binary.path

    def start(self, lab: Lab, directory: Path, port: int) -> tuple[list[str], Manner]:
        """Set up by its own script first."""
        # Temporary files are called by the process' number, which another server has too in a namespace of its own.
        data = (f"--datadir={directory / 'data'}", f"--tmpdir={directory}")
        # A script and a server that start as root say as whom they are to run, or refuse to.
        user = ["--user=root"] if os.geteuid() == 0 else []
        setup = [
            *(str(self.binary.setup), "--no-defaults", *data, *user, "--skip-test-db"),
            *("--auth-root-authentication-method=socket", "--auth-root-socket-user=root"),
        ]
        command = [
            *(str(self.binary.path), "--no-defaults", *data, *user),
            *(f"--port={port}", "--bind-address=127.0.0.1", "--socket=mariadb.sock", "--skip-name-resolve"),
            *(f"--init-file={lab.secret / _INIT_FILE}", "--character-set-server=utf8mb4"),
            *("--innodb-flush-log-at-trx-commit=1", "--skip-log-bin"),
            f"--innodb-buffer-pool-size={round(self.spec.cache_gb * 2**30)}",
            f"--max-connections={CONNECTIONS_MAX}",
            *(_SMALL if self.spec.small else ()),
        ]
        if lab.tls:
            certificate = lab.secret / "server.pem"
            command += [f"--ssl-ca={lab.ca_file}", f"--ssl-cert={certificate}", f"--ssl-key={certificate}"]
            command += ["--require-secure-transport=ON"]
        return command, Manner(before=(tuple(setup),))


def write_secrets(lab: Lab) -> None:
    """Writes what the server executes before it lets anybody in. Raises OSError."""
    once = hashlib.sha1(access.password(lab).encode(), usedforsecurity=False).digest()
    stored = hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()  # as mysql_native_password has it
    user = f"'{lab.user}'@'127.0.0.1'"
    access.private_file(
        lab.secret / _INIT_FILE,
        f"CREATE DATABASE IF NOT EXISTS {access.DATABASE};\n"
        f"CREATE USER IF NOT EXISTS {user} IDENTIFIED VIA mysql_native_password USING '*{stored}';\n"
        f"GRANT ALL PRIVILEGES ON *.* TO {user} WITH GRANT OPTION;\n",
    )

"""Owns a real mongod with access control, TLS or both, on loopback, in a directory of its own."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo
from pymongo.errors import PyMongoError

from brimline.servers import ServerBinary
from brimline.servers.bundled import free_port, server_command
from tests.support.server import GONE_AFTER_MS
from tests.support.waiting import eventually

ADMIN, ADMIN_PASSWORD = "root", "p@ss/w:ord%1"
"""The user that every server with access control has; the password has what must be escaped in an address."""


@dataclass(frozen=True, slots=True)
class SecuredServer:
    """A server that answers. `client_options` open it for its administrator."""

    port: int
    pid: int
    directory: Path
    client_options: dict[str, Any]

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self.port}"

    def client(self) -> pymongo.MongoClient[dict[str, Any]]:
        """A client of the administrator; to be closed."""
        return pymongo.MongoClient(
            f"mongodb://{self.address}",
            directConnection=True,
            serverSelectionTimeoutMS=GONE_AFTER_MS,
            **self.client_options,
        )

    def only_the_administrator(self, client: pymongo.MongoClient[dict[str, Any]]) -> None:
        """Takes away all other users, and all roles."""
        for user in client.admin.command("usersInfo", {"forAllDBs": True})["users"]:
            if (user["db"], user["user"]) != ("admin", ADMIN):
                client[user["db"]].command("dropUser", user["user"])
        for role in client.admin["system.roles"].find():
            client[role["db"]].command("dropRole", role["role"])

    def log(self) -> str:
        """What the server has logged."""
        return (self.directory / "mongod.log").read_text()


@contextmanager
def secured_mongod(
    binary: ServerBinary,
    directory: Path,
    *,
    access_control: bool = True,
    options: Sequence[str | Path] = (),
    client_tls: dict[str, Any] | None = None,
) -> Iterator[SecuredServer]:
    """A mongod with `--auth` and one user, and with `options`, for which clients may need `client_tls`."""
    (directory / "data").mkdir(parents=True)
    port = free_port()
    command = [
        *server_command(binary.path, directory=directory, port=port, cache_gb=0.25),
        *("--wiredTigerEngineConfigString", "log=(prealloc=false,file_max=10MB)"),
        *map(str, options),
        *(["--auth"] if access_control else []),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        server = SecuredServer(port, process.pid, directory, dict(client_tls or {}))
        assert eventually(lambda: _answers(server), timeout_s=60), "the server did not start"
        if access_control:
            with server.client() as client:
                client.admin.command("createUser", ADMIN, pwd=ADMIN_PASSWORD, roles=["root"])
            server.client_options.update(username=ADMIN, password=ADMIN_PASSWORD)
        yield server
    finally:
        process.kill()
        process.wait()


def _answers(server: SecuredServer) -> bool:
    try:
        with server.client() as client:
            client.admin.command("ping")
    except PyMongoError:
        return False
    return True

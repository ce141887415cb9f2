"""Owns a mongod that a test kills and starts again at the same address, with the same data."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import pymongo
from pymongo.errors import PyMongoError

from tests.support.server import GONE_AFTER_MS, required_mongod, slow

_START_TIMEOUT_S = 60.0


class OwnMongod:
    """One server; `start` and `kill` as often as wanted."""

    def __init__(self, directory: Path, *, more: tuple[str, ...] = ()) -> None:
        self._directory = directory
        self._more = more
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @classmethod
    @contextmanager
    def running(cls, directory: Path, *, more: tuple[str, ...] = ()) -> Iterator[Self]:
        server = cls(directory, more=more)
        try:
            server.start()
            yield server
        finally:
            server.kill()

    @property
    def uri(self) -> str:
        return f"mongodb://{self.address}"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def client(self) -> pymongo.MongoClient[dict[str, Any]]:
        """A client that doesn't wait long where the server was killed meanwhile."""
        return pymongo.MongoClient(self.uri, serverSelectionTimeoutMS=GONE_AFTER_MS)

    def start(self) -> None:
        """Starts it and waits until it answers."""
        self._directory.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            [
                required_mongod().path,
                *("--dbpath", self._directory, "--port", str(self.port), "--bind_ip", "127.0.0.1"),
                *("--wiredTigerCacheSizeGB", "0.25", "--setParameter", "enableTestCommands=1", *self._more),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + _START_TIMEOUT_S
        with pymongo.MongoClient[dict[str, object]](self.uri, serverSelectionTimeoutMS=500) as client:
            while time.monotonic() < until:
                with suppress(PyMongoError):
                    client.admin.command("ping")
                    return
        raise AssertionError("mongod did not start")

    def slow(self, command: str, *, each_ms: int = 20) -> AbstractContextManager[None]:
        """Each such command takes so much longer."""
        return slow(self.uri, command, each_ms=each_ms)

    def slow_inserts(self) -> AbstractContextManager[None]:
        """A load isn't over before something happens to it."""
        return self.slow("insert")

    def kill(self) -> None:
        """As `kill -9` does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

"""Owns a second host on this machine: a network of its own, joined to ours by a cable, in which programs are started.

Its addresses are none of ours, so that what is there is elsewhere. Kernel, processors and disks are shared.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.namespaces import networks
from tests.support.server import required_mongod
from tests.support.waiting import eventually

SERVER_PORT, WATCH_PORT = 27017, 27027


@dataclass(frozen=True, slots=True)
class OtherHost:
    """The host at `address`; `name` is that of its network."""

    name: str
    address: str
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    @contextmanager
    def joined(cls) -> Iterator["OtherHost"]:
        """Joined during the block; what was started there ends with it. Skips where there can be none."""
        with (
            networks(1, second=213) as made,
            cls.of(made.names[0], made.addresses[0]) as host,
        ):
            yield host

    @classmethod
    @contextmanager
    def of(cls, name: str, address: str) -> Iterator["OtherHost"]:
        """That of a network which is there already, likewise."""
        host = cls(name, address)
        try:
            yield host
        finally:
            for process in host._started:
                process.kill()
                process.wait()

    def start(self, *command: str | Path, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Starts a program there; its pid is the one that it has here, and it sees what /sys shows here."""
        started = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{self.name}", *map(str, command)],
            env={**os.environ, **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._started.append(started)
        return started

    def start_mongod(self, directory: Path) -> subprocess.Popen[bytes]:
        """A mongod there that takes connections."""
        directory.mkdir(exist_ok=True)
        settings = ("--dbpath", directory, "--port", str(SERVER_PORT), "--bind_ip", self.address)
        started = self.start(required_mongod().path, *settings, "--wiredTigerCacheSizeGB", "0.25")
        assert eventually(lambda: self.answers(SERVER_PORT)), "the mongod there did not start"
        return started

    def start_watch(self, *, token: str, port: int = WATCH_PORT) -> subprocess.Popen[bytes]:
        """`brimline watch` there."""
        listen = f"{self.address}:{port}"
        command = (sys.executable, "-m", "brimline", "watch", "--listen", listen)
        started = self.start(*command, environment={"BRIMLINE_WATCH_TOKEN": token})
        assert eventually(lambda: self.answers(port)), "brimline watch did not start"
        return started

    @property
    def uri(self) -> str:
        return f"mongodb://{self.address}:{SERVER_PORT}"

    def answers(self, port: int) -> bool:
        with suppress(OSError), socket.create_connection((self.address, port), timeout=1):
            return True
        return False


@contextmanager
def busy_disk(directory: Path) -> Iterator[None]:
    """Other programs read from the disk below `directory` without an end, past the memory."""
    file = directory / "read-again-and-again"
    with file.open("wb") as written:
        for _ in range(64):
            written.write(os.urandom(1 << 20))
        written.flush()
        os.fsync(written.fileno())
    read = (
        "import mmap, os, random, sys\n"
        "room = mmap.mmap(-1, 1 << 20)\n"
        "file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)\n"
        "while True: os.preadv(file, [room], random.randrange(63) << 20)\n"
    )
    readers = [subprocess.Popen([sys.executable, "-c", read, file]) for _ in range(3)]
    try:
        if any(each.poll() is not None for each in readers):
            pytest.skip("this file system can't be read past the memory")
        yield
    finally:
        for each in readers:
            each.kill()
            each.wait()

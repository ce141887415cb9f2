"""Owns a replica set of real servers on loopback: started, initiated, stopped."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pymongo.errors import PyMongoError

from brimline.servers import ServerBinary, control_client
from brimline.servers.bundled import free_port, server_command
from tests.support.waiting import eventually

_SMALL_JOURNAL = ("--wiredTigerEngineConfigString", "log=(prealloc=false,file_max=10MB)")
_SETTINGS = {"electionTimeoutMillis": 1000, "heartbeatIntervalMillis": 500}


@dataclass(frozen=True, slots=True)
class Member:
    """A running member."""

    address: str
    process: subprocess.Popen[bytes]


@contextmanager
def replica_set(
    binary: ServerBinary,
    directory: Path,
    *,
    members: int = 1,
    tags: Sequence[Mapping[str, str]] = (),
    delays_s: Mapping[int, int] | None = None,
) -> Iterator[Sequence[Member]]:
    """A set whose first member is the primary; the others never become it.

    `tags` are of the members in turn. `delays_s`: how much later a member, by its place, applies writes.
    """
    with ExitStack() as stack:
        started = [stack.enter_context(_member(binary, directory / f"member{number}")) for number in range(members)]
        hosts = [
            {
                "_id": number,
                "host": member.address,
                "priority": int(number == 0),
                "tags": dict(tags[number]) if tags else {},
                "secondaryDelaySecs": (delays_s or {}).get(number, 0),
            }
            for number, member in enumerate(started)
        ]
        with control_client(started[0].address) as client:
            client.admin.command({"replSetInitiate": {"_id": "test", "members": hosts, "settings": _SETTINGS}})
            assert eventually(lambda: bool(client.admin.command("hello").get("isWritablePrimary"))), "no primary"
            assert eventually(lambda: _states(client.admin.command("replSetGetStatus")) == members), "not all in step"
        yield started


def _states(status: dict[str, list[dict[str, object]]]) -> int:
    """How many members are primary or secondary."""
    return sum(member["state"] in (1, 2) for member in status["members"])


@contextmanager
def _member(binary: ServerBinary, directory: Path) -> Iterator[Member]:
    (directory / "data").mkdir(parents=True)
    port = free_port()
    command = server_command(binary.path, directory=directory, port=port, cache_gb=0.25)
    process = subprocess.Popen(
        [*command, "--replSet", "test", "--oplogSize", "64", *_SMALL_JOURNAL], stdout=subprocess.DEVNULL
    )
    try:
        address = f"127.0.0.1:{port}"
        assert eventually(lambda: _answers(address), timeout_s=60), "a member did not start"
        yield Member(address, process)
    finally:
        process.kill()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with control_client(address, connect_timeout_s=1.0) as client:
            client.admin.command("ping")
    except PyMongoError:
        return False
    return True

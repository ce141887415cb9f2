"""Owns the mongod under all clients: started on its cores, its data, its counters, its profiler."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pymongo.errors import CollectionInvalid, OperationFailure

import brimline
from benchmarks.peers.catalogue import COLLECTION, DATABASE, LOAD_DATABASE
from benchmarks.peers.processes import cpu_ns, on_cores
from benchmarks.peers.ready_memory import ready_memory
from benchmarks.peers.settings import CACHE_GB, Settings
from brimline.errors import TargetError
from brimline.servers import Deployment, bundled, control_client, find_mongod
from brimline.servers.deployment import Client

COUNTERS = ("insert", "query", "update")
_NAMESPACE_EXISTS = 48
_EMPTYING_TRIES, _BETWEEN_TRIES_S = 20, 0.25
_BETWEEN_CHECKPOINTS_S = 3600
"""The most that mongod allows."""
_LOOK_S, _BUSY_PART = 0.1, 0.15
_QUIET_LOOKS, _REST_LOOKS_MAX = 15, 300
"""A collection that was dropped leaves the server's memory up to a second later."""
_PROFILE_OFF, _PROFILE_ALL = 0, 2
_PROFILE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A mongod that answers."""

    address: str
    pid: int
    version: str
    client: Client

    @property
    def uri(self) -> str:
        """What clients are given."""
        return f"mongodb://{self.address}"

    def counters(self) -> dict[str, int]:
        """The server's own counts of what clients are compared by."""
        counted = self.client.admin.command("serverStatus")["opcounters"]
        return {kind: int(counted[kind]) for kind in COUNTERS}

    def empty_for_load(self) -> None:
        """Makes the collection of loads empty and existing: many clients at once would race to create it.

        Batches that the last client left in flight make it anew when they come in, so it may take several tries.
        """
        database = self.client[LOAD_DATABASE]
        for _ in range(_EMPTYING_TRIES):
            for name in database.list_collection_names(filter={"name": {"$not": {"$regex": "^system"}}}):
                database.drop_collection(name)
            try:
                database.create_collection(COLLECTION)
            except (CollectionInvalid, OperationFailure) as refused:
                if getattr(refused, "code", _NAMESPACE_EXISTS) not in (None, _NAMESPACE_EXISTS):
                    raise
                time.sleep(_BETWEEN_TRIES_S)
            else:
                return
        raise TargetError("somebody else writes to the collection of loads")

    def rest(self) -> bool:
        """Waits until the server has done what others left to it: batches in flight, dropped collections, a checkpoint.

        It makes one here and none by itself: else one in some windows would hold what several clients wrote. After half
        a minute a client begins all the same: a server that never rests treats all alike. Returns whether it rested.
        """
        self.client.admin.command("fsync")
        quiet, used_ns = 0, cpu_ns(self.pid)
        for _ in range(_REST_LOOKS_MAX):
            if quiet == _QUIET_LOOKS:
                return True
            time.sleep(_LOOK_S)
            before_ns, used_ns = used_ns, cpu_ns(self.pid)
            quiet = quiet + 1 if used_ns - before_ns < _BUSY_PART * _LOOK_S * 1e9 else 0
        return quiet >= _QUIET_LOOKS

    @contextmanager
    def profiled(self, namespace: str) -> Iterator[list[dict[str, Any]]]:
        """Notes every command on the collection while the `with` block runs; filled when it ends."""
        noted: list[dict[str, Any]] = []
        watched = self.client[namespace.partition(".")[0]]
        watched.create_collection("system.profile", capped=True, size=_PROFILE_BYTES)
        watched.command("profile", _PROFILE_ALL)
        try:
            yield noted
        finally:
            watched.command("profile", _PROFILE_OFF)
            noted.extend(watched["system.profile"].find({"ns": namespace}))
            watched["system.profile"].drop()


@contextmanager
def server(settings: Settings, mongod: Path | None) -> Iterator[Server]:
    """A fresh mongod on the server's cores, holding the records of workloads A and C.

    Raises brimline.BrimlineError where there is no mongod or it doesn't start.
    """
    with (
        ready_memory(settings.ready_bytes_max),
        bundled_on(settings.server_cores, mongod) as deployment,
        control_client(deployment.address) as client,
    ):
        assert deployment.pid is not None
        client.admin.command("setParameter", 1, syncdelay=_BETWEEN_CHECKPOINTS_S)
        load_records(f"mongodb://{deployment.address}", settings)
        yield Server(address=deployment.address, pid=deployment.pid, version=deployment.version, client=client)


@contextmanager
def bundled_on(cores: Sequence[int], mongod: Path | None) -> Iterator[Deployment]:
    """A private mongod that runs on these cores only."""
    with ExitStack() as stack:
        with on_cores(cores):
            deployment = stack.enter_context(bundled(binary=find_mongod(flag=mongod), cache_gb=CACHE_GB))
        yield deployment


def load_records(uri: str, settings: Settings) -> None:
    """The records that A and C work on, loaded by brimline."""
    wanted = {"data.records": settings.records, "data.database": DATABASE, "data.collection": COLLECTION}
    with temporary_runs() as runs:
        brimline.load(
            "ycsb-c", overrides=wanted | {"seed": settings.seed}, options=brimline.Options(uri=uri, runs_dir=runs)
        )


@contextmanager
def temporary_runs() -> Iterator[Path]:
    """A directory for records that nobody reads."""
    with TemporaryDirectory(prefix="peers-runs-") as directory:
        yield Path(directory)

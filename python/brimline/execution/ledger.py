"""Owns the ledger of a run under a fault: sessions that write beside the load, and what of it is there afterwards.

Each write adds its number to a document: `{$push: {writes: n}}`. So one that was lost and one that was done twice can
both be told, which neither the update of a field nor an insert by key shows. The sessions are those of the official
driver, with its retries as the deployment has them: what it hides is what an application would not see.
"""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pymongo
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError, WTimeoutError
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from brimline import _native
from brimline.errors import TargetError
from brimline.record.ledger import StaleRead, Write
from brimline.servers import Deployment, control_client, primary_now
from brimline.servers.answers import refusal_words
from brimline.servers.distrust import ControlClient
from brimline.spec.target import WriteConcernSpec
from brimline.threads import Worker

COLLECTION = "brimline_ledger"
SESSIONS = 4
"""Enough that one which waits for a server doesn't hold up all."""
BUCKET = 100
"""Writes of a document, so that none grows large."""
_SELECTION_MS = 30_000
"""The drivers' own default for how long an operation waits for a server."""
_SOCKET_MS = 20_000
"""A driver waits for ever by default; a ledger has to come to its end."""
_CONNECT_MS = 2_000
_REPLICATED_WITHIN_MS = 30_000
"""Within which most members have what a primary acknowledged; they all do their part by then."""
_END_WITHIN_S = 2 * (_SELECTION_MS + _SOCKET_MS) / 1000
_SEEN = "writes"


@dataclass(slots=True)
class _Session:
    """What one session did and saw."""

    number: int
    writes: list[Write] = field(default_factory=list)
    stale: list[StaleRead] = field(default_factory=list)


class Ledger:
    """Writes at `rate_per_s` from `start` to `stop`; then `there` says what of them is there.

    `prepare` makes its collection; `remove` takes its documents away.
    """

    def __init__(
        self,
        deployment: Deployment,
        *,
        database: str,
        write_concern: WriteConcernSpec | None,
        rate_per_s: float,
    ) -> None:
        self._deployment = deployment
        self._database = database
        self._concern = _write_concern(write_concern)
        self._pause_s = SESSIONS / rate_per_s
        self._retries = deployment.retry_writes
        self._run = secrets.token_hex(6)
        self._over = threading.Event()
        self._sessions = [_Session(number) for number in range(SESSIONS)]
        self._workers: list[Worker] = []
        self._client: ControlClient | None = None

    def prepare(self) -> None:
        """Makes the documents of the beginning, on most members, so that no roll-back takes them away.

        Raises TargetError.
        """
        try:
            with self._primary() as database:
                collection = database.get_collection(COLLECTION, write_concern=self._safe)
                collection.insert_many([{"_id": self._key(each.number, 0), _SEEN: []} for each in self._sessions])
        except PyMongoError as error:
            raise _trouble("the ledger of writes can't be made", error, hint="the user needs readWrite") from error

    def start(self) -> None:
        """Begins to write, with one client for all: four would take four times as much of an election's moment.

        Raises ResourceError.
        """
        client = self._client = self._connect()
        for each in self._sessions:
            worker = Worker(lambda session=each: self._write(client, session), name="the ledger")  # type: ignore[misc]
            worker.start()
            self._workers.append(worker)

    def stop(self) -> None:
        """Writes no more; waits for what is under way, as long as a driver does."""
        self._over.set()
        until = time.monotonic() + _END_WITHIN_S
        for worker in self._workers:
            worker.join(max(0.0, until - time.monotonic()))
        if self._client is not None:
            self._client.close()

    @property
    def described(self) -> dict[str, Any]:
        """How its writes are made, for the record."""
        concern = None if self._concern is None else self._concern.document
        return {"write_concern": concern, "retry_writes": self._retries, "sessions": SESSIONS}

    @property
    def writes(self) -> list[Write]:
        """All of them."""
        return [write for each in self._sessions for write in each.writes]

    @property
    def stale(self) -> list[StaleRead]:
        """The reads that lacked something."""
        return [stale for each in self._sessions for stale in each.stale]

    def there(self) -> list[tuple[int, int]]:
        """Every number that is there by (session, number), as often as most members have it now. Raises TargetError.

        A write comes before the read, and most members are to have it: what was acknowledged by one alone a moment ago
        would count as missing.
        """
        try:
            with self._primary() as database:
                database.get_collection(COLLECTION, write_concern=self._safe).update_one(
                    {"_id": self._key(0, 0)}, {"$set": {"over": True}}
                )
                collection = database.get_collection(COLLECTION, read_concern=self._majority)
                return [
                    (int(document["_id"].split("/")[1]), number)
                    for document in collection.find({"_id": {"$regex": f"^{self._run}/"}})
                    for number in document.get(_SEEN, ())
                ]
        except PyMongoError as error:
            raise _trouble("the ledger of writes can't be read", error, hint="see the server's log") from error

    def remove(self) -> None:
        """Takes its documents away, and the collection where nothing else is in it. Raises TargetError."""
        try:
            with self._primary() as database:
                database[COLLECTION].delete_many({"_id": {"$regex": f"^{self._run}/"}})
                if database[COLLECTION].find_one({}, {"_id": 1}) is None:
                    database.drop_collection(COLLECTION)
        except PyMongoError as error:
            place = f"{self._database}.{COLLECTION}"
            raise _trouble(f"{place} can't be removed", error, hint="drop it by hand") from error

    @property
    def _safe(self) -> WriteConcern:
        if self._deployment.kind != "replica-set member":
            return WriteConcern(w=1)
        return WriteConcern(w="majority", wtimeout=_REPLICATED_WITHIN_MS)

    @property
    def _majority(self) -> ReadConcern | None:
        return ReadConcern("majority") if self._deployment.kind == "replica-set member" else None

    def _key(self, session: int, number: int) -> str:
        return f"{self._run}/{session}/{number // BUCKET}"

    @contextmanager
    def _primary(self) -> Iterator[Any]:
        primary = primary_now(self._deployment)
        within_s = 2 * _REPLICATED_WITHIN_MS / 1000
        with control_client(
            primary.address, access=primary.access, purpose="ledger", command_timeout_s=within_s
        ) as client:
            yield client[self._database]

    def _connect(self) -> ControlClient:
        """As an application has one: it finds the primary by itself, and sends once more what it may."""
        found = self._deployment
        options: dict[str, Any] = {}
        hosts: tuple[str, ...]
        if found.replica_set is not None:
            options, hosts = {"replicaSet": found.replica_set.name}, tuple(found.replica_set.members)
        elif found.routers:
            hosts = (found.address, *found.routers)
        else:
            options, hosts = {"directConnection": True}, (found.address,)
        return ControlClient(
            f"mongodb://{','.join(hosts)}",
            appname="brimline-ledger",
            retryWrites=self._retries,
            retryReads=found.retry_reads,
            serverSelectionTimeoutMS=_SELECTION_MS,
            connectTimeoutMS=_CONNECT_MS,
            socketTimeoutMS=_SOCKET_MS,
            **options,
            **found.access.client_options(),
        )

    def _write(self, client: ControlClient, session: _Session) -> None:
        collection = self._as_asked(client[self._database])
        # An implicit session's reads promise as much; this one keeps its writes numbered apart.
        with client.start_session(causal_consistency=False) as driver:
            due_s, seen = time.monotonic() + session.number * self._pause_s / SESSIONS, set[int]()
            number = 0
            while not self._over.wait(max(0.0, due_s - time.monotonic())):
                key = self._key(session.number, number)
                if number % BUCKET == 0:
                    seen = set()
                write = self._one(collection, driver, session.number, number, key)
                session.writes.append(write)
                self._look(collection, driver, session, write, key, seen)
                number += 1
                due_s = max(due_s + self._pause_s, time.monotonic())

    def _as_asked(self, database: Any) -> Any:
        """Reads as those of the workload go, writes with its concern."""
        found = self._deployment
        options: dict[str, Any] = {"write_concern": self._concern}
        if found.read_concern is not None:
            options["read_concern"] = ReadConcern(found.read_concern)
        if found.reads is not None:
            options["read_preference"] = getattr(pymongo.ReadPreference, _PREFERENCES[found.reads.mode])
        return database.get_collection(COLLECTION, **options)

    @staticmethod
    def _one(collection: Any, driver: Any, session: int, number: int, key: str) -> Write:
        sent, error = _native.unix_now_ns(), ""
        try:
            collection.update_one({"_id": key}, {"$push": {_SEEN: number}}, upsert=True, session=driver)
        except OperationFailure as failure:
            error = f"{type(failure).__name__} {failure.code}"
        except PyMongoError as failure:
            error = type(failure).__name__
        answer: Any = "unknown" if error else "acknowledged"
        done = _native.unix_now_ns()
        return Write(session=session, number=number, sent_unix_ns=sent, done_unix_ns=done, answer=answer, error=error)

    @staticmethod
    def _look(collection: Any, driver: Any, session: _Session, write: Write, key: str, seen: set[int]) -> None:
        """Reads the document: the write just acknowledged is there, and all that was seen before still is."""
        try:
            document = collection.find_one({"_id": key}, session=driver)
        except PyMongoError:
            return
        there, now = set(() if document is None else document.get(_SEEN, ())), _native.unix_now_ns()
        own = [write.number] if write.answer == "acknowledged" and write.number not in there else []
        for kind, numbers in (("read-your-writes", own), ("monotonic reads", sorted(seen - there))):
            session.stale += [
                StaleRead(kind=kind, session=session.number, number=each, unix_ns=now)  # type: ignore[arg-type]
                for each in numbers
            ]
        seen &= there
        seen |= there


_PREFERENCES = {
    "primary": "PRIMARY",
    "primaryPreferred": "PRIMARY_PREFERRED",
    "secondary": "SECONDARY",
    "secondaryPreferred": "SECONDARY_PREFERRED",
    "nearest": "NEAREST",
}


def _trouble(what: str, error: PyMongoError, *, hint: str) -> TargetError:
    """Of a server that doesn't answer a driver says how it looked for one, in a thousand characters."""
    said = refusal_words(error) if isinstance(error, OperationFailure) else "the server doesn't answer"
    waited = isinstance(error, BulkWriteError) and not error.details["writeErrors"]
    if waited or isinstance(error, WTimeoutError):
        hint = (
            f"most members did not have a write after {_REPLICATED_WITHIN_MS // 1000} s: one that is delayed or down "
            "counts as well (rs.status() and rs.conf() say which); --ledger 0 leaves the ledger out"
        )
    return TargetError(f"{what}: {said}", hint=hint)


def _write_concern(spec: WriteConcernSpec | None) -> WriteConcern | None:
    if spec is None:
        return None
    return WriteConcern(w=spec.w, j=spec.journal, wtimeout=spec.timeout_ms)

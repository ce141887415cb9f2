"""Owns the plan's types, which mirror `crates/engine/src/plan.rs` and `crates/datagen` field by field.

The engine checks every bound again; here the shape is checked, so that a stored plan of another version or
with unknown keys is refused before anything reads it.
"""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer

from brimline.errors import visible
from brimline.plan.base import Count, Number, Part, without
from brimline.plan.documents import (
    ConstantLength,
    DocumentPlan,
    ExponentialKeys,
    HistogramLength,
    HotspotKeys,
    KeysPlan,
    LatestKeys,
    LengthPlan,
    SequentialKeys,
    UniformKeys,
    UniformLength,
    ZipfianKeys,
    ZipfianLength,
)
from brimline.plan.operations import OperationsWork
from brimline.plan.pacers import (
    ClosedPacer,
    ConstantPacer,
    PacerPlan,
    PoissonPacer,
    Stage,
    StagesPacer,
    ThinkTime,
    TlrPacer,
)

__all__ = [
    "PLAN_VERSION",
    "ClosedPacer",
    "ConstantLength",
    "ConstantPacer",
    "DocumentPlan",
    "DriverTarget",
    "ExponentialKeys",
    "HistogramLength",
    "HotspotKeys",
    "InsertRetries",
    "KeysPlan",
    "LatestKeys",
    "LengthPlan",
    "LoadWork",
    "MixWork",
    "Namespace",
    "NullTarget",
    "OperationsWork",
    "PacerPlan",
    "Plan",
    "PlannedStandstill",
    "PoissonPacer",
    "Proportions",
    "Reads",
    "RecordRange",
    "ReplicaSet",
    "SequentialKeys",
    "SimulatedTarget",
    "Stage",
    "StagesPacer",
    "TargetPlan",
    "ThinkTime",
    "TlrPacer",
    "Transaction",
    "UniformKeys",
    "UniformLength",
    "WireTarget",
    "WorkPlan",
    "WriteConcern",
    "ZipfianKeys",
    "ZipfianLength",
    "records_to_load",
]

PLAN_VERSION: Literal[1] = 1
_HASH_DIGITS = 8


class WriteConcern(Part):
    """Write concern of every write; `w` is a number of members, "majority" or a tag."""

    w: int | str
    journal: bool | None
    timeout_ms: Number | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "timeout_ms")


class Reads(Part):
    """Where reads go and what they say about it: the mode, tags and staleness of a read preference.

    `addresses` are the servers that take them, connections spread evenly; none: those that take writes.
    """

    addresses: Annotated[tuple[str, ...], Field(strict=False)]
    mode: str
    tag_sets: Annotated[tuple[dict[str, str], ...], Field(strict=False)]
    max_staleness_s: Number | None


class ReplicaSet(Part):
    """A set whose primary is followed: its name, the members known beforehand, `host:port` each.

    `selection_timeout_ns`: how long an operation waits for a server that takes it.
    """

    name: str
    members: Annotated[tuple[str, ...], Field(strict=False)]
    selection_timeout_ns: Count


_LEFT_OUT_OF_WIRE = (
    "routers",
    "shards",
    "reads",
    "read_concern",
    "replica_set",
    "retry_reads",
    "retry_writes",
    "sessions",
)


class WireTarget(Part):
    """A server that speaks MongoDB's protocol at `host:port`.

    `routers` are further routers of the same cluster; connections are spread over all of them. `shards` are further
    servers among which the generator itself shares out the records: record i is at server i modulo their number,
    `address` being the first. `replica_set` is the set whose primary takes the writes, whoever that is. `retry_reads`,
    `retry_writes`: whether a command is sent once more after an error that allows it. `sessions`: whether every command
    carries the session of its connection, as those of official drivers do where the server has sessions. What is left
    at its default is left out, so that plans from before keep their hash.

    `cpu_count`: how many processors each server has, where it is known. `beside_server`: whether it is on this machine,
    and no line between. A plan is made with both in mind and says itself what follows: they are no part of what is
    written.
    """

    kind: Literal["wire"] = "wire"
    address: str
    routers: Annotated[tuple[str, ...], Field(strict=False)] = ()
    shards: Annotated[tuple[str, ...], Field(strict=False)] = ()
    reads: Reads | None = None
    read_concern: str | None = None
    write_concern: WriteConcern | None
    replica_set: ReplicaSet | None = None
    retry_reads: bool = False
    retry_writes: bool = False
    sessions: bool = False
    cpu_count: int | None = Field(default=None, gt=0, exclude=True, repr=False)
    beside_server: bool = Field(default=False, exclude=True, repr=False)

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), *_LEFT_OUT_OF_WIRE)

    @property
    def sockets_per_connection(self) -> int:
        """To how many servers each connection leads."""
        return 2 if self.reads is not None and self.reads.addresses else self.server_count

    @property
    def server_count(self) -> int:
        """Among how many servers the records are shared out."""
        return 1 + len(self.shards)


class DriverTarget(Part):
    """The same by the official driver: one server, directly."""

    kind: Literal["driver"] = "driver"
    address: str
    read_concern: str | None = None
    write_concern: WriteConcern | None

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "read_concern")


class NullTarget(Part):
    """Answers at once: the generator's own ceiling.

    `beside_server`: waits end as those of a generator do that shares its machine with the server.
    """

    kind: Literal["null"] = "null"
    beside_server: bool = False

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "beside_server")


class PlannedStandstill(Part):
    """A time in which a simulated generator does not run."""

    at_ns: Count
    length_ns: Count


class SimulatedTarget(Part):
    """The scripted server on a virtual clock. `script` is the test server's own JSON and is checked by it."""

    kind: Literal["simulated"] = "simulated"
    script: dict[str, Any]
    generator_ns: Count
    standstills: tuple[PlannedStandstill, ...] = ()


TargetPlan = Annotated[WireTarget | DriverTarget | NullTarget | SimulatedTarget, Field(discriminator="kind")]


class Namespace(Part):
    """Database and collection."""

    database: str
    collection: str


class Proportions(Part):
    """Shares of the operations; they are normalised by their sum."""

    read: float
    update: float
    insert: float
    scan: float
    read_modify_write: float
    transaction: float = 0.0

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Plans without transactions keep their hash."""
        return {name: share for name, share in dump(self).items() if share or name != "transaction"}


class Transaction(Part):
    """What a transaction does before its commit: so many reads, then so many updates, of one document each."""

    reads: Count
    updates: Count


class MixWork(Part):
    """A mix of operations on loaded records.

    `name_read_fields`: a read of a whole document by key names each of its fields. `verify_reads`: what reads by key
    bring is compared with what it must be. `upsert`: inserts replace what is there. An insert is of `insert_batch_size`
    documents.
    """

    kind: Literal["mix"] = "mix"
    proportions: Proportions
    keys: KeysPlan
    scan_length: LengthPlan
    read_all_fields: bool
    name_read_fields: bool = False
    verify_reads: bool = False
    upsert: bool = False
    insert_batch_size: Number = 1
    write_all_fields: bool
    transaction: Transaction | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values = without(dump(self), "transaction", "name_read_fields", "verify_reads", "upsert")
        return {name: value for name, value in values.items() if (name, value) != ("insert_batch_size", 1)}


class InsertRetries(Part):
    """Attempts of an insert after the first, and the rest before each of them, up to a fifth shorter or longer."""

    limit: Number
    interval_ns: Count


class RecordRange(Part):
    """Records `first .. first + count`."""

    first: Count
    count: Count


class LoadWork(Part):
    """Inserts every record of the data once, `batch_size` documents per command.

    `ranges` names some of the records instead, ascending and apart: what a load that goes on has still to insert.
    `upsert`: what is there already is replaced. `insert_retries`: what is done about an insert that failed, None: it is
    counted.
    """

    kind: Literal["load"] = "load"
    batch_size: Number
    ordered: bool
    ranges: Annotated[tuple[RecordRange, ...], Field(strict=False)] | None = None
    upsert: bool = False
    insert_retries: InsertRetries | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "upsert", "insert_retries")


WorkPlan = Annotated[MixWork | LoadWork | OperationsWork, Field(discriminator="kind")]


def records_to_load(work: LoadWork, data: DocumentPlan) -> int:
    """How many documents a load is to insert."""
    return data.record_count if work.ranges is None else sum(each.count for each in work.ranges)


def _printable(name: str) -> str:
    if visible(name) != name:
        raise ValueError("the name steers a terminal")
    return name


class Plan(Part):
    """A complete, seeded description of a run. Rates are operations per second, times nanoseconds."""

    version: Literal[1] = PLAN_VERSION
    name: Annotated[str, AfterValidator(_printable)]
    seed: Count
    target: TargetPlan
    namespace: Namespace
    data: DocumentPlan
    work: WorkPlan
    pacer: PacerPlan
    connections: Number
    in_flight_max: Number | None = None
    threads: Number
    warmup_ns: Count
    duration_ns: Count | None
    operation_count: Count | None
    interval_ns: Count
    drain_timeout_ns: Count
    operation_timeout_ns: Count
    connect_timeout_ns: Count
    operation_log: bool = False

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Plans without a log of operations keep their hash."""
        return without(dump(self), "operation_log")

    @property
    def in_flight_bound(self) -> int:
        """Most operations in flight: one per connection where nothing else is said."""
        return self.in_flight_max or self.connections

    def canonical_json(self) -> str:
        """The plan as JSON with sorted keys and no blanks: equal plans have equal texts."""
        return _canonical(self.model_dump())

    def hash8(self) -> str:
        """8 hex digits of the SHA-256 of the canonical JSON, the target's addresses left out.

        A bundled server gets another port each time; the same work on it keeps its hash. Of client-routed shards the
        number counts.
        """
        values = self.model_dump()
        target = values["target"]
        if shards := target.get("shards"):
            target["shards"] = len(shards)
        for part in (target, target.get("reads", {}), target.get("replica_set", {})):
            for name in ("address", "routers", "addresses", "members"):
                part.pop(name, None)
        return hashlib.sha256(_canonical(values).encode()).hexdigest()[:_HASH_DIGITS]

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Reads what `canonical_json` wrote. Raises pydantic.ValidationError (a ValueError)."""
        return cls.model_validate_json(text)


def _canonical(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

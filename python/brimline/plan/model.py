"""Owns the plan's types, which mirror `crates/engine/src/plan.rs` and `crates/datagen` field by field.

The engine checks every bound again; here the shape is checked, so that a stored plan of another version or
with unknown keys is refused before anything reads it.
"""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainSerializer, SerializerFunctionWrapHandler, model_serializer

from brimline.errors import visible
from brimline.operations import KINDS, kinds_of_a_mix
from brimline.plan.base import Count, Number, Part, without
from brimline.plan.documents import (
    DocumentPlan,
    HistogramLength,
    LengthPlan,
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
from brimline.plan.requests import HttpRequest, Piece, Request, StatementRequest
from brimline.plan.targets import (
    Bulk,
    BulkColumn,
    HttpTarget,
    LinkTarget,
    NullTarget,
    PlannedStandstill,
    Reads,
    ReplicaSet,
    RunnerTarget,
    SimulatedTarget,
    SqlTarget,
    TargetPlan,
    WireTarget,
    WriteConcern,
)
from brimline.spec.keys import Keys

__all__ = [
    "PLAN_VERSION",
    "Bulk",
    "BulkColumn",
    "ClosedPacer",
    "ConstantPacer",
    "DocumentPlan",
    "HistogramLength",
    "HttpRequest",
    "HttpTarget",
    "InsertRetries",
    "LengthPlan",
    "LinkTarget",
    "LoadWork",
    "MixWork",
    "Namespace",
    "NullTarget",
    "OperationsWork",
    "PacerPlan",
    "Piece",
    "Plan",
    "PlannedStandstill",
    "PoissonPacer",
    "Proportions",
    "Reads",
    "RecordRange",
    "ReplicaSet",
    "Request",
    "RunnerTarget",
    "SimulatedTarget",
    "SqlTarget",
    "Stage",
    "StagesPacer",
    "StatementRequest",
    "TargetPlan",
    "ThinkTime",
    "TlrPacer",
    "Transaction",
    "WireTarget",
    "WorkPlan",
    "WriteConcern",
    "records_to_load",
]

PLAN_VERSION: Literal[1] = 1
_HASH_DIGITS = 8


class Namespace(Part):
    """Database and collection."""

    database: str
    collection: str


def _of_every_kind(shares: dict[str, float]) -> dict[str, float]:
    """The shares with those that aren't said."""
    kinds = {kind.name: kind for kind in kinds_of_a_mix()}
    if wrong := [name for name in shares if name not in kinds]:
        raise ValueError(f"there is no kind of operation {wrong[0]}")
    if missing := [name for name, kind in kinds.items() if kind.ycsb_share and name not in shares]:
        raise ValueError(f"the share of {missing[0]} is missing")
    return {name: float(shares.get(name, 0)) for name in kinds}


def _those_said(shares: dict[str, float]) -> dict[str, float]:
    """Each plan says the shares that YCSB has; without any of another kind it keeps its hash."""
    return {name: share for name, share in shares.items() if share or KINDS[name].ycsb_share}


Proportions = Annotated[dict[str, float], AfterValidator(_of_every_kind), PlainSerializer(_those_said)]
"""Shares of the operations by their kinds; they are normalised by their sum."""


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
    keys: Keys
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


class Share(Part):
    """The part of node `node` of `nodes`, from 0, of the same operations and connections."""

    node: Number
    nodes: Number


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
    share: Share | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Plans without a log of operations, and those that one client performs alone, keep their hash."""
        return without(dump(self), "operation_log", "share")

    @property
    def operation_names(self) -> list[str]:
        """The operations that it may send, by name; of a load none."""
        work = self.work
        if isinstance(work, OperationsWork):
            return [each.name for each in work.operations]
        return [name for name, share in work.proportions.items() if share] if isinstance(work, MixWork) else []

    @property
    def in_flight_bound(self) -> int:
        """Most operations in flight: one per connection where nothing else is said."""
        return min(self.in_flight_max or self.connections, self.connections)

    @property
    def worker_count(self) -> int:
        """Workers of a closed loop or of T-L-R."""
        return max(self.in_flight_max or self.connections, self.connections)

    @property
    def is_pooled(self) -> bool:
        """Whether workers share fewer connections than they are, so that they wait for a free one."""
        return self.worker_count > self.connections

    def canonical_json(self) -> str:
        """The plan as JSON with sorted keys and no blanks: equal plans have equal texts."""
        return _canonical(self.model_dump())

    def hash8(self) -> str:
        """8 hex digits of the SHA-256 of the canonical JSON, the target's addresses left out.

        A bundled server gets another port each time, and a replica set of brimline's own another name; the same work on
        it keeps its hash. Of client-routed shards the number counts.
        """
        values = self.model_dump()
        target = values["target"]
        if shards := target.get("shards"):
            target["shards"] = len(shards)
        parts = (target, target.get("reads"), target.get("replica_set"))
        for part in (each for each in parts if isinstance(each, dict)):
            for name in ("address", "authority", "routers", "addresses", "members"):
                part.pop(name, None)
        replica_set = target.get("replica_set")
        if isinstance(replica_set, dict):
            replica_set.pop("name", None)
        elif replica_set is not None:  # a driver is told the name alone
            target["replica_set"] = ""
        return hashlib.sha256(_canonical(values).encode()).hexdigest()[:_HASH_DIGITS]

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Reads what `canonical_json` wrote. Raises pydantic.ValidationError (a ValueError)."""
        return cls.model_validate_json(text)


def _canonical(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

"""Owns the spec: everything a user can say about a workload, checked, with every default filled in."""

from pathlib import Path as FilePath
from typing import Annotated, Any, Self

from pydantic import (
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from brimline import units
from brimline.errors import UsageError
from brimline.operations import KINDS
from brimline.spec import fields
from brimline.spec.base import Part
from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.inserting import InsertRetriesSpec
from brimline.spec.keys import Keys, ZipfianKeys
from brimline.spec.lengths import ScanLength, UniformLength, shortest
from brimline.spec.load_models import ClosedLoad, Load, TlrLoad, operations_offered, profile_length_ns
from brimline.spec.operations import NO_COLLECTION, NoDataSpec, Operations
from brimline.spec.own import CollectionSpec, OwnOperations, OwnWorkload, Rows, read_workload
from brimline.spec.own.belonging import OF_KINDS, check_own, unknown_in_slo
from brimline.spec.own.collections import DATABASE_DEFAULT, EXISTING, Collections, Tables, check_tables
from brimline.spec.own.http import HttpSpec
from brimline.spec.own.problems import Problem, checked, told_to_pydantic
from brimline.spec.own.protocols import FORMS
from brimline.spec.own.step_kind import ProtocolName
from brimline.spec.pairing import check_forms, forms_there, mismatch, protocols_of
from brimline.spec.scans import ScansSpec
from brimline.spec.slo import SloSpec
from brimline.spec.target import Isolation, TargetSpec, protocol_of_uri
from brimline.spec.transaction import TransactionSpec
from brimline.units import counted

DURATION_NS_DEFAULT = 10 * units.NS_PER_S
WARMUP_NS_DEFAULT = 2 * units.NS_PER_S
CONNECTIONS_DEFAULT = 32


# Whether it is one of them is seen before its type is (`spec.own.belonging`).
Protocol = Annotated[ProtocolName, WithJsonSchema({"type": "string", "enum": list(FORMS)})]


class Spec(Part):
    """A workload.

    `duration` and `operation_count` both end a run, whichever comes first. Without either: a load whose rate changes
    runs to its last stage, T-L-R until its loops are done, any other is measured for 10 s. A load that begins and ends
    by itself has no warm-up unless it is asked for.
    """

    name: fields.Name = "workload"
    """Names the directory of a run. Of a file without it, the file's name."""
    description: fields.Description = ""
    """Stands in the report."""
    seed: fields.Seed = 1
    """Decides data and operations: the same seed gives the same ones."""
    # Of a workload with collections it follows from the first with a shape.
    protocol: Protocol | None = None
    """What steps of operations of your own are: MongoDB's commands without it, `http` requests, or `sql` statements."""
    http: HttpSpec | None = None
    """How a service is spoken to, where `protocol` is `http`."""
    data: DataSpec = Field(default=None)  # type: ignore[assignment]
    """The records, and where they are. Needed where there are no `collections`."""
    operations: Operations
    """How often each kind of operation comes; or operations of your own by name."""
    database: fields.DatabaseName | None = None
    """The database of all `collections`, brimline without it."""
    collections: Collections | None = None
    """Collections by name, in place of `data`, for operations of your own."""
    tables: Tables | None = None
    """How collections become tables of an SQL database, by the collection's name."""
    isolation: Isolation | None = None
    """How far transactions of an SQL database are kept apart; without it as the server has it."""
    values: dict[str, Any] | None = None
    """Values by name, which steps of operations of your own take as `$name`."""
    keys: Keys = ZipfianKeys()
    """Which record an operation takes."""
    scan_length: ScanLength = UniformLength(min=1, max=100)
    """How many documents a scan asks for."""
    read_all_fields: bool = True
    """Whether a read brings the whole document, or one field."""
    name_read_fields: bool = False
    """Whether a read of a whole document names each field in a projection."""
    verify_reads: bool = False
    """Whether what reads by key bring is compared with what was written. Needs `data.values: derived`."""
    upsert: bool = False
    """Whether inserts and loads replace what is there: an `update` by key with `upsert: true`."""
    insert_batch_size: fields.BatchSize = 1
    """Documents of one insert of a run, in one unordered command."""
    insert_retries: InsertRetriesSpec | None = None
    """Further attempts of an insert of a load that failed; without it there are none."""
    write_all_fields: bool = False
    """Whether an update writes all fields, or one."""
    transaction: TransactionSpec = TransactionSpec()
    """What a transaction does before its commit."""
    load: Load = ClosedLoad()
    """When operations are due."""
    connections: fields.ConnectionCount = CONNECTIONS_DEFAULT
    """Sockets to the server. In T-L-R they follow from `load.threads`."""
    max_pool_size: fields.ConnectionCount | None = None
    """Most sockets, as in a driver's pool: workers of a closed loop or of T-L-R that are more share them."""
    in_flight: fields.ConnectionCount | None = None
    """Most operations in flight at once; by default one per connection."""
    threads: fields.ThreadCount = 1
    """Engine threads, which share out operations and connections."""
    warmup_ns: fields.WarmupDuration | None = Field(default=None, alias="warmup")
    """Time before the measured window, recorded apart: 2s, or none where a load begins and ends by itself."""
    duration_ns: fields.MeasureDuration | None = Field(default=None, alias="duration")
    """Length of the measured window: 10s without `operation_count`, or as long as the load's stages."""
    operation_count: fields.OperationCount | None = None
    """Operations to send at most, those of the warm-up included."""
    interval_ns: fields.IntervalDuration = Field(default=units.NS_PER_S, alias="interval")
    """Length of a sample: of a row in the record, of a point in a chart."""
    drain_timeout_ns: fields.Timeout = Field(default=10 * units.NS_PER_S, alias="drain_timeout")
    """How long replies are awaited after the last operation."""
    operation_timeout_ns: fields.Timeout = Field(default=30 * units.NS_PER_S, alias="operation_timeout")
    """How long one operation may take before it counts as failed."""
    connect_timeout_ns: fields.Timeout = Field(default=10 * units.NS_PER_S, alias="connect_timeout")
    """How long a connection may take, and how long a run goes on without any."""
    operation_log: bool = False
    """Whether every operation that finishes is written down, beside the histograms."""
    slo: SloSpec = SloSpec()
    """The objective: what the users of the database are promised."""
    target: TargetSpec = TargetSpec()
    """Which server, and what writes wait for."""
    scans: ScansSpec | None = None
    """Single queries for `brimline scan`."""
    _directory: FilePath | None = PrivateAttr(default=None)
    _files: dict[Path, Rows] = PrivateAttr(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _scans_need_no_operations(cls, value: Any) -> Any:
        """A spec that is only about scans says nothing of operations; run as a workload, it reads."""
        if isinstance(value, dict) and "scans" in value and not {"operations", "collections"} & value.keys():
            return {**value, "operations": {"read": 1.0}}
        return value

    @property
    def effective_connections(self) -> int:
        """How many connections there are; in T-L-R one for each worker."""
        return self.load.threads if isinstance(self.load, TlrLoad) else self.connections

    @property
    def pool_size(self) -> int:
        """How many sockets there are: one for each connection asked for, as far as the pool goes."""
        return min(self.effective_connections, self.max_pool_size or self.effective_connections)

    @property
    def effective_warmup_ns(self) -> int:
        """How long the warm-up is."""
        if self.warmup_ns is not None:
            return self.warmup_ns
        has_shape = isinstance(self.load, TlrLoad) or profile_length_ns(self.load) is not None
        return 0 if has_shape else WARMUP_NS_DEFAULT

    @property
    def effective_duration_ns(self) -> int | None:
        """How long is measured; `None`: until `effective_operation_count` operations are sent."""
        if self.duration_ns is not None or self.effective_operation_count is not None:
            return self.duration_ns
        shape_ns = profile_length_ns(self.load)
        return DURATION_NS_DEFAULT if shape_ns is None else shape_ns - self.effective_warmup_ns

    @property
    def effective_operation_count(self) -> int | None:
        """How many operations are sent at most."""
        return self.load.threads * self.load.loops if isinstance(self.load, TlrLoad) else self.operation_count

    @property
    def is_own(self) -> bool:
        """Whether it has operations of the person's own."""
        return isinstance(self.operations, OwnOperations)

    @property
    def has_transactions(self) -> bool:
        """Whether some operation of MongoDB's is or has a transaction."""
        if isinstance(self.operations, OwnOperations):
            default = self.protocol or "mongodb"
            return any(each.has_transaction(default=default) for each in self.operations.by_name.values())
        return self.operations.shares["transaction"] > 0

    @property
    def protocols(self) -> tuple[ProtocolName, ...]:
        """What it can run on: what it says, or what each of its operations has a form for."""
        if self.protocol is None and self.scans is not None:
            return ("mongodb",)
        return protocols_of(self.operations, self.protocol)

    def require_protocol(self, uri: str) -> None:
        """Raises UsageError where this workload can't run on what is at `uri`."""
        problem = self._mismatch(uri)
        if problem is not None:
            raise UsageError(problem.message, hint=problem.hint)

    def _mismatch(self, uri: str) -> Problem | None:
        if self.isolation is not None and protocol_of_uri(uri) != "sql":
            return Problem(("isolation",), "is about an SQL database, and the target is none", "leave isolation out")
        return mismatch(uri, self.protocols, self.operations, self.protocol)

    @property
    def shapes(self) -> dict[str, CollectionSpec]:
        """The collections with a shape, in order, by name; what `data` says counts for its own, or the first."""
        shapes = {name: each for name, each in (self.collections or {}).items() if isinstance(each, CollectionSpec)}
        database = self.database or DATABASE_DEFAULT
        made = {name: each.placed(database, name) for name, each in shapes.items()}
        # A plan that is about one collection has its data there.
        own = self.data.collection if self.data.collection in made else next(iter(made), None)
        if own is not None:
            values = {name: getattr(self.data, name) for name in DataSpec.model_fields}
            made[own] = made[own].model_copy(update=values)
        return made

    @property
    def rows_directory(self) -> FilePath | None:
        """Where the files of rows are that it names; None: it names none."""
        return self._directory.resolve() if self._directory is not None and self._files else None

    @property
    def rows_of_files(self) -> list[Rows]:
        """The rows of each file that it names."""
        return list(self._files.values())

    def own_workload(self, protocol: ProtocolName | None = None) -> OwnWorkload:
        """Its collections, values and operations, read together, in the words of a protocol that it can run on.

        Raises pydantic.ValidationError.
        """
        operations, shapes = self.operations, self.shapes
        assert isinstance(operations, OwnOperations)  # noqa: S101 - of every spec with collections
        database = self.database or DATABASE_DEFAULT
        databases = {name: shapes[name].database if name in shapes else database for name in self.collections or {}}
        with told_to_pydantic():
            return read_workload(
                protocol=protocol or self.protocols[0],
                default=self.protocol or "mongodb",
                http=self.http,
                shapes=dict(shapes),
                databases=databases,
                values=self.values or {},
                operations=operations.by_name,
                directory=self._directory or FilePath(),
                files=self._files,
            )

    @model_validator(mode="before")
    @classmethod
    def _check_what_belongs_together(cls, value: Any) -> Any:
        """Collections have operations of one's own, and neither has what is about kinds."""
        return checked(value, check_own)

    @model_validator(mode="after")
    def _data_of_the_first(self) -> Self:
        if "data" not in self.model_fields_set:
            if self.collections is None and not self.is_own:
                missing = InitErrorDetails(type="missing", loc=("data",), input=None)
                raise ValidationError.from_exception_data("Spec", [missing])
            self.__dict__["data"] = self._first_data()
            self.__pydantic_fields_set__.discard("data")
        return self

    def _first_data(self) -> DataSpec:
        database = self.database or DATABASE_DEFAULT
        for name, each in (self.collections or {}).items():
            if isinstance(each, CollectionSpec):
                values = {field: getattr(each, field) for field in DataSpec.model_fields}
                return DataSpec.model_construct(
                    _fields_set=each.model_fields_set & set(DataSpec.model_fields),
                    **{**values, "database": database, "collection": name},
                )
        return NoDataSpec(database=database, collection=next(iter(self.collections or {}), NO_COLLECTION))

    @field_validator("scan_length")
    @classmethod
    def _check_scan_length(cls, value: ScanLength) -> ScanLength:
        if shortest(value) < 1:
            raise ValueError("a scan asks for at least 1 document; write {kind: uniform, min: 1, max: 100}")
        return value

    @model_validator(mode="after")
    def _check_named_fields(self) -> Self:
        if self.name_read_fields and not (self.read_all_fields and self.operations.shares.get("read")):
            raise ValueError(
                "name_read_fields would have no effect without reads of whole documents; leave name_read_fields out"
            )
        return self

    @model_validator(mode="after")
    def _check_verification(self) -> Self:
        if self.verify_reads and self.data.values != "derived":
            raise ValueError("verify_reads needs values that follow from their keys; add data.values: derived")
        shares = self.operations.shares
        if self.verify_reads and not any(shares.get(kind.name) for kind in KINDS.values() if kind.reads_by_key):
            raise ValueError("verify_reads would have no effect without reads by key; leave verify_reads out")
        return self

    @model_validator(mode="after")
    def _check_inserts(self) -> Self:
        if self.insert_retries is not None and self.data.batch_size != 1:
            raise ValueError(
                "insert_retries needs one document per command, as of a batch some may be there already; "
                "add data.batch_size: 1"
            )
        if self.insert_batch_size > 1 and not self.operations.shares.get("insert"):
            raise ValueError("insert_batch_size would have no effect without inserts; leave insert_batch_size out")
        self.data.check_batch(self.insert_batch_size)
        return self

    @model_validator(mode="after")
    def _check_slo_fits(self) -> Self:
        shares = self.operations.shares
        sent = self.operations.sent if isinstance(self.operations, OwnOperations) else shares
        for kind in self.slo.by_operation:
            if kind not in shares:
                raise unknown_in_slo(kind, shares, is_own=self.is_own)
            if kind not in sent or not (self.is_own or shares[kind]):
                raise ValueError(
                    f"slo.{kind} is about an operation that the workload doesn't have; "
                    f"leave slo.{kind} out, or give operations.{kind} a share"
                )
        return self

    @model_validator(mode="after")
    def _check_load_fits(self) -> Self:
        if isinstance(self.load, TlrLoad):
            self._check_tlr(self.load)
        if self.in_flight is not None and self.in_flight > self.effective_connections:
            raise ValueError(
                f"in_flight can't be more than there are connections: {self.in_flight} > {self.effective_connections}; "
                "lower in_flight; for more workers than sockets give connections and a smaller max_pool_size"
            )
        if self.in_flight is not None and self.max_pool_size is not None:
            raise ValueError(
                "in_flight and max_pool_size both bound what is in flight; leave in_flight out: "
                "operations beyond max_pool_size wait for a socket"
            )
        duration_ns = self.effective_duration_ns
        if duration_ns is None:
            self._check_count_is_reached()
            return self
        if duration_ns <= 0:
            raise ValueError(
                "the warm-up is as long as the load's stages, so that nothing would be measured; shorten warmup"
            )
        think_time_ns = self.load.think_time_ns if isinstance(self.load, ClosedLoad) else 0
        if think_time_ns and think_time_ns >= self.effective_warmup_ns + duration_ns:
            raise ValueError(
                "load.think_time is as long as the run, which leaves each worker one operation; "
                "shorten load.think_time or lengthen duration"
            )
        return self

    def _check_count_is_reached(self) -> None:
        """A load whose rate ends at 0 offers no more, and a run that waited for more would never end."""
        offered, wanted = operations_offered(self.load), self.effective_operation_count
        if offered is not None and wanted is not None and wanted > offered:
            surely = " for certain" if getattr(self.load, "arrivals", "even") == "poisson" else ""
            raise ValueError(
                f"operation_count is {wanted}, and the load offers {counted(offered, 'operation')}{surely} "
                "until its rate is 0; "
                "lower operation_count, or leave it out to run for the length of the load"
            )

    def _check_tlr(self, load: TlrLoad) -> None:
        if self.connections not in (load.threads, CONNECTIONS_DEFAULT):
            raise ValueError(f"connections follow load.threads, which is {load.threads}; leave connections out")
        if self.operation_count is not None:
            raise ValueError("operation_count follows load.threads and load.loops; leave operation_count out")
        if self.in_flight is not None:
            raise ValueError(
                "in_flight has no place in T-L-R: each worker has one operation in flight; leave in_flight out"
            )

    @model_validator(mode="after")
    def _check_own(self, info: ValidationInfo) -> Self:
        if self.is_own:
            self._directory = (info.context or {"rows_in": FilePath()})["rows_in"]
            if self.load != ClosedLoad() and not any(self.operations.shares.values()):
                problem = Problem(("load",), "each operation has a load of its own", "leave load out, or give a share")
                raise problem.as_validation_error()
            with told_to_pydantic():
                check_forms(self.operations, self.protocol)
                check_tables(self.tables or {}, self.shapes, self.collections or {})
            # All that is written is read, also a form that lacks elsewhere.
            for protocol in forms_there(self.operations, self.protocol) if self._directory is not None else ():
                self.own_workload(protocol)
        return self

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        uri = self.target.uri
        problem = None if uri is None else self._mismatch(uri.get_secret_value())
        if problem is not None:
            raise problem.as_validation_error()
        return self

    def to_document(self) -> dict[str, Any]:
        """Plain values that read back as the same spec; a password in the address is left out."""
        values = self.model_dump(exclude_none=True)
        if self.is_own:
            shapes = {name: each.model_dump(exclude_none=True) for name, each in self.shapes.items()}
            if self.collections is not None:
                values["collections"] = {name: shapes.get(name, EXISTING) for name in values["collections"]}
            values = {name: value for name, value in values.items() if name not in ("data", *OF_KINDS)}
        else:
            values["operations"] = {name: share for name, share in values["operations"].items() if share}
        return {key: value for key, value in values.items() if value != {}}

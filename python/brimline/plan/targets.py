"""Owns the plan's types of targets: what a load goes to, and how connections to it are made.

What opens a target, such as a password, is none of it: secrets travel apart from the plan and are stored nowhere.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, Tag, model_serializer

from brimline import units
from brimline.plan.base import Count, Link, Number, Part, kind_among, without
from brimline.wording import message


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


class RunnerTarget(Part):
    """A server by way of a driver in a process of its own, the runner `client`.

    `addresses` are the servers that the driver is told: those of `replica_set`; without one a single server is
    connected to directly, several are routers. `max_pool_size` bounds the driver's pool to each server, `options` are
    further ones of its, as a connection string has them. Retries are the driver's own.
    """

    kind: Literal["runner"] = "runner"
    client: str
    addresses: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    replica_set: str | None = None
    read_concern: str | None = None
    write_concern: WriteConcern | None
    retry_reads: bool = False
    retry_writes: bool = False
    max_pool_size: Number
    options: dict[str, str] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "replica_set", "read_concern", "retry_reads", "retry_writes", "options")


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


class HttpTarget(Part):
    """A service that speaks HTTP/1.1 at `host:port`; `authority` is what requests name as their host.

    `connect`: whether every connection is made before the run, or each when a request needs it, its time being a part
    of the operation's. `keep_alive`: whether a connection stays for the next request. So many redirects are followed;
    the others are replies as any. `cookies`: whether each worker keeps those that it was given, and sends them.

    `base` is the path that the address has; a plan is made with it in each request, so that it is no part of what is
    written.
    """

    kind: Literal["http"] = "http"
    address: str
    authority: str
    tls: bool = False
    keep_alive: bool = True
    connect: Literal["before", "on_demand"] = "before"
    follow_redirects: Number = 0
    cookies: bool = True
    base: str = Field(default="", exclude=True, repr=False)


ColumnType = Literal["text", "bigint", "int", "double", "decimal", "boolean", "datetime", "json", "bytes"]


class BulkColumn(Part):
    """A column of a table that is loaded: what stands at `path` of the document; None: the whole document as JSON."""

    name: str
    path: Annotated[tuple[str, ...], Field(strict=False)] | None
    type: ColumnType


class Bulk(Part):
    """The table that a load's documents become rows of; by multi-row inserts, or by `COPY`."""

    table: str
    columns: Annotated[tuple[BulkColumn, ...], Field(strict=False, min_length=1)]
    form: Literal["rows", "copy"]


class SqlTarget(Part):
    """A database that speaks MySQL's or PostgreSQL's protocol at `host:port`.

    `setup` are the statements that each connection sends first. `bulk` is a load's alone. `client` is the runner whose
    driver executes them, `max_pool_size` bounds its pool; None: brimline's own client.
    """

    kind: Literal["mysql", "postgres"]
    address: str
    database: str
    tls: bool = False
    setup: Annotated[tuple[str, ...], Field(strict=False)] = ()
    bulk: Bulk | None = None
    client: str | None = Field(default=None, exclude_if=lambda value: value is None)
    max_pool_size: Number | None = Field(default=None, exclude_if=lambda value: value is None)


class LinkTarget(Link):
    """A server that speaks a protocol without a type here."""

    address: str


_Typed = Annotated[
    WireTarget | RunnerTarget | NullTarget | SimulatedTarget | HttpTarget | SqlTarget,
    Field(discriminator="kind"),
]
_KINDS = ("wire", "runner", "null", "simulated", "http", "mysql", "postgres")
TargetPlan = Annotated[
    Annotated[_Typed, Tag("typed")] | Annotated[LinkTarget, Tag("other")],
    kind_among(_KINDS),
]


def runner_of(target: TargetPlan) -> str | None:
    """The runner whose driver the operations go through; None: they go by brimline's own client."""
    return target.client if isinstance(target, RunnerTarget | SqlTarget) else None


def write_concern_text(concern: WriteConcern) -> str:
    """What is sent with every write, such as "w: 1, journaled"."""
    journal = {None: "", True: ", journaled", False: ", not journaled"}[concern.journal]
    if concern.timeout_ms is None:
        return message("w: {w}{journal}", w=concern.w, journal=journal)
    timeout = units.format_duration(concern.timeout_ms * units.NS_PER_MS)
    return message("w: {w}{journal}, within {timeout}", w=concern.w, journal=journal, timeout=timeout)

"""Owns the step from spec to plan. Pure: the same spec and target give the same plan."""

from collections.abc import Sequence
from typing import Final

from brimline.errors import UsageError
from brimline.plan import model
from brimline.plan.columns import Dialect
from brimline.plan.data import document_plan, length_plan
from brimline.plan.own import main_operation, operations_work, require_protocol
from brimline.plan.pacing_plan import pacer_plan
from brimline.plan.tables import sql_tables
from brimline.plan.targets import runner_of
from brimline.plan.ycsb_statements import statements_work
from brimline.spec import data as spec_data
from brimline.spec.load_models import ClosedLoad, Load, TlrLoad
from brimline.spec.model import Spec
from brimline.spec.operations import NoDataSpec
from brimline.spec.own import OwnOperations
from brimline.spec.own.http import HttpSpec
from brimline.spec.own.protocols import steps_of_target
from brimline.spec.readers import MESSAGE_BYTES_MAX
from brimline.spec.target import Isolation

# Documents per insert command unless the spec says: MongoDB's own tools send 1000.
_BATCH_SIZE_DEFAULT = 1000
# A command stays this far below the largest message.
_BATCH_BYTES_MAX = MESSAGE_BYTES_MAX // 3
# Insert commands of many documents on the way to one server unless the spec says, where the server doesn't say how many
# processors it has. Each more than it needs waits for the others: a server with one processor stores 3 % more per
# second with two than with four and 5 % more than with eight, one with two processors most with three.
_BATCHES_IN_FLIGHT = 8


def resolve(spec: Spec, *, target: model.TargetPlan) -> model.Plan:
    """The plan of a run of `spec` against `target`. Raises UsageError where it is about another kind of target."""
    require_protocol(spec, target)
    duration_ns = spec.effective_duration_ns
    load, connections = _main_load(spec)
    # A driver has its pool to itself: the engine's connections are its workers.
    sockets = connections if runner_of(target) else min(connections, spec.max_pool_size or connections)
    is_pooled = sockets < connections and isinstance(load, ClosedLoad | TlrLoad)
    return _plan(
        spec,
        target=target,
        work=_work(spec, target),
        pacer=pacer_plan(load),
        connections=sockets,
        in_flight_max=connections if is_pooled else spec.in_flight,
        warmup_ns=spec.effective_warmup_ns,
        duration_ns=duration_ns,
        operation_count=spec.effective_operation_count,
        # An interval longer than the window would only make the last row look short.
        interval_ns=spec.interval_ns if duration_ns is None else min(spec.interval_ns, duration_ns),
    )


def _work(spec: Spec, target: model.TargetPlan) -> model.WorkPlan:
    if spec.is_own:
        return operations_work(spec, target)
    return statements_work(spec, target) if isinstance(target, model.SqlTarget) else _mix(spec, target)


def _main_load(spec: Spec) -> tuple[Load, int]:
    """When operations with a share are due, and on how many connections."""
    main = main_operation(spec)
    if main is None or not isinstance(spec.operations, OwnOperations):
        return spec.load, spec.effective_connections
    operation = spec.operations.by_name[main]
    return operation.load or spec.load, operation.effective_connections


def _mix(spec: Spec, target: model.TargetPlan) -> model.MixWork:
    shares = spec.operations.shares
    return model.MixWork(
        proportions=shares,
        keys=spec.keys,
        scan_length=length_plan(spec.scan_length),
        read_all_fields=spec.read_all_fields,
        name_read_fields=spec.name_read_fields,
        upsert=spec.upsert and shares["insert"] > 0,
        insert_batch_size=spec.insert_batch_size,
        verify_reads=spec.verify_reads and target.kind != "null",  # which has no documents
        write_all_fields=spec.write_all_fields,
        transaction=_transaction(spec),
    )


def _transaction(spec: Spec) -> model.Transaction | None:
    if not spec.operations.shares.get("transaction"):
        return None
    return model.Transaction(reads=spec.transaction.reads, updates=spec.transaction.updates)


def load_plans(spec: Spec, *, target: model.TargetPlan) -> tuple[model.Plan, ...]:
    """A plan as `load_plan` makes it for each collection with a shape, in order.

    There is none where all exist already, and none for a service.
    """
    if not steps_of_target(target.kind).has_records:
        return ()
    if not spec.is_own:
        return (load_plan(spec, target=target),)
    return tuple(load_plan(spec.model_copy(update={"data": shape}), target=target) for shape in spec.shapes.values())


def load_plan(spec: Spec, *, target: model.TargetPlan) -> model.Plan:
    """The plan that inserts every record of `spec`, of its first collection, once and as fast as the target takes them.

    Batches are unordered, so that one refused document doesn't hold up the others. Connections are those of the spec,
    and never more than there are batches; the spec's bound in flight holds as well. Raises UsageError where every
    collection exists already.
    """
    if isinstance(spec.data, NoDataSpec):
        raise UsageError(
            "every collection of the workload is existing, so that there is nothing to load",
            hint="give one a shape, such as orders: {records: 100k}",
        )
    if isinstance(target, model.SqlTarget):
        target = _with_bulk(spec, target)
    batch_size = spec.data.batch_size or default_batch_size(spec.data)
    batch_count = _batch_count(spec.data.records, batch_size, target)
    connections = min(spec.effective_connections if runner_of(target) else spec.pool_size, batch_count)
    return _plan(
        spec,
        target=target,
        work=model.LoadWork(
            batch_size=batch_size, ordered=False, upsert=spec.upsert, insert_retries=_insert_retries(spec)
        ),
        pacer=model.ClosedPacer(),
        connections=connections,
        in_flight_max=_bound(spec.in_flight or _load_in_flight(batch_size, target), connections),
        warmup_ns=0,
        duration_ns=None,
        operation_count=batch_count,
        interval_ns=spec.interval_ns,
    )


def _with_bulk(spec: Spec, target: model.SqlTarget) -> model.SqlTarget:
    """`target` with the table that the first collection is loaded into."""
    if spec.upsert:
        raise UsageError("upsert is of MongoDB's loads alone", hint="leave upsert out, or empty the table first")
    table = next(each for each in sql_tables(spec, target.kind) if each.name == spec.data.collection)
    # Drivers have no one way to load: rows go by brimline's own client.
    return target.model_copy(update={"bulk": table.bulk(), "client": None, "max_pool_size": None})


def _insert_retries(spec: Spec) -> model.InsertRetries | None:
    asked = spec.insert_retries
    return None if asked is None else model.InsertRetries(limit=asked.limit, interval_ns=asked.interval_ns)


def rest_of_load(plan: model.Plan, missing: Sequence[range]) -> model.Plan:
    """`plan`, a load, for the records of `missing` alone: ascending ranges, at least one."""
    if not isinstance(plan.work, model.LoadWork):
        raise TypeError("only a load has a rest")
    batch_size = plan.work.batch_size
    batch_count = sum(_batch_count(len(each), batch_size, plan.target) for each in missing)
    ranges = tuple(model.RecordRange(first=each.start, count=len(each)) for each in missing)
    connections = min(plan.connections, batch_count)
    return plan.model_copy(
        update={
            "work": plan.work.model_copy(update={"ranges": ranges}),
            "operation_count": batch_count,
            "connections": connections,
            "in_flight_max": _bound(plan.in_flight_max, connections),
            "threads": min(plan.threads, connections),
        }
    )


def _bound(in_flight: int | None, connections: int) -> int | None:
    """None where the connections bound what is in flight already."""
    return in_flight if in_flight is not None and in_flight < connections else None


def _load_in_flight(batch_size: int, target: model.TargetPlan) -> int | None:
    """How many insert commands a load has on the way unless it was told; None: one on every connection."""
    return _batches_per_server(target) * _server_count(target) if batch_size > 1 else None


def _batches_per_server(target: model.TargetPlan) -> int:
    """One for each processor and one that waits; twice as many where a line is to be filled."""
    if not isinstance(target, model.WireTarget) or target.cpu_count is None:
        return _BATCHES_IN_FLIGHT
    return (target.cpu_count + 1) * (1 if target.beside_server else 2)


def _server_count(target: model.TargetPlan) -> int:
    return target.server_count if isinstance(target, model.WireTarget) else 1


def _batch_count(records: int, batch_size: int, target: model.TargetPlan) -> int:
    """How many insert commands so many records in a row take: one carries those of one server."""
    servers = _server_count(target)
    shares = (-(-max(0, records - place) // servers) for place in range(servers))
    return sum(-(-share // batch_size) for share in shares)


def wire_target(
    spec: Spec,
    *,
    address: str,
    routers: Sequence[str] = (),
    shards: Sequence[str] = (),
    reads: model.Reads | None = None,
    read_concern: str | None = None,
    replica_set: model.ReplicaSet | None = None,
    retry_reads: bool = False,
    retry_writes: bool = False,
    sessions: bool = False,
    cpu_count: int | None = None,
    beside_server: bool = False,
) -> model.WireTarget:
    """The server at `address` ("host:port") with the write concern that `spec` asks for."""
    asked = spec.target.effective_write_concern
    concern = None
    if asked is not None:
        concern = model.WriteConcern(w=asked.w, journal=asked.journal, timeout_ms=asked.timeout_ms)
    return model.WireTarget(
        address=address,
        routers=tuple(routers),
        shards=tuple(shards),
        reads=reads,
        read_concern=read_concern,
        write_concern=concern,
        replica_set=replica_set,
        retry_reads=retry_reads,
        retry_writes=retry_writes,
        sessions=sessions,
        cpu_count=cpu_count,
        beside_server=beside_server,
    )


def http_target(spec: Spec, *, address: str, authority: str, base: str = "", tls: bool = False) -> model.HttpTarget:
    """The service at `address` ("host:port"), as `spec` speaks to it. `base` is the path of its address, "" or "/…"."""
    said = spec.http or HttpSpec()
    return model.HttpTarget(
        address=address,
        authority=authority,
        base=base,
        tls=tls,
        keep_alive=said.keep_alive,
        connect=said.connect,
        follow_redirects=said.follow_redirects,
        cookies=said.cookies,
    )


_SETUP: Final[dict[Dialect, tuple[str, ...]]] = {
    # Dates are UTC, as in MongoDB.
    "mysql": ("SET time_zone = '+00:00'",),
    "postgres": ("SET TIME ZONE 'UTC'",),
}


_ISOLATION: Final[dict[Dialect, str]] = {
    "mysql": "SET SESSION TRANSACTION ISOLATION LEVEL",
    "postgres": "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL",
}


def sql_target(
    *,
    kind: Dialect,
    address: str,
    database: str,
    tls: bool = False,
    isolation: Isolation | None = None,
    client: str | None = None,
    max_pool_size: int | None = None,
) -> model.SqlTarget:
    """The database at `address` ("host:port"). Each connection has the same time zone, and the same isolation.

    `client` is the runner whose driver executes the statements, with at most `max_pool_size` connections.
    """
    setup = _SETUP[kind] if isolation is None else (*_SETUP[kind], f"{_ISOLATION[kind]} {isolation.upper()}")
    return model.SqlTarget(
        kind=kind,
        address=address,
        database=database,
        tls=tls,
        setup=setup,
        client=client,
        max_pool_size=max_pool_size,
    )


def runner_target(spec: Spec, target: model.WireTarget) -> model.RunnerTarget:
    """The same server by the driver that `spec` names."""
    members = () if target.replica_set is None else target.replica_set.members
    return model.RunnerTarget(
        client=spec.target.client,
        addresses=members or (target.address, *target.routers),
        replica_set=None if target.replica_set is None else target.replica_set.name,
        read_concern=target.read_concern,
        write_concern=target.write_concern,
        retry_reads=target.retry_reads,
        retry_writes=target.retry_writes,
        max_pool_size=spec.pool_size,
    )


def default_batch_size(data: spec_data.DataSpec) -> int:
    """1000 documents per command, fewer when they are large: also as text, a row stays below what servers take."""
    return max(1, min(_BATCH_SIZE_DEFAULT, _BATCH_BYTES_MAX // data.document_bytes_max))


def _plan(
    spec: Spec,
    *,
    target: model.TargetPlan,
    work: model.WorkPlan,
    pacer: model.PacerPlan,
    connections: int,
    in_flight_max: int | None,
    warmup_ns: int,
    duration_ns: int | None,
    operation_count: int | None,
    interval_ns: int,
) -> model.Plan:
    return model.Plan(
        name=spec.name,
        seed=spec.seed,
        target=target,
        namespace=model.Namespace(database=spec.data.database, collection=spec.data.collection),
        data=document_plan(spec.data, spec.shapes),
        work=work,
        pacer=pacer,
        connections=connections,
        in_flight_max=in_flight_max,
        threads=_threads_used(spec.threads, connections, in_flight_max, pacer=pacer, target=target),
        warmup_ns=warmup_ns,
        duration_ns=duration_ns,
        operation_count=operation_count,
        interval_ns=interval_ns,
        drain_timeout_ns=spec.drain_timeout_ns,
        operation_timeout_ns=spec.operation_timeout_ns,
        connect_timeout_ns=spec.connect_timeout_ns,
        operation_log=spec.operation_log,
    )


def _threads_used(
    asked: int, connections: int, in_flight_max: int | None, *, pacer: model.PacerPlan, target: model.TargetPlan
) -> int:
    """Engine threads that will run, by the engine's own rule (`thread_count` in its `validate.rs`)."""
    if target.kind == "simulated" or runner_of(target):
        return 1  # a virtual clock has one; beside a runner there is little to do
    useful = min(asked, connections, in_flight_max or connections)
    if pacer.kind != "tlr":
        return useful
    # Each thread has as many operations as its workers perform, so that all have equally many workers.
    workers = max(connections, in_flight_max or connections)
    return next(count for count in range(useful, 0, -1) if workers % count == 0)

"""Owns starting a lab of brimline's own for a measurement, as the options of a verb want it."""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from brimline.api.options import Options
from brimline.errors import UsageError
from brimline.execution import StopToken
from brimline.execution.step_examples import StepExample, step_examples, with_stand_ins
from brimline.plan import resolve, wire_target
from brimline.plan.known import mentions
from brimline.plan.operations import OperationsWork
from brimline.servers import Deployment, ServerBinary, external
from brimline.servers.binary import find_mongos
from brimline.servers.lab.lifecycle import bring_up
from brimline.servers.lab.mongodb import MongoDbRecipe
from brimline.servers.lab.names import (
    CLIENT_ROUTED,
    STANDALONE,
    is_client_routed,
    is_sharded,
    read_topology,
    topology_spec,
)
from brimline.servers.lab.network import parse_network
from brimline.servers.lab.spec import NAME_DEFAULT, LabSpec
from brimline.servers.lab.state import Lab
from brimline.servers.selection import Mode
from brimline.spec import Spec

SMALLEST_SET = "replica-set-1"
_BEYOND = ("$lookup", "$graphLookup", "$unionWith", "$out", "$merge")


def wants_lab(options: Options) -> bool:
    """Whether a single server started plainly is not what is asked for."""
    return (options.topology, options.network, options.cpu_share) != (None, None, None)


def refuse_over_shards(spec: Spec, options: Options) -> None:
    """No query and no transaction spans several servers. Raises UsageError, before anything is started."""
    if options.topology is None or not is_client_routed(options.topology):
        return
    if spec.is_own and not spec.has_transactions:
        _refuse_steps_over_shards(spec, options.topology)
        return
    for operation, what in (("scan", "query"), ("transaction", "transaction")):
        if spec.has_transactions if operation == "transaction" else spec.operations.shares.get(operation):
            raise UsageError(
                f"a workload with the operation {operation} can't run on {options.topology}: there is no {what} over "
                "client-routed shards",
                hint=f"choose a workload without {operation}s, or another topology",
            )


def _refuse_steps_over_shards(spec: Spec, topology: str) -> None:
    """Every step names a record by its key, from whose number its shard follows. Raises UsageError."""
    target = wire_target(spec, address="127.0.0.1:1", shards=["127.0.0.1:2"])
    plan = resolve(spec, target=target)
    work = plan.work
    assert isinstance(work, OperationsWork)  # noqa: S101 - of every spec with operations of its own
    try:
        _refuse_other_documents(work, step_examples(with_stand_ins(plan)))
    except UsageError as error:
        # The engine counts operations; their author knows them by name.
        by_number = r"^work\.operations\.(\d+)(\.steps\.\d+)?"
        reason = re.sub(by_number, lambda found: f"operations.{work.operations[int(found[1])].name}", error.message)
        raise UsageError(
            f"operations of your own can't all run on {topology}: {reason}",
            hint="choose sharded-2, which has a router, or a replica set",
        ) from error


def _refuse_other_documents(work: OperationsWork, examples: Iterable[tuple[StepExample, object]]) -> None:
    """An aggregation that takes documents, or writes some, beyond the one that it begins with. Raises UsageError."""
    for each, _ in examples:
        if each.step.command == "aggregate" and mentions(each.step, work, _BEYOND):
            raise UsageError(f"{each.path} has a stage that takes other documents, and they are at several shards")


def fitted(spec: Spec, options: Options) -> Options:
    """The options of a server of its own for `spec`: transactions need a replica set, so that it is one of one member.

    Raises UsageError where something else is asked for.
    """
    if not spec.has_transactions or options.null or options.mariadb or options.postgres:
        return options
    if options.topology == STANDALONE:
        raise UsageError("a standalone server has no transactions", hint="--topology replica-set-1 has")
    return options if options.topology is not None else replace(options, topology=SMALLEST_SET)


def sockets_per_connection(options: Options, *, reads: Mode | None) -> int:
    """To how many servers of its own each connection will lead, by the topology's name; `reads`: the read preference.

    What `WireTarget.sockets_per_connection` says once they are up.
    """
    lab = topology_spec(options.topology or STANDALONE)
    if lab.topology == CLIENT_ROUTED:
        return lab.shard_count
    has_secondaries = lab.topology == "replica set" and len(lab.members) > 1
    return 2 if has_secondaries and reads not in (None, "primary", "primaryPreferred") else 1


@contextmanager
def own_lab(
    options: Options, binary: ServerBinary, *, say: Callable[[str], None], stop: StopToken
) -> Iterator[Deployment]:
    """A fresh lab for the length of the `with` block. Raises UsageError, TargetError and Interrupted."""
    spec = replace(lab_spec_of(options), name=f"{NAME_DEFAULT}-{secrets.token_hex(4)}")
    raised = bring_up(
        spec,
        recipe=MongoDbRecipe(mongod=binary, mongos=router_of(options)),
        outlives=False,
        say=say,
        meanwhile=stop.raise_if_requested,
    )
    try:
        yield lab_deployment(raised.lab, binary, client_routed=is_client_routed(options.topology or STANDALONE))
    finally:
        raised.take_down()


def router_of(options: Options) -> Path | None:
    """The mongos of a sharded cluster; None where none is wanted, or there is none. Raises UsageError."""
    if is_sharded(options.topology or STANDALONE):
        return find_mongos(flag=options.mongos)
    if options.mongos is not None:
        raise idle_router()
    return None


def idle_router() -> UsageError:
    """A mongos was given, and nothing would use it."""
    return UsageError("--mongos is the router of a sharded cluster", hint="add --topology sharded-2, or leave it out")


def lab_spec_of(options: Options) -> LabSpec:
    """The lab that the options ask for. Raises UsageError."""
    try:
        topology = read_topology(options.topology or STANDALONE)
        network = None if options.network is None else parse_network(options.network)
    except ValueError as error:
        raise UsageError(str(error), hint="see docs/guides/servers.md for what can be started") from error
    return replace(
        topology_spec(topology),
        network=network,
        cpu_share=options.cpu_share,
        cache_gb=options.cache_gb,
        disk_bytes=options.disk_bytes,
    )


def lab_deployment(lab: Lab, binary: ServerBinary, *, client_routed: bool) -> Deployment:
    """A lab without access control as a run sees it. Raises TargetError."""
    first, *others = [external(uri) for uri in lab.uris]
    found = replace(first, binary=binary, shards=tuple(other.address for other in others))
    if not client_routed:
        return found
    # Each shard may be a set of its own; one of them can't be followed for the others.
    return replace(
        found, kind="client-routed shards", replica_set=None, reads=None, retry_reads=False, retry_writes=False
    )

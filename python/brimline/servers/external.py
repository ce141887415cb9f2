"""Owns any server that somebody else runs, behind a connection string. brimline never starts or stops it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pymongo.errors import ConfigurationError, OperationFailure, PyMongoError

from brimline.errors import TargetError, UsageError, redact_uri
from brimline.plan.model import ReplicaSet
from brimline.servers.access import COMPRESSORS, Compression
from brimline.servers.compression import agreed
from brimline.servers.contact import PATIENCE_S, NoContact, make_contact
from brimline.servers.deployment import (
    CONNECT_TIMEOUT_S,
    WITH_SESSIONS,
    Client,
    Deployment,
    control_client,
    inspect_deployment,
    refusal,
    split_address,
    unreachable,
)
from brimline.servers.discovery import Member, Role, Topology, discover
from brimline.servers.password import PasswordSource
from brimline.servers.selection import Mode, ReadPreference, reads_of
from brimline.servers.tls_trouble import tls_trouble
from brimline.servers.uri import ServerUri, parse_server_uri
from brimline.units import NS_PER_MS

_LOOK_TIMEOUT_S = 1.0
"""How long one server is waited for while the others are still to be asked; twice as long after each silence."""


def external(
    uri: str,
    *,
    password: PasswordSource | None = None,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    say: Callable[[str], None] = lambda _: None,
) -> Deployment:
    """The server behind `uri`, reached and asked what it is, in bounded time.

    `password`: where it comes from when `uri` names a user alone. `say` is told of each member that doesn't answer.

    Raises:
        UsageError: the connection string can't be honoured; see `uri.py`.
        TargetError: nothing answers, what answers is no MongoDB server, or it refuses.
    """
    server = parse_server_uri(uri, password=password)
    topology = _located(server, connect_timeout_s, say=say)
    address = server.address if topology is None else topology.primary.address
    with _reached(server, address, purpose="control", connect_timeout_s=connect_timeout_s) as client:
        deployment = inspect_deployment(
            client, address=address, uri_redacted=server.redacted, access=server.access, set_name=server.set_name
        )
        compressor = agreed(client, server.access.compression)
    followed = _followed(topology, server)
    topology = topology or _alone(deployment)
    has_sessions = deployment.kind in WITH_SESSIONS
    return replace(
        deployment,
        uri_redacted=redact_uri(uri),
        compressor=compressor,
        routers=tuple(member.address for member in topology.writable[1:]),
        found=topology,
        reads=reads_of(topology, server.read_preference),
        read_concern=server.read_concern,
        replica_set=followed,
        retry_reads=server.retry_reads and has_sessions,
        retry_writes=server.retry_writes and has_sessions,
    )


def _followed(topology: Topology | None, server: ServerUri) -> ReplicaSet | None:
    """The replica set whose primary is to be followed; None for a server that is meant itself, and for routers."""
    if topology is None or topology.primary.set_name is None:
        return None
    return ReplicaSet(
        name=topology.primary.set_name,
        members=topology.members,
        selection_timeout_ns=server.selection_timeout_ms * NS_PER_MS,
    )


def _alone(deployment: Deployment) -> Topology:
    """One server that is connected to directly: what it is a member of doesn't matter."""
    role: Role = "mongos" if deployment.kind == "mongos" else "standalone"
    return Topology(writable=(Member(address=deployment.address, role=role),))


def external_again(deployment: Deployment, *, connect_timeout_s: float) -> Deployment:
    """The same server once more, after it went away.

    Raises:
        TargetError: as `external`.
    """
    server = ServerUri(seeds=(deployment.address,), redacted=deployment.uri_redacted, access=deployment.access)
    with _reached(server, deployment.address, purpose="control", connect_timeout_s=connect_timeout_s) as client:
        again = inspect_deployment(
            client, address=deployment.address, uri_redacted=server.redacted, access=server.access
        )
    return replace(
        again,
        compressor=deployment.compressor,
        routers=deployment.routers,
        shards=deployment.shards,
        found=deployment.found,
        reads=deployment.reads,
        read_concern=deployment.read_concern,
        replica_set=deployment.replica_set,
        retry_reads=deployment.retry_reads,
        retry_writes=deployment.retry_writes,
    )


def primary_now(deployment: Deployment, *, connect_timeout_s: float = CONNECT_TIMEOUT_S) -> Deployment:
    """The same replica set with the member that is its primary now; any other deployment as it is.

    Raises:
        TargetError: there is none, or nobody answers.
    """
    if deployment.replica_set is None:
        return deployment
    silent = () if deployment.found is None else deployment.found.silent
    members = dict.fromkeys((deployment.address, *deployment.replica_set.members))
    server = ServerUri(
        seeds=tuple(members),
        redacted=deployment.uri_redacted,
        is_direct=False,
        set_name=deployment.replica_set.name,
        access=deployment.access,
    )
    # Those that were silent from the beginning are not waited for again and again.
    topology = _located(server, connect_timeout_s, left_out=frozenset(silent) - {deployment.address})
    if topology is None or topology.primary.address == deployment.address:
        return deployment
    # Another member: what is known of the process behind the old one is not true of it.
    return replace(deployment, address=topology.primary.address, local=False, pid=None)


def reading_by(deployment: Deployment, mode: Mode) -> Deployment:
    """The same servers with reads by another preference. Raises TargetError where no member fits."""
    if deployment.found is None:
        raise UsageError("only a replica set has members to prefer for reads", hint="give --uri, or --topology")
    return replace(deployment, reads=reads_of(deployment.found, ReadPreference(mode=mode)))


def compressing_by(deployment: Deployment, level: str) -> Deployment:
    """The same servers with messages compressed by `level`, or as they are. Raises TargetError where it isn't taken."""
    wanted = next((each for each in COMPRESSORS if each == level), None)
    access = replace(deployment.access, compression=None if wanted is None else Compression(compressors=(wanted,)))
    with control_client(deployment.address, access=access) as client:
        return replace(deployment, access=access, compressor=agreed(client, access.compression))


@contextmanager
def reached(
    uri: str,
    *,
    password: PasswordSource | None = None,
    purpose: str = "control",
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
) -> Iterator[tuple[Client, ServerUri]]:
    """A client of the server behind `uri`, which has answered; closed at the end of the `with` block.

    Raises:
        UsageError: the connection string can't be honoured; see `uri.py`.
        TargetError: nothing answers, or what answers is no MongoDB server.
    """
    server = parse_server_uri(uri, password=password)
    topology = _located(server, connect_timeout_s)
    if topology is not None:
        server = replace(server, seeds=(topology.primary.address,))
    with _reached(server, server.address, purpose=purpose, connect_timeout_s=connect_timeout_s) as client:
        yield client, server


def _located(
    server: ServerUri,
    connect_timeout_s: float,
    *,
    say: Callable[[str], None] = lambda _: None,
    left_out: frozenset[str] = frozenset(),
) -> Topology | None:
    """The servers behind the hosts of a connection string; None when its one host is meant itself.

    `say` is told of each that doesn't answer. Those that are `left_out` are asked only once nobody else is primary.
    """
    if server.is_direct:
        return None
    _ = server.access.native
    patience_s: dict[str, float] = {}
    missing: set[str] = set()

    def ask(address: str) -> Mapping[str, Any]:
        if address in left_out and address not in missing:
            missing.add(address)
            raise NoContact("not asked")
        timeout_s = min(patience_s.get(address, _LOOK_TIMEOUT_S), connect_timeout_s)
        patience_s[address] = 2 * timeout_s
        try:
            make_contact(*split_address(address), tls=server.access.tls, timeout_s=timeout_s, may_be_slow=False)
            with control_client(address, access=server.access, connect_timeout_s=timeout_s) as client:
                return client.admin.command("hello")
        except PyMongoError as error:
            if address not in missing and not isinstance(error, OperationFailure):
                missing.add(address)
                say(f"{address} does not answer ({_reason(error)}): going on without it")
            raise

    try:
        return discover(server.seeds, ask, set_name=server.set_name, timeout_s=connect_timeout_s)
    except OperationFailure as error:
        raise refusal(error, server.redacted, server.access) from error
    except PyMongoError as error:
        raise _unreachable(error, server) from error


@contextmanager
def _reached(server: ServerUri, address: str, *, purpose: str, connect_timeout_s: float) -> Iterator[Client]:
    _ = server.access.native  # what is wrong with a certificate's file is told before anything is tried
    try:
        make_contact(
            *split_address(address),
            tls=server.access.tls,
            timeout_s=connect_timeout_s,
            patience_s=min(connect_timeout_s, PATIENCE_S),
        )
    except NoContact as error:
        raise _unreachable(error, server) from error
    with control_client(address, access=server.access, purpose=purpose, connect_timeout_s=connect_timeout_s) as client:
        try:
            client.admin.command("ping")
        except OperationFailure as error:
            raise refusal(error, server.redacted, server.access) from error
        except PyMongoError as error:
            raise _unreachable(error, server) from error
        yield client


def _unreachable(error: PyMongoError, server: ServerUri) -> TargetError:
    if isinstance(error, ConfigurationError):
        return TargetError(
            f"the server at {server.redacted} speaks too old or too new a version of the protocol",
            hint="MongoDB 4.4 to 8.x are supported",
        )
    if isinstance(error, NoContact) and error.answers_as:
        return TargetError(
            f"the server at {server.redacted} answers as {error.answers_as}, not as MongoDB", hint=error.hint
        )
    if (trouble := tls_trouble(str(error), server.redacted, server.access.tls)) is not None:
        return trouble
    reason = _reason(error)
    if isinstance(error, NoContact) and error.hint:
        return unreachable(server.redacted, reason=reason, hint=error.hint)
    if reason == _HUNG_UP:
        return unreachable(
            server.redacted, reason=reason, hint="add tls=true if it wants TLS; else check host and port"
        )
    return unreachable(server.redacted, reason=reason)


_HUNG_UP = "what listens there is not a MongoDB server, or it wants TLS"


def _reason(error: PyMongoError) -> str:
    """The few words that matter: PyMongo's own text repeats its whole view of the deployment."""
    text = str(error).lower()
    known = {
        "connection refused": "connection refused",
        "name or service not known": "the host name is unknown",
        "nodename nor servname": "the host name is unknown",
        "temporary failure in name resolution": "the host name can't be resolved",
        "no address associated": "the host name has no address",
        "network is unreachable": "the network is unreachable",
        "no route to host": "no route to the host",
        "connection closed": _HUNG_UP,
        "connection reset": _HUNG_UP,
        "timed out": "no answer in time",
        "timeout": "no answer in time",
    }
    otherwise = str(error) if isinstance(error, NoContact) else "it is not a MongoDB server"
    return next((words for pattern, words in known.items() if pattern in text), otherwise)


__all__ = [
    "ServerUri",
    "compressing_by",
    "external",
    "external_again",
    "parse_server_uri",
    "primary_now",
    "reached",
    "reading_by",
]

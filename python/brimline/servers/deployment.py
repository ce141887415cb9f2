"""Owns what is known about a server: its address for the engine, and the facts a report needs."""

import socket
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, Protocol

import pymongo
from bson.int64 import Int64
from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.plan.model import Reads, ReplicaSet
from brimline.servers.access import OPEN, Access, Compressor
from brimline.servers.answers import Unkeepable, at, plain, refusal_name, refusal_words, words
from brimline.servers.binary import ServerBinary
from brimline.servers.discovery import Topology
from brimline.servers.distrust import ControlClient, unbelievable
from brimline.servers.lab.lookup import lab_facts, lab_server
from brimline.servers.lab.state import LabServer
from brimline.servers.listening import listens
from brimline.servers.owner import is_whole
from brimline.servers.refusal import AUTHENTICATION_FAILED, NOT_ALLOWED_CODES, USER_NOT_FOUND
from brimline.servers.target_uri import ServerKind, TargetUri

Client = pymongo.MongoClient[dict[str, Any]]
Kind = Literal["standalone", "replica-set member", "mongos", "client-routed shards", "service", "unknown"]
WITH_SESSIONS: tuple[Kind, ...] = ("replica-set member", "mongos")
"""Servers whose writes can be sent again under their number, and that have transactions."""
Engine = Literal["MongoDB", "FerretDB", "brimline-testserver", "HTTP", "MariaDB", "MySQL", "PostgreSQL", "unknown"]

CONNECT_TIMEOUT_S = 5.0
COMMAND_TIMEOUT_S = 30.0
_NOT_ON_STANDALONE = 51300
"""The code with which a server outside a replica set refuses `getDefaultRWConcern`."""
_GIT_VERSION_LENGTH = 40


class OwnServer(Protocol):
    """A server that brimline started, for as long as its context lasts."""

    @property
    def data_directory(self) -> Path:
        """Where its files are."""

    def restart(self, *, meanwhile: Callable[[], None]) -> "Deployment":
        """Shuts it down in good order, calls `meanwhile`, and starts it again on the same data and address.

        Raises TargetError when it doesn't end or doesn't come back.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A server that answers. `address` is `host:port`, an IPv6 host in brackets.

    `engine` says what it really is: other engines speak MongoDB's protocol and report an invented MongoDB
    `version`. `pid` is set when the process runs on this machine and really is the one that listens at
    `address`, so that its CPU time can be read; `local` is True then. `cpu_count` is the number of processors
    that the server says it may use. `binary` is set when brimline started the server itself, `own` is its
    handle then. `access` opens it; it is never printed and no part of what is stored. `uri_redacted` is how the
    server was asked for, without user and password.

    `routers` are further routers of the same cluster, `reads` says which servers take reads where those are others than
    `address`, `read_concern` what they may see. `found` is what was found behind the connection string. `shards` are
    further servers among which the client itself shares out the records. `compressor` is what the server agreed to.
    `lab` says of which lab on this machine it is a part; see `lab_facts`. `sessions`: whether it has those that
    official drivers put every command into. `protocol` is what it speaks; of what isn't MongoDB `of_uri` is the
    address as it was read, `facts` what the server said of itself, for the record, and `data_directory` where it says
    that it keeps its data, on its own host. `started`:
    brimline started it for this verb, though not from a `binary` of MongoDB.
    """

    address: str
    uri_redacted: str
    kind: Kind
    engine: Engine
    version: str
    git_version: str
    local: bool
    pid: int | None
    cpu_count: int | None
    binary: ServerBinary | None = None
    own: "OwnServer | None" = field(default=None, repr=False, compare=False)
    access: Access = field(default=OPEN, repr=False, compare=False)
    compressor: Compressor | None = None
    routers: tuple[str, ...] = ()
    shards: tuple[str, ...] = ()
    found: Topology | None = field(default=None, repr=False, compare=False)
    lab: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    reads: Reads | None = None
    read_concern: str | None = None
    replica_set: ReplicaSet | None = None
    retry_reads: bool = False
    retry_writes: bool = False
    sessions: bool = False
    protocol: ServerKind = "mongodb"
    of_uri: TargetUri | None = field(default=None, repr=False, compare=False)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    data_directory: Path | None = field(default=None, repr=False, compare=False)
    started: bool = field(default=False, repr=False)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every server that operations are, or may come to be, sent to."""
        reading = () if self.reads is None else self.reads.addresses
        members = () if self.replica_set is None else self.replica_set.members
        return tuple(dict.fromkeys((self.address, *self.routers, *self.shards, *reading, *members)))

    @property
    def is_own(self) -> bool:
        """Whether brimline started it for this verb, so that it and all it holds goes with it."""
        return self.binary is not None or self.started

    @property
    def is_mongodb(self) -> bool:
        """Whether a report may call it MongoDB."""
        return self.engine == "MongoDB"

    @property
    def scripted(self) -> bool:
        """Whether it is brimline's own test server."""
        return self.engine == "brimline-testserver"


def control_client(
    address: str,
    *,
    access: Access = OPEN,
    purpose: str = "control",
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    command_timeout_s: float = COMMAND_TIMEOUT_S,
) -> Client:
    """A PyMongo client for what is not measured: one server, no discovery, bounded waits. Close it after use.

    `purpose` ends up in the application name, so that the server's own tools can tell brimline's connections
    apart. Retries are off: a command is sent once or it fails.
    """
    timeout_ms = round(connect_timeout_s * 1000)
    return ControlClient(
        f"mongodb://{address}",
        directConnection=True,
        appname=f"brimline-{purpose}",
        serverSelectionTimeoutMS=timeout_ms,
        connectTimeoutMS=timeout_ms,
        socketTimeoutMS=round(command_timeout_s * 1000),
        retryReads=False,
        retryWrites=False,
        maxPoolSize=4,
        serverMonitoringMode="poll",
        **access.client_options(),
    )


def inspect_deployment(
    client: Client,
    *,
    address: str,
    uri_redacted: str,
    binary: ServerBinary | None = None,
    access: Access = OPEN,
    set_name: str | None = None,
) -> Deployment:
    """Asks a reachable server what it is.

    Raises:
        TargetError: it refuses (authentication, a secondary) or goes away.
    """
    try:
        hello = client.admin.command("hello")
        build = client.admin.command("buildInfo")
        status = _status(client)
    except OperationFailure as error:
        raise refusal(error, uri_redacted, access) from error
    except PyMongoError as error:
        raise unreachable(uri_redacted) from error
    _require_set(hello, set_name, uri_redacted)
    _require_writable(hello, uri_redacted)
    engine = engine_of(build, status)
    lab, of_lab = lab_server(address) or (None, None)
    pid = _local_pid(address, status, of_lab)
    return Deployment(
        address=address,
        uri_redacted=uri_redacted,
        kind=kind_of(hello, engine),
        engine=engine,
        version=words(build.get("version", "unknown")),
        git_version=words(build.get("gitVersion", "")),
        local=pid is not None,
        pid=pid,
        cpu_count=_cpu_count(client),
        binary=binary,
        access=access,
        lab=None if lab is None else lab_facts(lab),
        sessions=type(hello.get("logicalSessionTimeoutMinutes")) in (int, float, Int64),
    )


def engine_of(build: Mapping[str, Any], status: Mapping[str, Any]) -> Engine:
    """What `buildInfo` and `serverStatus` betray.

    Other engines report an invented MongoDB version, but neither its build nor its storage engine.
    """
    if build.get("scripted"):
        return "brimline-testserver"
    if "ferretdb" in build or "ferretdbVersion" in build:
        return "FerretDB"
    git_version = str(build.get("gitVersion", ""))
    is_git_hash = len(git_version) == _GIT_VERSION_LENGTH and set(git_version) <= set("0123456789abcdef")
    is_mongos = status.get("process") == "mongos" and "sharding" in status
    return "MongoDB" if is_git_hash and ("wiredTiger" in status or is_mongos) else "unknown"


def kind_of(hello: Mapping[str, Any], engine: Engine) -> Kind:
    """The server's role, from its `hello`."""
    if hello.get("msg") == "isdbgrid":
        return "mongos"
    if "setName" in hello:
        return "replica-set member"
    return "standalone" if engine in {"MongoDB", "brimline-testserver"} else "unknown"


def server_documents(client: Client) -> dict[str, Any]:
    """What the server says about itself, for `environment.json`.

    Secrets are cut, all values are JSON types. What the server refuses to tell is absent, and `refused` says why by
    command.
    """
    documents: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for command in ("buildInfo", "getCmdLineOpts", "hostInfo", "hello"):
        try:
            answer = client.admin.command(command)
        except OperationFailure as error:
            refused[command] = refusal_name(error)
            continue
        except PyMongoError:
            continue
        try:
            documents[command] = _plain(answer)
        except Unkeepable as error:
            refused[command] = f"not kept: {error}"
    if refused:
        documents["refused"] = refused
    with suppress(Unkeepable):
        if (concern := _default_write_concern(client)) is not None:
            documents["default_write_concern"] = concern
    return documents


def _default_write_concern(client: Client) -> Any:
    """What writes without a write concern get; None when the server doesn't say."""
    try:
        answer = client.admin.command("getDefaultRWConcern")
    except OperationFailure as error:
        # The manual: a server of its own has no such setting, and its default is w: 1.
        return {"w": 1} if error.code == _NOT_ON_STANDALONE else None
    except PyMongoError:
        return None
    # Servers before 5.0 leave it out where nobody has set one, and their default is w: 1.
    return _plain(answer.get("defaultWriteConcern", {"w": 1}))


def refusal(error: OperationFailure, uri_redacted: str, access: Access = OPEN) -> TargetError:
    """The error for a server that answers and refuses."""
    if error.code in NOT_ALLOWED_CODES or error.code == USER_NOT_FOUND:
        return _not_allowed(error, uri_redacted, access)
    if error.code is None and (reason := unbelievable(error)):
        return TargetError(
            f"the server at {uri_redacted} is not believed: {reason}",
            hint="another server may stand in its place: check host and port, and use TLS",
        )
    return TargetError(
        f"the server at {uri_redacted} refuses: {refusal_words(error)}",
        hint="check that it is a MongoDB server, and what its log says",
    )


def _not_allowed(error: OperationFailure, uri_redacted: str, access: Access) -> TargetError:
    login = access.login
    if login is None:
        return TargetError(
            f"the server at {uri_redacted} wants a user name and a password",
            hint="name the user in the connection string, USER@ before the host, and give the password by "
            "BRIMLINE_PASSWORD or --password-file FILE",
        )
    if error.code not in (AUTHENTICATION_FAILED, USER_NOT_FOUND):
        return TargetError(
            f"the server at {uri_redacted} does not let this user do what brimline needs",
            hint="the user needs readWrite on the database of the data, and clusterMonitor on admin",
        )
    if login.mechanism == "MONGODB-X509":
        return TargetError(
            f"the server at {uri_redacted} does not know the owner of the client's certificate",
            hint="its subject must be a user of $external on the server",
        )
    return TargetError(
        f"the server at {uri_redacted} does not accept the user name and the password",
        hint=f"check both; the user was looked for in the database {login.source}, authSource names another",
    )


def unreachable(
    uri_redacted: str, *, reason: str = "", hint: str = "check host and port, and that the server runs"
) -> TargetError:
    """The error for a server that does not answer."""
    return TargetError(
        f"no server answers at {uri_redacted}{f': {reason}' if reason else ''}",
        hint=hint,
    )


def split_address(address: str) -> tuple[str, int]:
    """Host (without brackets) and port of `host:port` or `[v6]:port`."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def is_local_host(host: str) -> bool:
    """Whether every address of `host` belongs to this machine: only those can be bound."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return bool(found) and all(_can_bind(family, target) for family, _, _, _, target in found)


def is_loopback(address: str) -> bool:
    """Whether the engine will go to `host:port` by the loopback interface: it takes the first address of a name."""
    try:
        found = socket.getaddrinfo(*split_address(address), type=socket.SOCK_STREAM)
    except OSError:
        return False
    return ip_address(found[0][4][0]).is_loopback


def _can_bind(family: int, target: Any) -> bool:
    with closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
        try:
            probe.bind(target)
        except OSError:
            return False
    return True


def _local_pid(address: str, status: Mapping[str, Any], of_lab: LabServer | None) -> int | None:
    """The server's pid, if that process is here; `of_lab`: what it is in a lab of this machine.

    The address alone proves nothing: a tunnel or a container's port looks local too.
    """
    host, port = split_address(address)
    pid = status.get("pid")
    if not isinstance(pid, int) or not is_local_host(host):
        return None
    if listens(int(pid), port):
        return int(pid)
    behind = None if of_lab is None else of_lab.behind
    return int(pid) if behind is not None and listens(int(pid), split_address(behind)[1]) else None


def _require_set(hello: Mapping[str, Any], set_name: str | None, uri_redacted: str) -> None:
    found = hello.get("setName")
    if set_name is None or found == set_name:
        return
    belongs = "no replica set" if found is None else f'the replica set "{words(found)}"'
    raise TargetError(
        f'the server at {uri_redacted} belongs to {belongs}, not to "{set_name}"',
        hint="leave replicaSet out" if found is None else f"write replicaSet={words(found)}",
    )


def _require_writable(hello: Mapping[str, Any], uri_redacted: str) -> None:
    if hello.get("isWritablePrimary", True):
        return
    primary = hello.get("primary")
    raise TargetError(
        f"the server at {uri_redacted} takes no writes: it is not the primary of its replica set",
        hint=f"give the primary, mongodb://{words(primary)}, or add replicaSet={words(hello.get('setName'))} "
        "to have it found"
        if primary
        else "wait until the set has elected a primary",
    )


def _status(client: Client) -> dict[str, Any]:
    """`serverStatus`, or nothing of it for a user who is known to the server and may not see it."""
    try:
        return client.admin.command("serverStatus")
    except OperationFailure as error:
        if error.code not in NOT_ALLOWED_CODES or not _signed_in(client):
            raise
        return {}


def _signed_in(client: Client) -> bool:
    return bool(at(client.admin.command("connectionStatus"), "authInfo", "authenticatedUsers"))


CPU_COUNT_MAX = 1 << 16
"""No machine has so many; of a server that says more it is not known."""


def _cpu_count(client: Client) -> int | None:
    try:
        count = at(client.admin.command("hostInfo"), "system", "numCores")
    except PyMongoError:
        return None
    return count if is_whole(count, 1, CPU_COUNT_MAX) else None


def _plain(document: Mapping[str, Any]) -> Any:
    kept = {key: value for key, value in document.items() if not key.startswith("$") and key != "operationTime"}
    return plain(kept)

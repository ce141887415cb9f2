"""Owns what a plan, and a record, say of a server: one function for each protocol (`execution.protocols`)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brimline.errors import UsageError
from brimline.plan import LinkTarget, TargetPlan, http_target, runner_target, sql_target, wire_target
from brimline.runners import clients_for, require_ready, servers_of
from brimline.servers import BUNDLED_LICENCE, Deployment, control_client, server_documents
from brimline.servers.access import Access
from brimline.servers.deployment import WITH_SESSIONS
from brimline.servers.lab.lookup import is_user_of_lab
from brimline.servers.target_uri import TargetUri
from brimline.spec import Spec
from brimline.spec.own.http import HttpSpec

_NOT_IN_TRANSACTIONS = frozenset({"available", "linearizable"})
"""Read concerns that no transaction may have."""


_OWN_DATABASES = {
    "mysql": ("information_schema", "mysql", "performance_schema", "sys"),
    "postgres": ("template0", "template1"),
}


def http_service(spec: Spec, deployment: Deployment) -> TargetPlan:
    """What a plan says of a service."""
    where = of_address(spec, deployment)
    return http_target(
        spec, address=deployment.address, authority=where.authority, base=where.path, tls=where.tls is not None
    )


def sql_database(spec: Spec, deployment: Deployment) -> TargetPlan:
    """What a plan says of an SQL database.

    Raises UsageError where it is one of the server's own, or the client that `spec` asks for can't do it.
    """
    where = of_address(spec, deployment)
    database = where.database or spec.data.database
    if database.lower() in _OWN_DATABASES[deployment.protocol]:
        raise UsageError(f'"{database}" is one of the server\'s own databases', hint="create another, and name that")
    client = None if spec.target.client == "wire" else spec.target.client
    return sql_target(
        kind="mysql" if deployment.protocol == "mysql" else "postgres",
        address=deployment.address,
        database=database,
        tls=where.tls is not None,
        isolation=spec.isolation,
        client=client,
        max_pool_size=None if client is None else spec.pool_size,
    )


def plain_target(spec: Spec, deployment: Deployment) -> TargetPlan:
    """What a plan says of a server whose protocol asks for no more than its address."""
    of_address(spec, deployment)
    return LinkTarget(kind=deployment.protocol, address=deployment.address)


def isolated(spec: Spec, deployment: Deployment) -> Deployment:
    """An SQL database with the isolation that `spec` asks for."""
    if spec.isolation is None:
        return deployment
    return replace(deployment, facts={**deployment.facts, "isolation": spec.isolation})


def with_headers(spec: Spec, deployment: Deployment) -> Deployment:
    """A service with the secret headers that `spec` takes from the environment. Raises UsageError."""
    login = deployment.access.login
    named = None if login is None else (login.username or "", login.password or "")
    headers = (spec.http or HttpSpec()).secret_headers(login=named)
    return replace(deployment, access=Access(tls=deployment.access.tls, login=login, headers=tuple(headers)))


def server_of(deployment: Deployment) -> dict[str, Any]:
    """What a record says of the server."""
    of_protocol = _mongodb_facts(deployment) if deployment.of_uri is None else {**deployment.facts}
    return {
        "engine": deployment.engine,
        "kind": deployment.kind,
        "version": deployment.version,
        "same_host": deployment.local,
        "started_by_brimline": deployment.is_own,
        **({} if deployment.lab is None else {"lab": deployment.lab}),
        **({"user_of_lab": True} if is_user_of_lab(deployment.address, deployment.access.login) else {}),
        **of_protocol,
    }


def _mongodb_facts(deployment: Deployment) -> Mapping[str, Any]:
    with control_client(deployment.address, access=deployment.access) as client:
        documents = server_documents(client)
    bundled = deployment.binary is not None and deployment.binary.licence is not None
    return {
        "git_version": deployment.git_version,
        "openssl": documents.get("buildInfo", {}).get("openssl", {}).get("running"),
        "sessions": deployment.sessions,
        **({} if deployment.compressor is None else {"compressor": deployment.compressor}),
        **documents,
        **({"licence": BUNDLED_LICENCE} if bundled else {}),
    }


def mongodb_target(spec: Spec, deployment: Deployment) -> TargetPlan:
    """What a plan says of a MongoDB. Raises UsageError where the client that `spec` asks for can't do it."""
    _require_spoken(spec, deployment)
    _require_transactions(spec, deployment)
    target = wire_target(
        spec,
        address=deployment.address,
        routers=deployment.routers,
        shards=deployment.shards,
        reads=deployment.reads,
        read_concern=deployment.read_concern,
        replica_set=deployment.replica_set,
        retry_reads=deployment.retry_reads,
        retry_writes=deployment.retry_writes,
        sessions=deployment.sessions,
        # A router's processors say nothing about those of the shards behind it.
        cpu_count=None if deployment.kind == "mongos" else deployment.cpu_count,
        # A lab may have put a line between.
        beside_server=deployment.local and "network" not in (deployment.lab or {}),
    )
    if spec.target.client == "wire":
        return target
    if deployment.shards or deployment.reads is not None or deployment.compressor is not None:
        raise runner_needs_plain_server()
    return runner_target(spec, target)


def _require_transactions(spec: Spec, deployment: Deployment) -> None:
    """Raises UsageError where transactions are asked of a target that has none."""
    if not spec.has_transactions:
        return
    if deployment.shards:
        raise UsageError(
            "client-routed shards know nothing of each other, so that no transaction spans them",
            hint="take a replica set or a sharded cluster",
        )
    if deployment.kind not in WITH_SESSIONS:
        raise UsageError(
            f"transactions need a replica set or a sharded cluster, and this is a {deployment.kind} server",
            hint="a set of one member is enough; without an address, brimline starts one",
        )
    if deployment.read_concern in _NOT_IN_TRANSACTIONS:
        raise UsageError(
            f"no transaction reads with the read concern {deployment.read_concern}",
            hint="readConcernLevel may be local, majority or snapshot, or be left out",
        )


def of_address(spec: Spec, deployment: Deployment) -> TargetUri:
    """The address of a server that isn't MongoDB's. Raises UsageError where the client that `spec` asks for can't."""
    _require_spoken(spec, deployment)
    assert deployment.of_uri is not None  # noqa: S101 - it was found by one
    return deployment.of_uri


def _require_spoken(spec: Spec, deployment: Deployment) -> None:
    """Raises UsageError where the client that `spec` asks for doesn't speak to such servers."""
    client = spec.target.client
    if client == "wire" or deployment.protocol in servers_of(client):
        return
    if "mongodb" in servers_of(client):
        raise UsageError(f"the client {client} is MongoDB's", hint=f"leave --client {client} out for another server")
    raise UsageError(
        f"the client {client} is for MariaDB, MySQL and PostgreSQL",
        hint=f"leave --client {client} out, or take one of {', '.join(clients_for(deployment.protocol))}"
        if clients_for(deployment.protocol)
        else f"leave --client {client} out for another server",
    )


def runner_needs_plain_server() -> UsageError:
    """The error of what brimline's own client can do and drivers aren't measured on."""
    return UsageError(
        "a driver is measured on a server, a replica set or routers, reads where writes go, its messages as they are",
        hint="leave the read preference and compressors out, and client-routed shards",
    )


def require_client(spec: Spec) -> None:
    """Raises UsageError where the client that `spec` asks for isn't there."""
    if spec.target.client != "wire":
        require_ready(spec.target.client)

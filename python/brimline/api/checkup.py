"""Owns the verb `doctor`: what this machine can do, before anything is claimed about a server."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from brimline.api.generator_checks import encoding_ceiling, send_lag, socket_ceiling
from brimline.api.options import URI_VARIABLE, default_runs_directory, named_uri
from brimline.api.own_server import refuse_version
from brimline.api.workload import load_workload
from brimline.doctor import Check, Planned, ServerInUse, examine
from brimline.doctor.disk import free_at_server
from brimline.errors import UsageError
from brimline.plan import wire_target
from brimline.servers import PasswordSource, control_client, external
from brimline.servers.deployment import is_loopback
from brimline.spec import Spec, shipped_workloads


def checkup(
    workload: str | Path | None = None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    uri: str | None = None,
    password: PasswordSource | None = None,
    mongod: Path | None = None,
    server_version: str | None = None,
    runs_directory: Path | None = None,
) -> Iterator[Check]:
    """Every check of this machine, one by one, the generator's own last.

    With a workload its needs are held against what there is. `uri` names the server that will be used, else the
    workload's or BRIMLINE_URI; without any the checks are about a server of brimline's own.

    Raises BrimlineError when the workload can't be read or the server doesn't answer.
    """
    spec = None
    changed = [path for path, value in (overrides or {}).items() if value is not None]
    is_named = workload is not None or property_files or properties
    if changed and not is_named:
        need = changed[0].rpartition(".")[2]
        raise UsageError(
            f"{need} is what a workload needs, and no workload is given",
            hint=f"name one of {', '.join(shipped_workloads())}, a file, or -P, or leave {need} out",
        )
    if is_named:
        spec = load_workload(workload, property_files=property_files, properties=properties, overrides=overrides).spec
    server = _server(uri, spec, password)
    if server is not None:
        refuse_version(server_version)
    return examine(
        mongod=mongod,
        server_version=server_version,
        runs_directory=runs_directory or default_runs_directory(),
        planned=None if spec is None else _planned(spec, server),
        server=server,
        extra=[
            ("generator_ceiling", encoding_ceiling),
            ("socket_ceiling", socket_ceiling),
            ("generator_lag", lambda: send_lag(beside_server=shares_host(server))),
        ],
    )


def _planned(spec: Spec, server: ServerInUse | None) -> Planned:
    """A server of brimline's own is one; where reads go to other members than writes, a connection leads to both."""
    sockets = 1
    if server is not None and spec.target.kind == "wire":
        reads = server.deployment.reads
        sockets = wire_target(spec, address=server.deployment.address, reads=reads).sockets_per_connection
    return Planned(
        data_bytes=spec.data.records * spec.data.document_bytes_max,
        connections=spec.effective_connections,
        threads=spec.threads,
        sockets=sockets,
    )


def _server(uri: str | None, spec: Spec | None, password: PasswordSource | None) -> ServerInUse | None:
    in_spec = None if spec is None or spec.target.uri is None else spec.target.uri.get_secret_value()
    named = named_uri(uri, in_spec, os.environ.get(URI_VARIABLE))
    if not named:
        return None
    deployment = external(named, password=password)
    with control_client(deployment.address, access=deployment.access) as client:
        free = free_at_server(client)
    return ServerInUse(deployment=deployment, free_bytes=free)


def shares_host(server: ServerInUse | None) -> bool:
    """Whether the engine will wait as beside a server: one of brimline's own, or all at addresses of the loopback."""
    return server is None or all(is_loopback(address) for address in server.deployment.addresses)

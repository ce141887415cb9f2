"""Owns the verb `doctor`: what this machine can do, before anything is claimed about a server."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from brimline.api.generator_checks import encoding_ceiling, send_lag, socket_ceiling
from brimline.api.options import URI_VARIABLE, Options, named_uri
from brimline.api.own_server import refuse_own
from brimline.api.protocols import require_protocol
from brimline.api.workload import WorkloadWords, load_workload, overrides_of
from brimline.doctor import Check, Planned, ServerInUse, examine
from brimline.doctor.disk import free_at_server
from brimline.doctor.documents import documents_ready
from brimline.doctor.extras import extras_ready
from brimline.doctor.runners import runners_ready
from brimline.errors import UsageError
from brimline.plan import wire_target
from brimline.servers import control_client, external
from brimline.servers.deployment import is_loopback
from brimline.spec import Spec, shipped_workloads


def checkup(
    workload: str | Path | None = None,
    *,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> Iterator[Check]:
    """Every check of this machine, one by one, the generator's own last.

    With a workload its needs are held against what there is. `options.uri` names the server that will be used, else the
    workload's or BRIMLINE_URI; without any the checks are about a server of brimline's own.

    Raises BrimlineError when the workload can't be read or the server doesn't answer.
    """
    options, spec = options or Options(), None
    changed = list(overrides_of(words))
    is_named = workload is not None or words.get("property_files") or words.get("properties")
    if changed and not is_named:
        need = changed[0].rpartition(".")[2]
        raise UsageError(
            f"{need} is what a workload needs, and no workload is given",
            hint=f"name one of {', '.join(shipped_workloads())}, a file, or -P, or leave {need} out",
        )
    if is_named:
        spec = load_workload(workload, **words).spec
    server = _server(spec, options)
    if server is not None:
        refuse_own(options)
    return examine(
        mongod=options.mongod,
        server_version=options.server_version,
        runs_dir=options.runs_dir,
        planned=None if spec is None else _planned(spec, server),
        server=server,
        extra=[
            ("runners", runners_ready),
            ("documents", documents_ready),
            *extras_ready(),
            ("generator_ceiling", encoding_ceiling),
            ("socket_ceiling", socket_ceiling),
            ("generator_lag", lambda: send_lag(beside_server=shares_host(server))),
        ],
    )


def _planned(spec: Spec, server: ServerInUse | None) -> Planned:
    """A server of brimline's own is one; where reads go to other members than writes, a connection leads to both."""
    sockets = 1
    if server is not None and spec.target.client == "wire":
        reads = server.deployment.reads
        sockets = wire_target(spec, address=server.deployment.address, reads=reads).sockets_per_connection
    return Planned(
        data_bytes=spec.data.records * spec.data.document_bytes_max,
        connections=spec.effective_connections,
        threads=spec.threads,
        sockets=sockets,
    )


def _server(spec: Spec | None, options: Options) -> ServerInUse | None:
    in_spec = None if spec is None or spec.target.uri is None else spec.target.uri.get_secret_value()
    named = named_uri(options.uri, in_spec, os.environ.get(URI_VARIABLE))
    if not named:
        return None
    require_protocol("doctor", named)
    deployment = external(named, password=options.password)
    with control_client(deployment.address, access=deployment.access) as client:
        free = free_at_server(client)
    return ServerInUse(deployment=deployment, free_bytes=free)


def shares_host(server: ServerInUse | None) -> bool:
    """Whether the engine will wait as beside a server: one of brimline's own, or all at addresses of the loopback."""
    return server is None or all(is_loopback(address) for address in server.deployment.addresses)

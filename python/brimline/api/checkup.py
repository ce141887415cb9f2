"""Owns the verb `doctor`: what this machine can do, before anything is claimed about a server."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from brimline.analysis.observation import Observation, observe
from brimline.api.options import URI_VARIABLE, default_runs_directory, named_uri
from brimline.api.own_server import refuse_version
from brimline.api.workload import load_workload
from brimline.doctor import Check, Planned, ServerInUse, Status, examine, graded
from brimline.doctor.disk import free_at_server
from brimline.errors import UsageError
from brimline.execution import RunContext, Silence, StopToken, execute
from brimline.plan import NullTarget, resolve, wire_target
from brimline.servers import PasswordSource, control_client, external
from brimline.servers.deployment import is_loopback
from brimline.spec import Spec, load_spec, shipped_workloads
from brimline.units import format_duration, format_rate

CEILING_OPS_PER_S_WARN = 200_000
CEILING_OPS_PER_S_FAIL = 40_000
"""Twice the rate that the lag is measured at: below it the generator is the limit of nearly every run."""
SCALING_SHARE_MIN = 0.6
"""Share of n times the ceiling of one thread that n threads should reach."""
LAG_RATE_OPS_PER_S = 20_000
LAG_P99_NS_MAX = 50_000


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
        extra=[("generator_ceiling", _ceiling), ("generator_lag", lambda: _lag(beside_server=shares_host(server)))],
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


def _ceiling() -> Check:
    """Closed loop against the null target: what engine threads can encode and record, one by one and together."""
    ceilings = {
        count: _observe_null({"load": "closed", "threads": count}).throughput_ops_per_s
        for count in thread_counts(len(os.sched_getaffinity(0)))
    }
    return judge_ceilings(ceilings)


def thread_counts(core_count: int) -> list[int]:
    """1, 2, 4 … and all cores."""
    powers = [1 << power for power in range(core_count.bit_length()) if 1 << power < core_count]
    return [*powers, core_count]


def judge_ceilings(ceilings_ops_per_s: Mapping[int, float]) -> Check:
    """The check of ceilings by number of threads, 1 among them."""
    one = ceilings_ops_per_s[1]
    most = max(ceilings_ops_per_s)
    scaling = ceilings_ops_per_s[most] / (most * one) if one else 0.0
    shown = ", ".join(
        f"{format_rate(rate)} on {count} thread{'' if count == 1 else 's'}"
        for count, rate in sorted(ceilings_ops_per_s.items())
    )
    return graded(
        "generator_ceiling",
        f"encode-and-record ceiling, without sockets: {shown}",
        warn=one < CEILING_OPS_PER_S_WARN or scaling < SCALING_SHARE_MIN,
        fail=one < CEILING_OPS_PER_S_FAIL,
        hint="end other programs, or run brimline on another machine",
        figures={
            "ceiling_by_threads_ops_per_s": {str(count): rate for count, rate in ceilings_ops_per_s.items()},
            "scaling_share": scaling,
        },
    )


def shares_host(server: ServerInUse | None) -> bool:
    """Whether the engine will wait as beside a server: one of brimline's own, or all at addresses of the loopback."""
    return server is None or all(is_loopback(address) for address in server.deployment.addresses)


def _lag(*, beside_server: bool) -> Check:
    """Open loop against the null target: how late the timer wakes and operations are sent."""
    load = {"kind": "constant", "rate": f"{LAG_RATE_OPS_PER_S}/s"}
    lag = _observe_null({"load": load}, target=NullTarget(beside_server=beside_server)).lag
    if lag is None:
        return Check(
            name="generator_lag",
            status=Status.FAIL,
            evidence="no operation was sent",
            hint="end other programs, or run brimline on another machine",
        )
    return judge_lag(p50_ns=lag.p50_ns, p99_ns=lag.p99_ns, beside_server=beside_server)


def judge_lag(*, p50_ns: float, p99_ns: float, beside_server: bool) -> Check:
    """The check of the send lag, measured with waits as beside a server on this host, or as with one elsewhere."""
    ending = "beside a server on this host" if beside_server else "with a server on another host"
    return graded(
        "generator_lag",
        f"timer error as send lag without a server, with waits as {ending}, at {format_rate(LAG_RATE_OPS_PER_S)}: "
        f"p50 {format_duration(p50_ns)}, p99 {format_duration(p99_ns)}",
        warn=p99_ns > LAG_P99_NS_MAX,
        hint="latencies below a millisecond will be off: end other programs"
        + (", or run brimline on another machine than the server" if beside_server else ""),
        figures={
            "rate_ops_per_s": LAG_RATE_OPS_PER_S,
            "lag_p50_ns": p50_ns,
            "lag_p99_ns": p99_ns,
            "beside_server": beside_server,
        },
    )


def _observe_null(overrides: dict[str, object], *, target: NullTarget | None = None) -> Observation:
    loaded = load_spec("ycsb-c", overrides={"warmup": "0.2s", "duration": "1s", "interval": "0.1s", **overrides})
    plan = resolve(loaded.spec, target=target or NullTarget())
    context = RunContext(deployment=None, spec_text=loaded.text, environment={}, progress=Silence(), stop=StopToken())
    with TemporaryDirectory(prefix="brimline-doctor-") as directory:
        return observe(execute(plan, directory=Path(directory) / "run", title="null", context=context))

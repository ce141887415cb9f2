"""Owns the checks of the generator itself: what it can encode and record, send and receive, and how late it is."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from brimline import _native
from brimline.analysis.observation import Observation, observe
from brimline.doctor import Check, Status, graded
from brimline.execution import RunContext, Silence, StopToken, execute
from brimline.plan import NullTarget, TargetPlan, WireTarget, resolve
from brimline.spec import load_spec
from brimline.units import format_duration, format_number, format_rate

LAG_RATE_OPS_PER_S = 20_000
LAG_P99_NS_MAX = 50_000
SCALING_SHARE_MIN = 0.6
"""Share of n times the ceiling of one thread that n threads should reach."""
SOCKETS_OPS_PER_S_WARN = 60_000
"""A third of what a core of 2020 does: a mongod on a few cores answers that many finds."""
SOCKETS_OPS_PER_S_FAIL = LAG_RATE_OPS_PER_S
"""Below it the generator is the limit of nearly every run."""
SOCKETS_CONNECTIONS = 32
SOCKETS_DOCUMENT_BYTES = 1_000
MEASURED: Mapping[str, object] = {"warmup": "0.2s", "duration": "1s", "interval": "0.1s"}
"""For how long each of them runs, as a spec says it."""


def encoding_ceiling() -> Check:
    """Closed loop against the null target: what engine threads can encode and record, one by one and together."""
    ceilings = {
        count: _observe({"load": "closed", "threads": count}, NullTarget()).throughput_ops_per_s
        for count in thread_counts(_core_count())
    }
    return judge_ceilings(ceilings)


def thread_counts(core_count: int) -> list[int]:
    """1, 2, 4 … and all cores."""
    powers = [1 << power for power in range(core_count.bit_length()) if 1 << power < core_count]
    return [*powers, core_count]


def judge_ceilings(ceilings_ops_per_s: Mapping[int, float]) -> Check:
    """The check of ceilings by number of threads, 1 among them: whether more threads do more.

    No bound on the rate: without sockets it is so high that it limits nobody.
    """
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
        warn=scaling < SCALING_SHARE_MIN,
        hint="threads don't have a core each: end other programs, or run brimline on another machine",
        figures={
            "ceiling_by_threads_ops_per_s": {str(count): rate for count, rate in ceilings_ops_per_s.items()},
            "scaling_share": scaling,
        },
    )


def socket_ceiling() -> Check:
    """Closed loop of finds over the loopback against a server that answers at once, on one engine thread."""
    with _answering_server() as target:
        observation = _observe({"load": "closed", "threads": 1, "connections": SOCKETS_CONNECTIONS}, target)
    return judge_socket_ceiling(observation.throughput_ops_per_s, core_count=_core_count())


def judge_socket_ceiling(ceiling_ops_per_s: float, *, core_count: int) -> Check:
    """The check of the ceiling over sockets; with one core the answers come from the same as the requests."""
    whose_core = "another core" if core_count > 1 else "the same core, the only one"
    return graded(
        "socket_ceiling",
        f"finds of {format_number(SOCKETS_DOCUMENT_BYTES)} bytes over the loopback, answered at once by a thread on "
        f"{whose_core}: {format_rate(ceiling_ops_per_s)} on 1 engine thread, {SOCKETS_CONNECTIONS} connections",
        warn=ceiling_ops_per_s < SOCKETS_OPS_PER_S_WARN,
        fail=ceiling_ops_per_s < SOCKETS_OPS_PER_S_FAIL,
        hint="limits above this would be the generator's: end other programs, or run brimline on another machine",
        figures={
            "ceiling_ops_per_s": ceiling_ops_per_s,
            "connections": SOCKETS_CONNECTIONS,
            "document_bytes": SOCKETS_DOCUMENT_BYTES,
            "core_count": core_count,
        },
    )


@contextmanager
def _answering_server() -> Iterator[WireTarget]:
    server = _native.AnsweringServer(SOCKETS_DOCUMENT_BYTES)
    try:
        yield WireTarget(address=server.address, write_concern=None, sessions=True)
    finally:
        server.stop()


def send_lag(*, beside_server: bool) -> Check:
    """Open loop against the null target: how late the timer wakes and operations are sent."""
    load = {"kind": "constant", "rate": f"{LAG_RATE_OPS_PER_S}/s"}
    lag = _observe({"load": load}, NullTarget(beside_server=beside_server)).lag
    if lag is None or lag.p50_ns is None or lag.p99_ns is None:
        return Check(
            name="generator_lag",
            status=Status.FAIL,
            evidence="no operation was sent" if lag is None else "operations that were due were not sent",
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


def _observe(overrides: dict[str, object], target: TargetPlan) -> Observation:
    loaded = load_spec("ycsb-c", overrides={**MEASURED, **overrides})
    plan = resolve(loaded.spec, target=target)
    context = RunContext(deployment=None, spec_text=loaded.text, environment={}, progress=Silence(), stop=StopToken())
    with TemporaryDirectory(prefix="brimline-doctor-") as directory:
        return observe(execute(plan, directory=Path(directory) / "run", title="doctor", context=context))


def _core_count() -> int:
    return len(os.sched_getaffinity(0))

"""Owns the verb `doctor`: what this machine can do, before anything is claimed about a server."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from brimline.analysis.observation import Observation, observe
from brimline.doctor import Check, Status, examine
from brimline.execution import RunContext, Silence, StopToken, execute
from brimline.plan import NullTarget, resolve
from brimline.spec import load_spec
from brimline.units import format_duration, format_rate

_CEILING_OPS_PER_S_MIN = 200_000
_LAG_RATE_OPS_PER_S = 20_000
_LAG_P99_NS_MAX = 100_000


def checkup(*, mongod: Path | None = None) -> Iterator[Check]:
    """Every check of this machine, one by one, the generator's own last."""
    return examine(mongod=mongod, extra=[("generator ceiling", _ceiling), ("generator lag", _lag)])


def _ceiling() -> Check:
    """Closed loop against the null target: what one engine thread can encode and record."""
    observation = _observe_null({"load": "closed"})
    rate = observation.throughput_ops_per_s
    enough = rate >= _CEILING_OPS_PER_S_MIN
    return Check(
        name="generator ceiling",
        status=Status.PASS if enough else Status.WARN,
        evidence=f"encode-and-record ceiling, without sockets: {format_rate(rate)} on one thread",
        hint=None if enough else "end other programs, or run brimline on another machine",
    )


def _lag() -> Check:
    """Open loop against the null target: how late operations are sent."""
    lag = _observe_null({"load": {"kind": "constant", "rate": f"{_LAG_RATE_OPS_PER_S}/s"}}).lag
    if lag is None:
        return Check(name="generator lag", status=Status.FAIL, evidence="no operation was sent")
    punctual = lag.p99_ns <= _LAG_P99_NS_MAX
    return Check(
        name="generator lag",
        status=Status.PASS if punctual else Status.WARN,
        evidence=f"send lag at {format_rate(_LAG_RATE_OPS_PER_S)}: p50 {format_duration(lag.p50_ns)}, "
        f"p99 {format_duration(lag.p99_ns)}",
        hint=None if punctual else "other programs use the processors: latencies below a millisecond will be off",
    )


def _observe_null(overrides: dict[str, object]) -> Observation:
    loaded = load_spec("ycsb-c", overrides={"warmup": "0.2s", "duration": "1s", "interval": "0.1s", **overrides})
    plan = resolve(loaded.spec, target=NullTarget())
    context = RunContext(deployment=None, spec_text=loaded.text, environment={}, progress=Silence(), stop=StopToken())
    with TemporaryDirectory(prefix="brimline-doctor-") as directory:
        return observe(execute(plan, directory=Path(directory) / "run", title="null", context=context))

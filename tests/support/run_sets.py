"""Owns simulated sets of runs: figures as runs on one machine have them, with a known difference between A and B.

Runs share a slow drift (AR(1), 1 % of standard deviation, half of it gone after three runs), have heavy-tailed noise
of their own (Student with 4 degrees of freedom, 1 %), latencies that follow throughput as in a closed loop, and tails
that vary four to eight times as much as the median. One run in twenty is disturbed and loses up to a tenth.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from brimline.analysis.compared_run import ComparedRun, LoadKind, metrics
from brimline.analysis.configured import run_settings
from brimline.plan import Plan, WireTarget, resolve
from brimline.spec import load_spec
from brimline.stats.quantile_interval import merge_buckets

MS = 1_000_000
DRIFT, DRIFT_MEMORY, NOISE = 0.01, 0.8, 0.01
DISTURBED_SHARE, DISTURBANCE = 0.05, 0.10
TAILS = {"p50": 0.01, "p95": 0.02, "p99": 0.04, "p99.9": 0.08}
SECOND_NS = 1_000_000_000


def abba(pairs: int) -> str:
    """The order of interleaved runs: ABBA ABBA …"""
    return "".join("AB" if index % 2 == 0 else "BA" for index in range(pairs))


def run_sets(
    rng: np.random.Generator, *, order: str, slower: float = 0.0
) -> tuple[list[ComparedRun], list[ComparedRun]]:
    """Runs in `order`; those of B have `slower` less throughput and as much more latency and server CPU."""
    sides: Mapping[str, list[ComparedRun]] = {"A": [], "B": []}
    for index, (side, speed) in enumerate(zip(order, _speeds(rng, len(order)), strict=True)):
        factor = speed * (1 - slower if side == "B" else 1.0)
        figures = {
            "throughput": 10_000 * factor,
            **{
                name: MS * (place + 1) / factor * float(np.exp(spread * rng.standard_t(4) / np.sqrt(2)))
                for place, (name, spread) in enumerate(TAILS.items())
            },
            "errors": 0.0,
            "client_cpu": 8_000 * float(np.exp(rng.normal(0, 0.008))),
            "server_cpu": 60_000 / factor * float(np.exp(rng.normal(0, 0.01))),
        }
        sides[side].append(simulated_run(f"{index:02}-{side}", figures=figures, started_ns=index * 10 * SECOND_NS))
    return sides["A"], sides["B"]


def series(rng: np.random.Generator, count: int, *, level: Sequence[float] = ()) -> list[float]:
    """Throughputs of runs one after another; `level` multiplies them, where given."""
    speeds = _speeds(rng, count)
    return [10_000 * speed * factor for speed, factor in zip(speeds, level or [1.0] * count, strict=True)]


def simulated_run(
    name: str,
    *,
    figures: Mapping[str, float] | None = None,
    kind: LoadKind = "closed loop",
    started_ns: int | None = None,
    problems: tuple[str, ...] = (),
    broken: bool = False,
    plan_of: Plan | None = None,
    environment: Mapping[str, object] | None = None,
    distribution: Sequence[tuple[int, int]] | None = None,
) -> ComparedRun:
    """A run with these figures. Its distribution has the percentiles among them, where all are given."""
    if distribution is None:
        distribution = _distribution(figures or {})
    of = plan_of or plan()
    return ComparedRun(
        name=name,
        directory=Path(name),
        title=of.name,
        plan_hash=of.hash8(),
        settings=run_settings(of, environment or {}),
        environment=environment or {},
        kind=kind,
        metrics=metrics(kind),
        started_ns=started_ns,
        figures=figures or {"throughput": 1000.0},
        distribution=distribution,
        problems=problems,
        broken=broken,
    )


def _distribution(figures: Mapping[str, float]) -> list[tuple[int, int]]:
    """10 000 operations, each as slow as the next percentile above it."""
    if not TAILS.keys() <= figures.keys():
        return [(MS, 9_900), (2 * MS, 100)]
    counts = {"p50": 5_000, "p95": 4_500, "p99": 400, "p99.9": 90}
    times = [round(figures[name]) for name in counts]
    return merge_buckets(
        [[(time, count)] for time, count in zip([*times, times[-1]], [*counts.values(), 10], strict=True)]
    )


@cache
def plan(connections: int = 8, seed: int = 1) -> Plan:
    """YCSB C in a closed loop."""
    spec = load_spec("ycsb-c", overrides={"connections": connections, "seed": seed}).spec
    return resolve(spec, target=WireTarget(address="h:1", write_concern=None))


def _speeds(rng: np.random.Generator, count: int) -> list[float]:
    drift = rng.normal(0, DRIFT)
    speeds = []
    for _ in range(count):
        own = NOISE * rng.standard_t(4) / np.sqrt(2)
        loss = rng.uniform(0, DISTURBANCE) if rng.random() < DISTURBED_SHARE else 0.0
        speeds.append(float(np.exp(drift + own) * (1 - loss)))
        drift = DRIFT_MEMORY * drift + rng.normal(0, DRIFT * np.sqrt(1 - DRIFT_MEMORY**2))
    return speeds

"""What a rate takes: nodes, bytes, connections, and the work of the coordinator; docs/concepts/scale.md is from it.

    make bench-scale        # measures what the coordinator does for one worker, and prints the table

CPU per operation is not measured here: it is that of BENCHMARKS.md (find by `_id`), from results.json, which
`make peers` writes. Bytes per operation and of an interval
are those of a run of `ycsb-b` that is made here. So is the time to add up its histograms, as often as 1 000 workers ask
for it in a second. What a call to a node takes is measured over a pipe, and by Ray where that is installed.
"""

import csv
import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import brimline
from brimline import _native
from brimline.execution.cluster import shared_run
from brimline.execution.cluster.link import Link
from brimline.execution.cluster.processes import ProcessLink
from brimline.execution.cluster.ray_nodes import RayLink, _Actor
from brimline.execution.cluster.shared_work import look_s
from brimline.execution.cluster.shares import share_orders
from brimline.plan import NullTarget, resolve
from brimline.spec import load_spec

RESULTS = Path(__file__).parent / "results.json"
RATES_OPS_PER_S = (100_000, 1_000_000, 10_000_000)
BUSY_SHARE = 0.5
"""Busy part of an engine thread, and of a server's CPU, that a plan counts on: waits begin long before one is full."""
THREADS_PER_NODE = 4
RESPONSE_S = 0.002
WORKERS = 1_000
BATCHES, CALLS, IDLE_S = 5, 50, 5.0
STARTS_WITHIN_S = 240.0
US_PER_S, BITS_PER_BYTE = 1e6, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Of one operation: CPU of client and server, bytes there and back. Of one worker's interval: its histograms.

    `call_us`: CPU of the coordinator for a call to a node by Ray.
    """

    client_us: float
    server_us: float
    bytes_out: float
    bytes_in: float
    histograms: float
    histogram_bytes: float
    merge_us: float
    call_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a rate takes. Bits per second of the busier direction; the coordinator's CPU and bytes a second."""

    rate_ops_per_s: float
    threads: int
    nodes: int
    bits_per_s: float
    node_bits_per_s: float
    in_flight: float
    server_cpus: float
    coordinator_bytes_per_s: float
    coordinator_share: float


def needs(rate_ops_per_s: float, measured: Measured) -> Needs:
    """By Little's law, and in proportion to what was measured of one. With an interval of a second."""
    threads = math.ceil(rate_ops_per_s * measured.client_us / US_PER_S / BUSY_SHARE)
    nodes = math.ceil(threads / THREADS_PER_NODE)
    bits_per_s = rate_ops_per_s * max(measured.bytes_out, measured.bytes_in) * BITS_PER_BYTE
    return Needs(
        rate_ops_per_s=rate_ops_per_s,
        threads=threads,
        nodes=nodes,
        bits_per_s=bits_per_s,
        node_bits_per_s=bits_per_s / nodes,
        in_flight=rate_ops_per_s * RESPONSE_S,
        server_cpus=rate_ops_per_s * measured.server_us / US_PER_S / BUSY_SHARE,
        coordinator_bytes_per_s=nodes * measured.histograms * measured.histogram_bytes,
        coordinator_share=nodes * coordinator_us(measured, nodes) / US_PER_S,
    )


def calls_per_s(nodes: int) -> float:
    """To each of `nodes`: looks at it, and readings of its clock."""
    return 1 / look_s(nodes) + shared_run._ROUND_TRIPS_UNDER_WAY / (shared_run._CLOCK_EVERY_NS / 1e9)


def coordinator_us(measured: Measured, nodes: int) -> float:
    """Its CPU for one of `nodes` in a second."""
    return measured.histograms * measured.merge_us + calls_per_s(nodes) * measured.call_us


def most_nodes(measured: Measured) -> int:
    """How many one coordinator leads while its CPU is half busy."""
    fits = (
        nodes for nodes in range(1, WORKERS + 1) if nodes * coordinator_us(measured, nodes) <= BUSY_SHARE * US_PER_S
    )
    return max(fits, default=0)


def cpu_of_a_find(results: Mapping[str, Any]) -> tuple[float, float]:
    """Medians over the rounds, in µs: of brimline, and of the server."""
    runs = [run for run in results["runs"] if (run["client"], run["cell"]) == ("brimline", "c")]
    client_us, server_us = (
        statistics.median(run[f"{side}_cpu_ns"] / run["operations"] / 1e3 for run in runs)
        for side in ("client", "server")
    )
    return client_us, server_us


def cpu_of_a_call(link: Link) -> float:
    """In µs, of this process: a look at a run that awaits its start, which a node answers at once.

    The least of some batches, because what else is at work on the machine only adds. Without what the process takes
    meanwhile of itself, as Ray does.
    """
    plan = resolve(load_spec("ycsb-c", overrides={"data.records": 1000}).spec, target=NullTarget())
    (order,) = share_orders(plan, 1, identity=None)
    link.call("hello", within_s=STARTS_WITHIN_S)
    if (unfit := link.call("start", order)) is not None:
        raise SystemExit(unfit)
    idle = _cost(lambda: time.sleep(IDLE_S))
    costs = [_cost(lambda: link.call("look", 0.0, 0), CALLS) for _ in range(BATCHES)]
    return min(each.cpu_s - each.wall_s * idle.cpu_s / idle.wall_s for each in costs) / CALLS * US_PER_S


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of something: CPU of this process, and how long it took."""

    cpu_s: float
    wall_s: float


def _cost(do: Callable[[], object], times: int = 1) -> _Cost:
    cpu_s, wall_s = time.process_time(), time.monotonic()
    for _ in range(times):
        do()
    return _Cost(time.process_time() - cpu_s, time.monotonic() - wall_s)


@contextmanager
def by_pipe() -> Iterator[Link]:
    """A node in a process of its own."""
    link = ProcessLink()
    try:
        yield link
    finally:
        link.close()


@contextmanager
def by_ray() -> Iterator[Link]:
    """A node as the one actor of a cluster on this machine."""
    import ray

    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        yield RayLink(ray, ray.remote(_Actor).remote())
    finally:
        ray.shutdown()


def measure() -> Measured:
    """A short run, its histograms added up, and calls to a node."""
    client_us, server_us = cpu_of_a_find(json.loads(RESULTS.read_text()))
    with tempfile.TemporaryDirectory() as directory:
        words = {"load": {"kind": "constant", "rate": 4000}, "data.records": 20_000, "duration": "10s", "warmup": "1s"}
        record = brimline.run("ycsb-b", overrides=words, options=brimline.Options(runs_dir=directory)).record
        rows = list(csv.DictReader((record.directory / "operations.csv").open()))
        texts = list(_histograms(record.directory / "latency.hlog"))
        intervals = len(record.intervals)
    sent = sum(int(row["sent"]) for row in rows)
    asked = int(WORKERS * len(texts) / intervals)
    began_s = time.process_time()
    _native.merge_histograms([texts[number % len(texts)] for number in range(asked)])
    took_s = time.process_time() - began_s
    with by_pipe() as link:
        call_us = cpu_of_a_call(link)
    print(f"CPU of a call over a pipe: {call_us:.3g} µs")
    if find_spec("ray") is None:
        print("Ray is not installed here (make cluster): the table counts calls over a pipe")
    else:
        with by_ray() as link:
            call_us = cpu_of_a_call(link)
    return Measured(
        client_us=client_us,
        server_us=server_us,
        bytes_out=sum(int(row["bytes_out"]) for row in rows) / sent,
        bytes_in=sum(int(row["bytes_in"]) for row in rows) / sent,
        histograms=len(texts) / intervals,
        histogram_bytes=statistics.mean(map(len, texts)),
        merge_us=took_s / asked * US_PER_S,
        call_us=call_us,
    )


def table(measured: Measured) -> Iterator[str]:
    """The table of the page."""
    heads = ("operations/s", "threads", "nodes", "back from the servers", "of it each node", "in flight", "server CPUs")
    yield f"| {' | '.join((*heads, 'coordinator'))} |"
    yield "| --: | --: | --: | --: | --: | --: | --: | --: |"
    for each in (needs(rate, measured) for rate in RATES_OPS_PER_S):
        yield (
            f"| {_spaced(each.rate_ops_per_s)} | {each.threads} | {each.nodes} | {each.bits_per_s / 1e9:.3g} Gbit/s "
            f"| {each.node_bits_per_s / 1e9:.3g} Gbit/s | {_spaced(each.in_flight)} | {each.server_cpus:.3g} "
            f"| {each.coordinator_bytes_per_s / 1e3:.3g} kB/s, {each.coordinator_share:.1%} of a CPU |"
        )


def main() -> None:
    """Prints what was measured, and the table."""
    measured = measure()
    print(measured)
    print("client_us and server_us are those of benchmarks/results.json (make peers); all else was measured now")
    print("\n".join(table(measured)))
    print(f"one coordinator, half busy, leads {most_nodes(measured)} nodes")


def _spaced(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def _histograms(log: Path) -> Iterator[str]:
    for line in log.read_text().splitlines():
        if line.startswith("Tag="):
            yield line.rpartition(",")[2]


if __name__ == "__main__":
    main()

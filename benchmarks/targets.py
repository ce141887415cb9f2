"""brimline's own client beside each official driver: one workload, what each costs, what the server counted.

    make runners && python -m benchmarks.targets [--rounds 3] [--duration 4] [--warmup 5] [--workload ycsb-a] [--plain]

All clients that are ready here take turns on one server, over plain connections and over TLS (not with `--plain`, nor
without the `openssl` command). Service time is the median of the operations', CPU that of the engine's threads and of
the driver's process per operation. Exit code 1 when the server counted other operations than were acknowledged, when
the operations differ, or when brimline's own client is slower or dearer than one of the drivers.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import brimline
from brimline.analysis.finding import Standing
from brimline.analysis.validity import opcounters
from brimline.runners.catalogue import CATALOGUE, clients_for
from brimline.servers import PasswordSource

WIRE = "wire"
CONNECTIONS = 16
OPERATIONS = 5_000
RECORDS = "20k"


@dataclass(frozen=True, slots=True)
class Cost:
    """One run: ops/s, and per operation the median service time and the CPU of client and server."""

    throughput_ops_per_s: float
    service_p50_us: float
    client_us: float
    counts: str


def main() -> int:
    """Prints both tables, plain and TLS."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--duration", type=float, default=4.0, help="seconds of each run")
    parser.add_argument("--warmup", type=float, default=5.0, help="seconds before: a JVM needs them")
    parser.add_argument("--workload", default="ycsb-a")
    parser.add_argument("--plain", action="store_true", help="without TLS")
    arguments = parser.parse_args()
    targets = _ready()
    over_tls = not arguments.plain and shutil.which("openssl") is not None
    held = [_compare(tls, targets, arguments) for tls in (False, True)[: 1 + over_tls]]
    return 0 if all(held) else 1


def _ready() -> list[str]:
    """Those that can be started here, brimline's own client first; of the catalogue, those that can't are named."""
    lacking = {client: CATALOGUE[client].missing() for client in clients_for("mongodb")}
    for client, reason in lacking.items():
        if reason is not None:
            print(f"left out: {client}, {reason}")
    return [WIRE, *(client for client, reason in lacking.items() if reason is None)]


def _compare(tls: bool, targets: Sequence[str], arguments: argparse.Namespace) -> bool:
    print(f"{arguments.workload}, {CONNECTIONS} connections, {'TLS' if tls else 'plain'}, median of {arguments.rounds}")
    print(f"{'client':14}{'ops/s':>10}{'service p50 µs':>16}{'client µs/op':>14}   the server counted")
    with _server(tls) as options, tempfile.TemporaryDirectory(prefix="brimline-targets-") as runs:
        options = {**options, "runs_dir": Path(runs), "data": "load", "drop": True}
        costs: dict[str, list[Cost]] = {target: [] for target in targets}
        for number in range(arguments.rounds):
            for target in targets if number % 2 == 0 else reversed(targets):
                length = {"duration": f"{arguments.duration}s", "warmup": f"{arguments.warmup}s"}
                costs[target].append(_run(arguments.workload, target, length, options))
        fixed = {"operation_count": OPERATIONS, "duration": None, "warmup": "0s"}
        hashes = {_hash(arguments.workload, target, fixed, options) for target in targets}
    for target in targets:
        print(_row(target, costs[target]))
    wire, *drivers = (_median(costs[target]) for target in targets)
    same = len(hashes) == 1
    print(f"{OPERATIONS} operations by each: {'the same ones' if same else 'different ones'}\n")
    counted = all(each.counts == "pass" for runs in costs.values() for each in runs)
    ahead = all(wire.service_p50_us <= each.service_p50_us and wire.client_us <= each.client_us for each in drivers)
    return same and counted and ahead


def _run(workload: str, target: str, length: Mapping[str, object], options: Mapping[str, object]) -> Cost:
    result = _result(workload, target, length, options)
    observation = result.observation
    verdict = opcounters(result.record).verdict
    service = observation.service
    return Cost(
        observation.throughput_ops_per_s,
        (service.p50_ns if service else 0) / 1e3,
        (observation.client_cpu_ns_per_op or 0) / 1e3,
        "pass" if verdict is Standing.PASS else str(verdict),
    )


def _hash(workload: str, target: str, length: Mapping[str, object], options: Mapping[str, object]) -> str:
    """What was asked of the server, in whatever order: equal for equal operations."""
    summary = _result(workload, target, length, options).record.summary
    return "" if summary is None else f"{summary['operations_hash']} {summary['commands']}"


def _result(
    workload: str, target: str, length: Mapping[str, object], options: Mapping[str, object]
) -> brimline.RunResult:
    overrides = {"target.client": target, "connections": CONNECTIONS, "data.records": RECORDS, **length}
    return brimline.run(workload, overrides=overrides, options=brimline.Options(**options))  # type: ignore[arg-type]


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(each.throughput_ops_per_s for each in costs),
        statistics.median(each.service_p50_us for each in costs),
        statistics.median(each.client_us for each in costs),
        ", ".join(sorted({each.counts for each in costs})),
    )


def _row(target: str, costs: list[Cost]) -> str:
    cost = _median(costs)
    counted = "the same" if cost.counts == "pass" else cost.counts
    return (
        f"{target:14}{cost.throughput_ops_per_s:>10,.0f}{cost.service_p50_us:>16.1f}{cost.client_us:>14.2f}   {counted}"
    )


@contextmanager
def _server(tls: bool) -> Iterator[dict[str, object]]:
    """A server of one member, for all clients alike."""
    with brimline.lab(auth=tls, tls=tls, cache_gb=1.0) as lab:
        password = {} if lab.password_file is None else {"password": PasswordSource(file=lab.password_file)}
        yield {"uri": lab.uris[0], **password}


if __name__ == "__main__":
    sys.exit(main())

"""What one operation costs the generator: CPU time against a real mongod, and instructions, which don't drift.

    make bench

CPU time is user + system of the engine's threads over the measured window of a closed loop with 32 connections; the
server's CPU time over the same window stands beside it, because the quotient of the two drifts less with the machine
than either does. What instructions are is in `instructions.py`.
"""

import shutil
import statistics
import tempfile
from pathlib import Path

import brimline
from benchmarks.instructions import CONNECTIONS, KINDS, instructions
from benchmarks.scripted import build

REPEATS = 3


def main() -> None:
    """Prints both tables."""
    print(f"client CPU per operation, {CONNECTIONS} connections, bundled mongod, median of {REPEATS} runs")
    print(f"{'workload':10}{'ops/s':>10}{'client µs':>12}{'server µs':>12}{'quotient':>10}")
    for workload in ("ycsb-c", "ycsb-a"):
        print(cpu_row(workload))
    print()
    if shutil.which("valgrind") is None:
        print("instructions per operation: needs valgrind (make valgrind)")
        return
    print("user instructions per operation, engine without Python, callgrind")
    build()
    for label, operation in KINDS.items():
        print(f"{label:10}{instructions(operation):>10,.0f}")


def cpu_row(workload: str) -> str:
    """One workload, several runs."""
    runs = [cpu_run(workload) for _ in range(REPEATS)]
    rate, client_us, server_us = (statistics.median(column) for column in zip(*runs, strict=True))
    return f"{workload:10}{rate:>10,.0f}{client_us:>12.2f}{server_us:>12.2f}{client_us / server_us:>10.2f}"


def cpu_run(workload: str) -> tuple[float, float, float]:
    """Throughput in ops/s, and CPU per operation of client and server in µs, of one run."""
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        result = brimline.run(
            workload,
            overrides={"connections": CONNECTIONS, "duration": "8s", "warmup": "2s"},
            options=brimline.Options(runs_dir=Path(runs)),
        )
        observation = result.observation
        window = [row for row in result.record.server if row.get("server_cpu_ns") is not None]
        inside = [row for row in window if 2e9 <= int(row["at_ns"] or 0) <= 10e9]
        server_ns = int(inside[-1]["server_cpu_ns"] or 0) - int(inside[0]["server_cpu_ns"] or 0)
        seconds = (int(inside[-1]["at_ns"] or 0) - int(inside[0]["at_ns"] or 0)) / 1e9
        server_us = server_ns / 1e3 / (observation.throughput_ops_per_s * seconds)
        return observation.throughput_ops_per_s, (observation.client_cpu_ns_per_op or 0) / 1e3, server_us


if __name__ == "__main__":
    main()

"""What one operation costs the generator: CPU time against a real mongod, and instructions, which don't drift.

    make bench

CPU time is user + system of the engine's threads over the measured window of a closed loop with 32 connections; the
server's CPU time over the same window stands beside it, because the quotient of the two drifts less with the machine
than either does. What instructions are is in `instructions.py`.

A find of one's own by a field, in order, of at most 20 documents stands beside a read by key of one document that is as
large as these together. It may cost the client 1.3 times as much.
"""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import brimline
from benchmarks.instructions import CONNECTIONS, KINDS, instructions
from benchmarks.scripted import build

REPEATS = 3
OWN_QUOTIENT_MAX = 1.3
OWN_WORKLOAD = """
name: own-find
database: own_find
collections:
  orders:
    records: 20k
    fields:
      customer: {kind: int, max: 999}
      created: {kind: clock, start: "2024-01-01", every: 1s}
      note: {kind: string, length: 20}
    indexes: [{customer: 1, created: -1}]
values: {customer: {kind: int, max: 999}}
operations:
  latest: {share: 1, find: {collection: orders, filter: {customer: $customer}, sort: {created: -1}, limit: 20}}
"""
AS_LARGE = {"data.fields": 10, "data.field_length": 200, "data.records": 20_000}
"""YCSB's documents of 2.1 kB: twenty of those above, each of 107 bytes."""


def main() -> None:
    """Prints both tables."""
    print(f"client CPU per operation, {CONNECTIONS} connections, bundled mongod, median of {REPEATS} runs")
    print(f"{'workload':10}{'ops/s':>10}{'client µs':>12}{'server µs':>12}{'quotient':>10}")
    for workload in ("ycsb-c", "ycsb-a"):
        print(cpu_row(workload))
    print()
    quotient = own_quotient()
    print()
    if shutil.which("valgrind") is None:
        print("instructions per operation: needs valgrind (make valgrind)")
    else:
        instruction_table()
    if quotient > OWN_QUOTIENT_MAX:
        sys.exit(f"error: an own find costs {quotient:.2f} times a read by key of as many bytes")


def instruction_table() -> None:
    """Prints what operations by key take in instructions."""
    print("user instructions per operation, engine without Python, callgrind")
    build()
    for label, operation in KINDS.items():
        print(f"{label:10}{instructions(operation):>10,.0f}")


def own_quotient() -> float:
    """Prints what an own find and a read by key of as many bytes cost the client; the median of their quotients."""
    print(f"{'round':8}{'own find of 20, µs':>20}{'read by key, µs':>18}{'quotient':>10}")
    quotients = []
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as scratch:
        own = Path(scratch, "own-find.yaml")
        own.write_text(OWN_WORKLOAD, encoding="utf-8")
        for number in range(1, REPEATS + 1):
            _, found_us, _ = cpu_run(str(own))
            _, read_us, _ = cpu_run("ycsb-c", AS_LARGE)
            quotients.append(found_us / read_us)
            print(f"{number:<8}{found_us:>20.2f}{read_us:>18.2f}{quotients[-1]:>10.2f}", flush=True)
    print(f"own find / read by key: {statistics.median(quotients):.2f}, wanted at most {OWN_QUOTIENT_MAX}")
    return statistics.median(quotients)


def cpu_row(workload: str) -> str:
    """One workload, several runs."""
    runs = [cpu_run(workload) for _ in range(REPEATS)]
    rate, client_us, server_us = (statistics.median(column) for column in zip(*runs, strict=True))
    return f"{workload:10}{rate:>10,.0f}{client_us:>12.2f}{server_us:>12.2f}{client_us / server_us:>10.2f}"


def cpu_run(workload: str, changes: Mapping[str, object] | None = None) -> tuple[float, float, float]:
    """Throughput in ops/s, and CPU per operation of client and server in µs, of one run."""
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        result = brimline.run(
            workload,
            overrides={"connections": CONNECTIONS, "duration": "8s", "warmup": "2s", **(changes or {})},
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

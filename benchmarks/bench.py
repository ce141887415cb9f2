"""What one operation costs the generator: CPU time against a real mongod, and instructions, which don't drift.

    make bench

CPU time is user + system of the engine's threads over the measured window of a closed loop with 32 connections; the
server's CPU time over the same window stands beside it, because the quotient of the two drifts less with the machine
than either does. Instructions are user-space ones of the engine without Python, counted by valgrind's callgrind against
the scripted server: the difference between a long and a short run, divided by the difference in operations.
"""

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import brimline
from brimline.plan import WireTarget, load_plan, resolve
from brimline.spec import load_spec

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 3
CONNECTIONS = 32
OPERATION_COUNTS = (2_000, 12_000)
KINDS = {"find": "read", "update": "update", "insert": "insert"}


def main() -> None:
    """Prints both tables."""
    print(f"client CPU per operation, {CONNECTIONS} connections, bundled mongod, median of {REPEATS} runs")
    print(f"{'workload':10}{'ops/s':>10}{'client µs':>12}{'server µs':>12}{'quotient':>10}")
    for workload in ("ycsb-c", "ycsb-a"):
        print(cpu_row(workload))
    print()
    if shutil.which("valgrind") is None:
        print("instructions per operation: needs valgrind (Debian, Ubuntu: apt-get install valgrind)")
        return
    print("user instructions per operation, engine without Python, callgrind")
    build_engine()
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
            options=brimline.Options(runs_directory=Path(runs)),
        )
        observation = result.observation
        window = [row for row in result.record.server if row.get("server_cpu_ns") is not None]
        inside = [row for row in window if 2e9 <= int(row["at_ns"] or 0) <= 10e9]
        server_ns = int(inside[-1]["server_cpu_ns"] or 0) - int(inside[0]["server_cpu_ns"] or 0)
        seconds = (int(inside[-1]["at_ns"] or 0) - int(inside[0]["at_ns"] or 0)) / 1e9
        server_us = server_ns / 1e3 / (observation.throughput_ops_per_s * seconds)
        return observation.throughput_ops_per_s, (observation.client_cpu_ns_per_op or 0) / 1e3, server_us


def build_engine() -> None:
    """The engine as a program of its own."""
    command = [
        "cargo",
        "build",
        "--quiet",
        "--release",
        "--locked",
        "-p",
        "brimline-engine",
        "--example",
        "execute_plan",
    ]
    subprocess.run(command, cwd=ROOT, check=True)


def instructions(operation: str) -> float:
    """User instructions of one operation of this kind."""
    shorter, longer = (counted(operation, count) for count in OPERATION_COUNTS)
    return (longer - shorter) / (OPERATION_COUNTS[1] - OPERATION_COUNTS[0])


def counted(operation: str, count: int) -> int:
    """User instructions of a whole run of `count` operations."""
    spec = load_spec(
        "ycsb-c",
        overrides={
            "operations": {operation: 1},
            "operation_count": count,
            "warmup": "0s",
            "data.records": 10_000,
            "connections": CONNECTIONS,
        },
    ).spec
    with scripted_server() as address, tempfile.TemporaryDirectory(prefix="brimline-bench-") as scratch:
        target = WireTarget(address=address, write_concern=None)
        engine([], load_plan(spec, target=target).canonical_json())
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out"]
        talk = engine(valgrind, resolve(spec, target=target).canonical_json())
    collected = re.search(r"Collected : (\d+)", talk)
    if collected is None:
        sys.exit(f"error: callgrind counted nothing\n{talk}")
    return int(collected[1])


def engine(wrapper: list[str], plan_json: str) -> str:
    """Executes a plan; returns what was said on stderr."""
    program = str(ROOT / "target/release/examples/execute_plan")
    done = subprocess.run([*wrapper, program], input=plan_json, capture_output=True, text=True, check=False)
    if done.returncode != 0 or json.loads(done.stdout)["failed"]:
        sys.exit(f"error: the engine failed\n{done.stdout}{done.stderr}")
    return done.stderr


@contextmanager
def scripted_server() -> Iterator[str]:
    """The scripted server, which answers at once; its address."""
    with subprocess.Popen(
        [ROOT / "target/release/brimline-testserver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            yield json.loads(server.stdout.readline())["address"]
        finally:
            server.stdin.close()


if __name__ == "__main__":
    main()

"""How late operations go out: send lag of one engine thread at 20 000 operations per second on the null target.

    make bench-lag

The engine has a core to itself, and waits as with a server on another host; beside one, on fewer than four processors,
its waits end by a timer, which `brimline doctor` measures. Lag is the time from the instant an operation was due to the
instant it was sent. What is gated is the median of the runs' p99: a virtual machine that is paused makes any clock
late, now and then.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

import brimline
from benchmarks.scripted import cores
from brimline.execution import Silence

RUNS = 7
SECONDS = 5
RATE_OPS_PER_S = 20_000
P99_US_MAX = 50.0


def main() -> None:
    """Prints a line per run and the medians; exit code 3 when the p99 is above what is asked for."""
    os.sched_setaffinity(0, cores()[-1:])
    print(f"send lag at {RATE_OPS_PER_S:,} operations/s on the null target, one engine thread, server elsewhere, µs")
    print(f"{'run':8}{'p50':>10}{'p95':>10}{'p99':>10}")
    runs = []
    for number in range(1, RUNS + 1):
        runs.append(lag_us())
        print(row(str(number), *runs[-1]), flush=True)
    p50_us, p95_us, p99_us = (statistics.median(column) for column in zip(*runs, strict=True))
    print(row("median", p50_us, p95_us, p99_us))
    if p99_us > P99_US_MAX:
        print(f"error: the median p99 is above {P99_US_MAX:g} µs", file=sys.stderr)
        sys.exit(3)


def row(label: str, *values_us: float) -> str:
    """One line of the table."""
    return f"{label:8}" + "".join(f"{value:>10.2f}" for value in values_us)


def lag_us() -> tuple[float, float, float]:
    """Lag of one run: p50, p95 and p99, in µs."""
    load = {"kind": "constant", "rate": RATE_OPS_PER_S}
    overrides = {"load": load, "duration": f"{SECONDS}s", "warmup": "1s", "threads": 1}
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        options = brimline.Options(runs_dir=Path(runs), progress=Silence(), null=True)
        lag = brimline.run("ycsb-c", overrides=overrides, options=options).observation.lag
    assert lag is not None  # operations at a rate have one
    return lag.p50_ns / 1e3, lag.p95_ns / 1e3, lag.p99_ns / 1e3


if __name__ == "__main__":
    main()

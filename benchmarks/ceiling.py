"""How many operations one engine thread drives, beside a client that only sends and receives.

    make bench-ceiling

The engine reads by key in a closed loop with 32 connections, on one core; the scripted server answers at once, on
another. The bare client (`crates/engine/examples/ping_pong.rs`) sends one ready-made find again and again to the same
server and does nothing else. Both take turns, A B A B, because the machine's speed drifts; the ratio is the median of
the ratios of neighbours.
"""

import statistics
import subprocess
import sys

from benchmarks.scripted import PING_PONG, SYNTHETIC, build, cores, execute, pinned, scripted_server
from brimline.plan import WireTarget, resolve
from brimline.spec import load_spec

ROUNDS = 5
SECONDS = 3
CONNECTIONS = 32
# What is wanted: this rate, or this share of the bare client's, whichever is lower.
RATE_WANTED = 180_000
RATIO_WANTED = 0.85


def main() -> None:
    """Prints the rate of each round, the medians and the ratio; exit code 3 when the ratio and the rate are missed."""
    if len(cores()) < 2:
        sys.exit("error: client and server need a core each, and this process may use only one")
    server_core, client_core = cores()[:2]
    build()
    with scripted_server(script=SYNTHETIC, core=server_core) as address:
        target = WireTarget(address=address, write_concern=None, sessions=True)
        spec = load_spec(
            "ycsb-c",
            overrides={
                "duration": f"{SECONDS}s",
                "warmup": "0s",
                "connections": CONNECTIONS,
                "threads": 1,
            },
        ).spec
        plan_json = resolve(spec, target=target).canonical_json()
        print(f"one engine thread and a bare client, {CONNECTIONS} connections, scripted server on another core, ops/s")
        print(f"{'round':8}{'brimline':>12}{'bare':>12}{'ratio':>8}")
        rounds = []
        for number in range(1, ROUNDS + 1):
            engine_rate, bare_rate = engine_ops_per_s(plan_json, client_core), bare_ops_per_s(address, client_core)
            rounds.append((engine_rate, bare_rate, engine_rate / bare_rate))
            print(row(str(number), *rounds[-1]), flush=True)
    engine_rate, bare_rate, ratio = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(row("median", engine_rate, bare_rate, ratio))
    if engine_rate < RATE_WANTED and ratio < RATIO_WANTED:
        print(f"error: below {RATE_WANTED:,} ops/s and below {RATIO_WANTED:.0%} of the bare client", file=sys.stderr)
        sys.exit(3)


def row(label: str, engine_rate: float, bare_rate: float, ratio: float) -> str:
    """One line of the table."""
    return f"{label:8}{engine_rate:>12,.0f}{bare_rate:>12,.0f}{ratio:>8.2f}"


def engine_ops_per_s(plan_json: str, core: int) -> float:
    """Rate of the engine."""
    totals, _ = execute(plan_json, wrapper=pinned(core))
    return float(totals["ok"]) / SECONDS


def bare_ops_per_s(address: str, core: int) -> float:
    """Rate of the bare client."""
    command = [*pinned(core), str(PING_PONG), address, str(CONNECTIONS), str(SECONDS)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()

"""Peak memory of runs with 1 000 connections: the whole process, Python and engine, as the kernel saw it (VmHWM).

    make bench-memory
    make bench-soak       # whether memory stays level through 30 minutes: soak.py

One run is against the scripted server, whose every key exists. One is 10^8 operations on the null target, each of them
drawn, rendered, timed and recorded. Each run is a process of its own, which says its peak when the load is over, and
once more at its end, when the record has been analysed and the report written. What is gated is the load, which has to
stay below 80 MB (10^6 bytes); the peak of the whole command stands beside it.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import brimline
from benchmarks import soak
from benchmarks.scripted import ROOT, SYNTHETIC, build, scripted_server
from brimline.execution import Silence

CONNECTIONS = 1_000
OPERATIONS = 100_000_000
SERVER_SECONDS = 10
LOAD_MB_MAX = 80
KIB_IN_MB = 1024 / 1e6


class PeakAtEnd(Silence):
    """Notes the peak of this process when the load is over."""

    peak_mb = 0.0

    def end(self) -> None:
        """The load is over: nothing is sent any more."""
        self.peak_mb = process_peak_mb()


def main() -> None:
    """Prints a line per run; exit code 3 when a load took too much."""
    build()
    print(f"{'peak memory, MB (10^6 bytes)':32}{'operations':>13}{'load':>8}{'whole command':>16}")
    with scripted_server(script=SYNTHETIC) as address:
        server = measured("scripted server", address)
    null = measured("null target", "null")
    if max(server, null) >= LOAD_MB_MAX:
        print(f"error: a load took {LOAD_MB_MAX} MB or more", file=sys.stderr)
        sys.exit(3)
    print(f"both loads took less than {LOAD_MB_MAX} MB; analysis and report, in the whole command, are not limited")


def measured(title: str, target: str) -> float:
    """Runs in a process of its own and prints its line; the peak of the load in MB."""
    command = [sys.executable, "-m", "benchmarks.memory", "--once", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: the run failed\n{done.stderr}")
    operations, load_mb, whole_mb = done.stdout.split()
    print(f"{title:32}{int(operations):>13,}{float(load_mb):>8.1f}{float(whole_mb):>16.1f}", flush=True)
    return float(load_mb)


def run_once(target: str) -> None:
    """One run in this process; prints operations and both peaks."""
    overrides: dict[str, object] = {"connections": CONNECTIONS, "threads": 1, "warmup": "0s"}
    overrides |= {"operation_count": OPERATIONS} if target == "null" else {"duration": f"{SERVER_SECONDS}s"}
    progress = PeakAtEnd()
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        where = {"null": True} if target == "null" else {"uri": f"mongodb://{target}", "data": "as-is"}
        options = brimline.Options(runs_dir=Path(runs), progress=progress, **where)
        result = brimline.run("ycsb-c", overrides=overrides, options=options)
    print(sum(int(row["ok"] or 0) for row in result.record.operations), progress.peak_mb, process_peak_mb())


def process_peak_mb() -> float:
    """Highest resident memory of this process so far, in MB of 10^6 bytes."""
    values = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(values["VmHWM"].split()[0]) * KIB_IN_MB


def arguments() -> argparse.Namespace:
    """What was asked for. Ends with exit code 2 where it makes no sense."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", allow_abbrev=False)
    parser.add_argument("--soak", action="store_true", help="one long run, and whether memory stays level")
    parser.add_argument("--minutes", type=within(float, soak.MINUTES_MIN), default=30.0, help="its length")
    parser.add_argument("--rate", type=within(int, 1), default=5_000, help="its operations per second")
    parser.add_argument("--once", metavar="TARGET", help=argparse.SUPPRESS)
    return parser.parse_args()


def within(kind: type[int] | type[float], lowest: float) -> Callable[[str], float]:
    """Reads a number that is at least `lowest`."""

    def read(text: str) -> float:
        value = kind(text)
        if not lowest <= value < 1e9:
            raise argparse.ArgumentTypeError(f"{text} is not between {lowest:g} and 10^9")
        return value

    read.__name__ = kind.__name__
    return read


if __name__ == "__main__":
    given = arguments()
    try:
        if given.once:
            run_once(given.once)
        elif given.soak:
            soak.main(minutes=given.minutes, rate=given.rate)
        else:
            main()
    except KeyboardInterrupt:
        sys.exit(130)

"""Peak memory of runs with 1 000 connections: the whole process, Python and engine, as the kernel saw it (VmHWM).

    make bench-memory

One run is against the scripted server, whose every key exists. One is 10^8 operations on the null target, each of them
drawn, rendered, timed and recorded. Each run is a process of its own, which says its peak when the load is over, and
once more at its end, when the record has been analysed and the report written.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import brimline
from benchmarks.scripted import ROOT, SYNTHETIC, build, scripted_server
from brimline.execution import Silence

CONNECTIONS = 1_000
OPERATIONS = 100_000_000
SERVER_SECONDS = 10
LOAD_MB_MAX = 80


class PeakAtEnd(Silence):
    """Notes the peak of this process when the load is over."""

    peak_mb = 0.0

    def end(self) -> None:
        """The load is over: nothing is sent any more."""
        self.peak_mb = process_peak_mb()


def main() -> None:
    """Prints a line per run; exit code 3 when a load took too much."""
    build()
    print(f"{'peak memory, MB':32}{'operations':>13}{'load':>8}{'whole':>8}")
    with scripted_server(script=SYNTHETIC) as address:
        server = measured("scripted server", address)
    null = measured("null target", "null")
    if max(server, null) >= LOAD_MB_MAX:
        print(f"error: a load took {LOAD_MB_MAX} MB or more", file=sys.stderr)
        sys.exit(3)


def measured(title: str, target: str) -> float:
    """Runs in a process of its own and prints its line; the peak of the load in MB."""
    command = [sys.executable, "-m", "benchmarks.memory", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: the run failed\n{done.stderr}")
    operations, load_mb, whole_mb = done.stdout.split()
    print(f"{title:32}{int(operations):>13,}{float(load_mb):>8.1f}{float(whole_mb):>8.1f}", flush=True)
    return float(load_mb)


def run_once(target: str) -> None:
    """One run in this process; prints operations and both peaks."""
    overrides: dict[str, object] = {"connections": CONNECTIONS, "threads": 1, "warmup": "0s"}
    overrides |= {"operation_count": OPERATIONS} if target == "null" else {"duration": f"{SERVER_SECONDS}s"}
    progress = PeakAtEnd()
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        where = {"null": True} if target == "null" else {"uri": f"mongodb://{target}", "data": "as-is"}
        options = brimline.Options(runs_directory=Path(runs), progress=progress, **where)
        result = brimline.run("ycsb-c", overrides=overrides, options=options)
    print(sum(int(row["ok"] or 0) for row in result.record.operations), progress.peak_mb, process_peak_mb())


def process_peak_mb() -> float:
    """Highest resident memory of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_once(sys.argv[1])
    else:
        main()

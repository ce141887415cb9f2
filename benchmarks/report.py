"""CPU time of `brimline report` on the record of one hour, and the size of what it writes.

    make bench-report
    make bench-report ARGUMENTS='--record runs/<a record>'     # a record of your own

The record is an hour at 2 000 ops/s with a sample each second, made on a virtual clock in a few seconds. Each report is
a process of its own, from the interpreter's start to its end; CPU time and not wall time, because others may use this
machine as well. The first one, which finds the disk's cache cold, doesn't count.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.unit.report.report_samples import SECOND_NS, simulated_plan, write_run

ROOT = Path(__file__).parent.parent
HOUR_S = 3_600
RATE_OPS_PER_S = 2_000.0
REPEATS = 7
CPU_S_MAX = 3.0
SIZE_BYTES_MAX = 1_500_000


def main() -> None:
    """Prints every run and their median; exit code 3 when the report is too slow or too large."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="a record to take instead")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        record = arguments.record or an_hour(Path(directory) / "hour")
        written = Path(directory) / "report.html"
        used_s = [cpu_s(record, written) for _ in range(arguments.repeats + 1)][1:]
        size_bytes = written.stat().st_size
    median_s = statistics.median(used_s)
    print(f"CPU time, s: median {median_s:.2f} of {', '.join(f'{each:.2f}' for each in used_s)}")
    print(f"HTML: {size_bytes / 1e6:.2f} MB")
    if median_s > CPU_S_MAX or size_bytes > SIZE_BYTES_MAX:
        print(f"error: more than {CPU_S_MAX:g} s or {SIZE_BYTES_MAX / 1e6:g} MB", file=sys.stderr)
        sys.exit(3)


def an_hour(directory: Path) -> Path:
    """The record of a run of an hour."""
    plan = simulated_plan(rate_ops_per_s=RATE_OPS_PER_S, warmup_s=0.0, duration_s=HOUR_S, interval_ns=SECOND_NS)
    return write_run(directory, plan).directory


def cpu_s(record: Path, written: Path) -> float:
    """User and system time of one `brimline report`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "brimline", "report", str(record), "--output", str(written)]
    # With bytecode, as an installed program has it: the first report, which doesn't count, writes what is missing.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: the report failed\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

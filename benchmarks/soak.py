"""Owns the check that brimline's own memory stays level through a long run, and that its record stays small.

    make bench-soak                                            30 minutes at 5 000 operations per second
    .venv/bin/python -m benchmarks.memory --soak --minutes 3   a look

The run is `brimline soak ycsb-b` in a process of its own, on its own bundled mongod; what its memory does is the drift
of the generator's memory in the soak's own report. Two minutes of warm-up come before: memory is taken then that stays.

Sizes in MB are 10^6 bytes. Exit codes: 0 level and small, 1 the soak failed, 3 memory rises or the record is too large.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.scripted import ROOT
from brimline.record.layout import REPORT_FILE

RECORDS = 100_000
WARMUP_S = 120
MINUTES_MIN = 3.0
RISE_MB_PER_HOUR_FREE = 1.0
RECORD_MB_MAX = 20.0
# A run that is slow or not valid, on a machine that was not quiet, has held its memory as well.
EXIT_CODES = {0: "valid", 3: "valid but missed the workload's objective", 4: "not valid"}


def faults(memory: Mapping[str, Any], record_mb: float) -> list[str]:
    """What is not as it has to be; `memory` is the drift of the generator's memory, as a soak's JSON has it."""
    found = []
    per_hour_mb = memory["per_hour"] / 1e6
    if memory["drifts"] and per_hour_mb >= RISE_MB_PER_HOUR_FREE:
        found.append(f"memory rises by {per_hour_mb:.1f} MB per hour")
    if record_mb >= RECORD_MB_MAX:
        found.append(f"the record takes {record_mb:.1f} MB, {RECORD_MB_MAX:g} or more")
    return found


def main(*, minutes: float, rate: int) -> None:
    """Soaks and prints what came out; exit code 3 when memory rises or the record is too large."""
    print(f"brimline soak ycsb-b at {rate:,}/s for {minutes:g} min, {RECORDS:,} records", flush=True)
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        document, exit_code = soaked(Path(runs), minutes=minutes, rate=rate)
        record_mb, with_report_mb = sizes_mb(Path(runs))
    memory = next(each for each in document["drifts"] if each["figure"] == "generator_memory")
    low, high = (end / 1e6 for end in memory["per_hour_interval"])
    print(f"generator's memory  {memory['first'] / 1e6:.1f} MB at first, {memory['last'] / 1e6:.1f} MB at last")
    print(f"drift               {memory['per_hour'] / 1e6:+.2f} MB per hour (95 % interval {low:+.2f} to {high:+.2f})")
    print(f"run directory       {record_mb:.2f} MB without {REPORT_FILE}, {with_report_mb:.2f} MB with it")
    print(f"the soak was {EXIT_CODES[exit_code]}")
    if failed := faults(memory, record_mb):
        print(f"error: {'; '.join(failed)}", file=sys.stderr)
        sys.exit(3)


def soaked(runs: Path, *, minutes: float, rate: int) -> tuple[Mapping[str, Any], int]:
    """What one soak says of itself, its record in `runs`, and its exit code. Ends this program when it fails."""
    words = ["soak", "ycsb-b", "--rate", f"{rate}/s", "--duration", f"{minutes * 60:g}s", "--warmup", f"{WARMUP_S}s"]
    command = [sys.executable, "-m", "brimline", *words, "--records", str(RECORDS), "--runs-dir", str(runs), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in EXIT_CODES:
        sys.exit(f"error: the soak ended with {done.returncode}\n{done.stderr}")
    document: Mapping[str, Any] = json.loads(done.stdout)
    return document, done.returncode


def sizes_mb(runs: Path) -> tuple[float, float]:
    """Size of all records, without the report and with it."""
    files = [file for file in runs.rglob("*") if file.is_file()]
    whole = sum(file.stat().st_size for file in files)
    report = sum(file.stat().st_size for file in files if file.name == REPORT_FILE)
    return (whole - report) / 1e6, whole / 1e6

"""Owns the soak: whether memory stays level through a long run, and how large its record becomes.

    make bench-soak                                            30 minutes at 5 000 operations per second
    .venv/bin/python -m benchmarks.memory --soak --minutes 3   a look

The run is `brimline run ycsb-b` in a process of its own, on its own bundled mongod. Sampled is the resident memory
(VmRSS) of brimline alone, every 10 s. A line is fitted to the samples of the load, whose first two minutes are left
out: memory is taken then that is kept. What analysis and report take after it is in the peak of the whole command.

Sizes in MB are 10^6 bytes. Exit codes: 0 level and small, 1 the run failed, 3 memory rose or the record is too large.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.scripted import ROOT
from brimline.record.layout import REPORT_FILE

RECORDS = 100_000
SAMPLE_EVERY_S = 10.0
# After the load the process ends within seconds, and its last peak is wanted.
SAMPLE_EVERY_AT_END_S = 0.1
LEFT_OUT_S = 120.0
END_DEADLINE_S = 300.0
MINUTES_MIN = 3.0
KIB_IN_MB = 1024 / 1e6
SLOPE_MB_PER_HOUR_FREE = 1.0
STANDARD_ERRORS = 3.0
RECORD_MB_MAX = 20.0
# A run that is slow or not valid, on a machine that was not quiet, has held its memory as well.
EXIT_CODES = {0: "valid", 3: "valid but missed the workload's objective", 4: "not valid"}


class Sample(NamedTuple):
    """Resident memory at one instant, counted from the start of the process."""

    at_s: float
    resident_mb: float


@dataclass(frozen=True, slots=True)
class Trend:
    """The slope of a line through samples, in MB per hour, with its standard error."""

    slope: float
    standard_error: float

    @property
    def within_noise(self) -> bool:
        """Whether memory can't be said to rise: three standard errors or less from level, or below 1 MB per hour."""
        return abs(self.slope) <= STANDARD_ERRORS * self.standard_error or self.slope < SLOPE_MB_PER_HOUR_FREE


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """What a run has shown: `samples` of its load, peaks of load and whole command, the record without its report."""

    samples: Sequence[Sample]
    load_peak_mb: float
    whole_peak_mb: float
    record_mb: float
    with_report_mb: float
    exit_code: int

    @property
    def trend(self) -> Trend:
        """Of the samples after the first two minutes."""
        return trend([sample for sample in self.samples if sample.at_s >= LEFT_OUT_S])


def trend(samples: Sequence[Sample]) -> Trend:
    """The line by least squares. Needs three samples at different instants.

    The standard error is the usual one of a slope, with n - 2 degrees of freedom: deviations count as independent.
    """
    count = len(samples)
    hours = [sample.at_s / 3600 for sample in samples]
    mean_hours = math.fsum(hours) / count
    mean_mb = math.fsum(sample.resident_mb for sample in samples) / count
    squares = math.fsum((hour - mean_hours) ** 2 for hour in hours)
    products = zip(hours, samples, strict=True)
    slope = math.fsum((hour - mean_hours) * (sample.resident_mb - mean_mb) for hour, sample in products) / squares
    deviations = zip(hours, samples, strict=True)
    rest = math.fsum((sample.resident_mb - mean_mb - slope * (hour - mean_hours)) ** 2 for hour, sample in deviations)
    return Trend(slope, math.sqrt(rest / (count - 2) / squares))


def faults(soak: Soak) -> list[str]:
    """What is not as it has to be."""
    found = []
    if not soak.trend.within_noise:
        found.append(f"memory rises by {soak.trend.slope:.1f} MB per hour")
    if soak.record_mb >= RECORD_MB_MAX:
        found.append(f"the record takes {soak.record_mb:.1f} MB, {RECORD_MB_MAX:g} or more")
    return found


def main(*, minutes: float, rate: int) -> None:
    """Soaks and prints what came out; exit code 3 when memory rose or the record is too large."""
    print(f"brimline run ycsb-b at {rate:,}/s for {minutes:g} min, {RECORDS:,} records", flush=True)
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as runs:
        soak = run(Path(runs), minutes=minutes, rate=rate)
    found = soak.trend
    noise = "within noise" if found.within_noise else "out of noise"
    print(f"slope               {found.slope:+.2f} ± {found.standard_error:.2f} MB per hour (standard error): {noise}")
    print(f"peak of the load    {soak.load_peak_mb:.1f} MB")
    print(f"peak of the command {soak.whole_peak_mb:.1f} MB, with analysis and report")
    print(f"run directory       {soak.record_mb:.2f} MB without {REPORT_FILE}, {soak.with_report_mb:.2f} MB with it")
    print(f"the run was {EXIT_CODES[soak.exit_code]}")
    if failed := faults(soak):
        print(f"error: {'; '.join(failed)}", file=sys.stderr)
        sys.exit(3)


def run(runs: Path, *, minutes: float, rate: int) -> Soak:
    """One run, its record in `runs`, sampled until it ends. Ends this program when it fails or takes too long."""
    load_s = minutes * 60
    words = ["run", "ycsb-b", "--rate", f"{rate}/s", "--duration", f"{load_s:g}s", "--records", str(RECORDS)]
    command = [sys.executable, "-m", "brimline", *words, "--runs-dir", str(runs), "--quiet"]
    with tempfile.TemporaryFile("w+") as talk, subprocess.Popen(command, cwd=ROOT, stdout=talk, stderr=talk) as process:
        try:
            samples, load_peak_mb, whole_peak_mb = followed(process, load_s=load_s)
        finally:
            # It ends its mongod and its record when it is asked to; after an interrupt it has been asked already.
            process.terminate()
            exit_code = process.wait()
        if exit_code not in EXIT_CODES:
            talk.seek(0)
            sys.exit(f"error: the run ended with {exit_code}\n{talk.read()}")
    files = [file for file in runs.rglob("*") if file.is_file()]
    return Soak(
        samples=samples,
        load_peak_mb=load_peak_mb,
        whole_peak_mb=whole_peak_mb,
        record_mb=sum(file.stat().st_size for file in files if file.name != REPORT_FILE) / 1e6,
        with_report_mb=sum(file.stat().st_size for file in files) / 1e6,
        exit_code=exit_code,
    )


def followed(process: subprocess.Popen[bytes], *, load_s: float) -> tuple[list[Sample], float, float]:
    """Samples of the load, its peak, and the peak of the whole process, which has ended then.

    The load begins some seconds after the process, so that samples of its first `load_s` seconds hold no analysis.
    """
    start_s = time.monotonic()
    samples: list[Sample] = []
    load_peak_mb = whole_peak_mb = 0.0
    while not ended(process):
        at_s = time.monotonic() - start_s
        if at_s > load_s + END_DEADLINE_S:
            sys.exit(f"error: the run didn't end within {END_DEADLINE_S:g} s after its load")
        memory = memory_mb(process.pid)
        if memory is not None:
            whole_peak_mb = max(whole_peak_mb, memory["VmHWM"])
            if at_s <= load_s:
                load_peak_mb = memory["VmHWM"]
                if at_s >= len(samples) * SAMPLE_EVERY_S:
                    samples.append(Sample(at_s, memory["VmRSS"]))
        time.sleep(SAMPLE_EVERY_S if at_s + SAMPLE_EVERY_S <= load_s else SAMPLE_EVERY_AT_END_S)
    return samples, load_peak_mb, whole_peak_mb


def ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended. Its exit code stays to be read."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def memory_mb(pid: int | str) -> dict[str, float] | None:
    """Resident memory now and at its highest, VmRSS and VmHWM; None when the process is ending."""
    values = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    if "VmRSS" not in values:
        return None
    return {name: int(values[name].split()[0]) * KIB_IN_MB for name in ("VmRSS", "VmHWM")}

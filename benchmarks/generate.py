"""Owns the measurement of `brimline generate`: rows to a file beside a plain write of the same bytes, in one run.

    python -m benchmarks.generate [--rows 1M] [--rounds 3] [--directory DIR] [--threads N] [--cpu-only]

Each round writes the rows, then the same number of bytes with `dd conv=fdatasync`; both end when the disk has them.
`--cpu-only` writes to /dev/null instead: what making rows costs, whatever the disk and whoever else uses it. Two
versions are compared by running it in both, one after the other.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from brimline.api.generate import RowFormat, generate
from brimline.units import format_bytes, format_count, format_duration, parse_count

_WORKLOADS = ("bulk-rows", "log-search", "order-service")
_FORMATS: tuple[RowFormat, ...] = ("csv", "json", "bson")
_BLOCK_BYTES = 1 << 20


def plain_write(path: Path, size_bytes: int) -> float:
    """Bytes per second of writing so many zeros."""
    words = ["dd", "if=/dev/zero", f"of={path}", f"bs={_BLOCK_BYTES}", f"count={-(-size_bytes // _BLOCK_BYTES)}"]
    begun = time.monotonic()
    subprocess.run([*words, "conv=fdatasync", "status=none"], check=True, timeout=600)
    return size_bytes / (time.monotonic() - begun)


def cpu_only(rows: int, rounds: int, threads: int | None) -> None:
    """Prints the CPU time of making rows, by workload and format: the least of the rounds, as others only add."""
    null = Path("/dev/null")
    for workload in _WORKLOADS:
        for row_format in _FORMATS:
            results = [
                generate(workload, output=null, format=row_format, rows=rows, threads=threads) for _ in range(rounds)
            ]
            least = min(results, key=lambda result: result.cpu_ns)
            per_mb = f"{least.cpu_ns / least.bytes:6.2f} ms of CPU per MB"
            print(f"{workload:14} {row_format:5} {per_mb}, {format_duration(least.cpu_ns / rows)} per row", flush=True)


def main() -> None:
    """Prints a line for each workload and format: medians over the rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=parse_count, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", type=Path, default=None, help="on the disk that is meant")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--cpu-only", action="store_true")
    arguments = parser.parse_args()
    if arguments.cpu_only:
        cpu_only(arguments.rows, arguments.rounds, arguments.threads)
        return
    print(f"{format_count(arguments.rows)} rows, medians of {arguments.rounds} rounds")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        path = Path(directory) / "rows"
        for workload in _WORKLOADS:
            for row_format in _FORMATS:
                results, plain = [], []
                for _ in range(arguments.rounds):
                    results.append(
                        generate(
                            workload, output=path, format=row_format, rows=arguments.rows, threads=arguments.threads
                        )
                    )
                    path.unlink()
                    plain.append(plain_write(path, results[-1].bytes))
                    path.unlink()
                rate = statistics.median(result.bytes_per_s for result in results)
                cpu_ns = statistics.median(result.cpu_ns / result.rows for result in results)
                print(
                    f"{workload:14} {row_format:5} {format_bytes(results[0].bytes / arguments.rows)} per row, "
                    f"{format_bytes(rate)}/s, plain write {format_bytes(statistics.median(plain))}/s, "
                    f"{format_duration(cpu_ns)} of CPU per row"
                )


if __name__ == "__main__":
    main()

"""Owns the measurement of `brimline generate`: rows to a file beside a plain write of the same bytes, in one run.

    .venv/bin/python -m benchmarks.generate [--rows 1M] [--rounds 3] [--directory DIR]

Each round writes the rows, then the same number of bytes with `dd conv=fdatasync`; both end when the disk has them.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from brimline import api
from brimline.units import format_bytes, format_count, format_duration, parse_count

_WORKLOADS = ("bulk-rows", "log-search", "order-service")
_FORMATS: tuple[api.RowFormat, ...] = ("csv", "json", "bson")
_BLOCK_BYTES = 1 << 20


def plain_write(path: Path, size_bytes: int) -> float:
    """Bytes per second of writing so many zeros."""
    words = ["dd", "if=/dev/zero", f"of={path}", f"bs={_BLOCK_BYTES}", f"count={-(-size_bytes // _BLOCK_BYTES)}"]
    begun = time.monotonic()
    subprocess.run([*words, "conv=fdatasync", "status=none"], check=True, timeout=600)
    return size_bytes / (time.monotonic() - begun)


def main() -> None:
    """Prints a line for each workload and format: medians over the rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=parse_count, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", type=Path, default=None, help="on the disk that is meant")
    arguments = parser.parse_args()
    print(f"{format_count(arguments.rows)} rows, medians of {arguments.rounds} rounds")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        path = Path(directory) / "rows"
        for workload in _WORKLOADS:
            for row_format in _FORMATS:
                results, plain = [], []
                for _ in range(arguments.rounds):
                    results.append(api.generate(workload, output=path, row_format=row_format, rows=arguments.rows))
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

"""Runs `make demo` again and again: a figure with an interval each time, within 100 s, at most 15 lines to read.

The lines are counted on standard output, where the answer goes; what is said while it measures goes to standard error.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

LINES_MAX = 15
SECONDS_MAX = 100.0
FIGURE = re.compile(r"^[^\n]*: (?P<figure>[≥≤]? ?[\d .]+) ops/s(?: \((?P<interval>95 % CI [^)]*)\))?", re.MULTILINE)


def once(workload: str, number: int, keep: Path | None) -> bool:
    """One search; whether it is as promised. Its record and what it said are left in `keep`."""
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="brimline-demo-") if keep is None else nullcontext(keep) as runs:
        ended = subprocess.run(
            [sys.executable, "-m", "brimline", "capacity", workload, "--quick", "--runs-dir", str(runs)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    took_s = time.monotonic() - began_s
    if keep is not None:
        (keep / f"demo-{number}.txt").write_text(ended.stderr + ended.stdout, encoding="utf-8")
    lines, found = ended.stdout.rstrip().splitlines(), FIGURE.search(ended.stdout)
    told = found.group(0) if found else (ended.stderr.strip().splitlines() or ["nothing"])[-1]
    right = ended.returncode == 0 and found is not None and len(lines) <= LINES_MAX and took_s <= SECONDS_MAX
    print(
        f"{number}: {'as promised' if right else 'NOT AS PROMISED'}: {told}; {took_s:.0f} s, {len(lines)} lines, "
        f"exit code {ended.returncode}",
        flush=True,
    )
    return right


def main() -> int:
    """Runs all, and ends with 1 where one was not as promised."""
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--times", type=int, default=20)
    words.add_argument("--workload", default="ycsb-b")
    words.add_argument("--keep", type=Path, help="directory for the records and what was printed")
    asked = words.parse_args()
    if asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
    right = [once(asked.workload, number, asked.keep) for number in range(1, asked.times + 1)]
    print(f"{sum(right)} of {len(right)} as promised")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())

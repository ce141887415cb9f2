"""Grows a collection past a small cache several times, and holds each breakpoint to what the cache's misses say.

    python -m benchmarks.growth [--runs 5] [--repeats 2]

The truth knows no time: with uniform keys a query misses the cache with probability 1 - H/V, so that the misses tell
the volume H that it holds. A last growth stays within its cache and must find nothing. Exit code 1 when fewer than four
in five breakpoints lie within 15 % of H, or the last growth has one.
"""

import argparse
import json
import sys
from pathlib import Path

from brimline import _native
from brimline.api.grow import GrowthResult, grow
from brimline.api.options import Options
from brimline.experiments.growth.order import GrowthSettings

TOLERANCE = 0.15
HITS_MIN = 0.8
SMALL_CACHE_GB = 0.25
LARGE_CACHE_GB = 1.0


def main() -> int:
    """Prints a line per growth and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--runs-dir", type=Path, default=Path("target/growth"))
    arguments = parser.parse_args()
    settings = GrowthSettings(
        to_records=480_000, step_records=40_000, connections=(1,), queries=(20_000,), repeats=arguments.repeats
    )
    hits = 0
    for number in range(1, arguments.runs + 1):
        result = _grown(settings, SMALL_CACHE_GB, arguments.runs_dir)
        close, line = _compared(result)
        hits += close
        sys.stdout.write(f"run {number}: {line}\n")
        sys.stdout.flush()
    control = _grown(settings, LARGE_CACHE_GB, arguments.runs_dir)
    quiet = not control.conclusion.sets[0].query_break.found
    sys.stdout.write(f"within the cache: {control.conclusion.sets[0].query_break.text}\n")
    figures = {
        "version": _native.__version__,
        "runs": arguments.runs,
        "within_15_percent": hits,
        "none_within_cache": quiet,
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0 if hits >= HITS_MIN * arguments.runs and quiet else 1


def _grown(settings: GrowthSettings, cache_gb: float, runs_dir: Path) -> GrowthResult:
    return grow("ycsb-c", settings=settings, options=Options(cache_gb=cache_gb, runs_dir=runs_dir))


def _compared(result: GrowthResult) -> tuple[bool, str]:
    """Whether the breakpoint lies within the tolerance, and both in words."""
    growth = result.conclusion.sets[0]
    holds, found = growth.cache_holds_records, growth.query_break.result.found
    if holds is None or found is None:
        return False, f"{growth.query_break.text}; the cache holds {holds}"
    error = found.position.value / holds - 1
    cause = growth.query_break.cause_text
    return abs(error) <= TOLERANCE, f"{growth.query_break.text}; the cache holds {holds:.0f} ({error:+.0%}); {cause}"


if __name__ == "__main__":
    sys.exit(main())

"""Repeat a run with other seeds: the spread between runs is what a single run can't show.

python examples/loop_over_seeds.py          a mongod of brimline's own for each run
python examples/loop_over_seeds.py --null   no server: the generator alone

A seed decides the data as well as the operations, so each run gets a fresh server with data of its own.
"""

import statistics
import sys
from pathlib import Path

import brimline

WORKLOAD = Path(__file__).with_name("own-workload.yaml")
SEEDS = (1, 2, 3)


def main() -> None:
    """Runs once per seed and prints each throughput, then their mean and spread."""
    options = brimline.Options(null="--null" in sys.argv)
    rates = []
    for seed in SEEDS:
        overrides = {"seed": seed, "warmup": "100ms", "duration": "300ms"}
        result = brimline.run(WORKLOAD, overrides=overrides, options=options)
        if result.error is not None:
            sys.exit(f"seed {seed}: {result.error}")
        rates.append(result.observation.throughput_ops_per_s)
        print(f"seed {seed}: {rates[-1]:.0f} ops/s")
    mean, spread = statistics.mean(rates), statistics.stdev(rates)
    print(f"{len(rates)} runs: mean {mean:.0f} ops/s, standard deviation {spread / mean:.1%}")


if __name__ == "__main__":
    main()

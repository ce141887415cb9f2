"""Run a workload and look at it as pandas data frames: quantiles per operation, throughput per interval.

python examples/run_to_data_frame.py          a mongod of brimline's own
python examples/run_to_data_frame.py --null   no server: the generator alone

Needs pandas: the extra `frames`.
"""

import sys
from pathlib import Path

import brimline

WORKLOAD = Path(__file__).with_name("own-workload.yaml")


def main() -> None:
    """Runs once and prints two tables."""
    result = brimline.run(
        WORKLOAD,
        overrides={"duration": "1s", "interval": "200ms"},
        options=brimline.Options(null="--null" in sys.argv),
    )
    frames = result.record.frames()

    # One row per operation and clock; in a closed loop the only clock is service time.
    print(frames["quantiles"][["count", "p50_ns", "p99_ns", "max_ns"]])

    operations = frames["operations"]
    measured = operations[operations["phase"] == "measure"]
    print(measured.pivot_table(index="start_ns", columns="operation", values="ok", aggfunc="sum"))
    print("report:", result.html)


if __name__ == "__main__":
    main()

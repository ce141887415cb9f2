"""Two settings of one workload in turns, and what differs between them.

python examples/compare_two_settings.py [--null]
"""

import argparse

import brimline
from brimline.experiments.paired.ab import ABSettings


def main() -> None:
    """Runs both settings three times each and prints every change."""
    arguments = argparse.ArgumentParser(description="4 against 16 connections, 3 runs each.")
    arguments.add_argument("--null", action="store_true", help="no server: the generator alone")
    result = brimline.ab(
        "ycsb-c",
        settings=ABSettings(pairs=3),
        overrides={"data.records": 1000, "warmup": "200ms", "duration": "1s"},
        overrides_a={"connections": 4},
        overrides_b={"connections": 16},
        options=brimline.Options(null=arguments.parse_args().null),
    )
    for difference in result.comparison.differences:
        print(f"{difference.name}: {', '.join(difference.a)} against {', '.join(difference.b)}")
    for change in result.comparison.changes:
        if change.change is not None and not change.metric.absolute:
            low, high = change.change.low, change.change.high
            print(
                f"{change.metric.label}: {change.change.value:+.1%} ({low:+.1%} to {high:+.1%}), {change.verdict.value}"
            )
    print(f"verdict: {result.comparison.verdict.value}")
    print(f"report: {result.html}")


if __name__ == "__main__":
    main()

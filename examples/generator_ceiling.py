"""Ask what the generator itself can do: without a server, what is reached is its own ceiling.

python examples/generator_ceiling.py

A figure about a server that comes close to this ceiling would be a figure about the generator.
`brimline capacity` makes this check by itself.
"""

from pathlib import Path

import brimline

WORKLOAD = Path(__file__).with_name("own-workload.yaml")


def main() -> None:
    """Runs against the null target and prints throughput and CPU time per operation."""
    result = brimline.run(
        WORKLOAD,
        overrides={"connections": 64, "warmup": "100ms", "duration": "500ms"},
        options=brimline.Options(null=True),
    )
    observation = result.observation
    cpu_ns = observation.client_cpu_ns_per_op or 0.0
    print(f"ceiling: {observation.throughput_ops_per_s:.0f} ops/s on one thread")
    print(f"client CPU: {cpu_ns:.0f} ns per operation, without sending anything")


if __name__ == "__main__":
    main()

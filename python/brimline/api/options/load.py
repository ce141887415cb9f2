"""Owns what can be said of a workload besides its name: its data's size, its client, how it is offered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from brimline.api.options.group import Group, option
from brimline.errors import UsageError
from brimline.spec.target import Client


@dataclass(frozen=True, kw_only=True)
class LoadOptions(Group):
    """What is changed of a workload. Counts, rates and times may be text as in a spec: "100k", "5000/s", "30s"."""

    title: ClassVar[str] = "Load"

    records: str | int | None = option("--records", "COUNT", "Number of records, such as 100k.", path="data.records")
    seed: str | int | None = option("--seed", "NUMBER", "Seed of data and operations.", path="seed")
    client: Client | None = option(
        "--client", "", "wire: brimline's own (default); else a driver, jdbc for SQL.", path="target.client"
    )
    connections: str | int | None = option("--connections", "COUNT", "Number of connections.", path="connections")
    max_pool_size: str | int | None = option(
        "--max-pool-size",
        "COUNT",
        "Most sockets, as in a driver's pool; workers beyond wait for a free one.",
        path="max_pool_size",
    )
    threads: str | int | None = option("--threads", "COUNT", "Engine threads.", path="threads")
    in_flight: str | int | None = option(
        "--in-flight", "COUNT", "Most operations in flight; default: one per connection.", path="in_flight"
    )
    rate: str | float | None = option(
        "--rate",
        "RATE",
        "Offer a constant rate, such as 5000/s, instead of a closed loop.",
        excludes=("think_time", "tlr"),
    )
    arrivals: Literal["even", "poisson"] | None = option(
        "--arrivals", "", "How operations are spread around --rate; default: even.", requires=("rate",)
    )
    think_time: str | None = option(
        "--think-time", "TIME", "Closed loop: pause after each reply, such as 100ms.", excludes=("tlr",)
    )
    tlr: str | None = option(
        "--tlr",
        "T,L,R",
        "Threads, loops and ramp-up, as in JMeter: 100,1000,10s starts 100 workers evenly over 10 s, "
        "each performs 1000 operations.",
    )
    duration: str | None = option("--duration", "TIME", "Measured window, such as 30s.", path="duration")
    warmup: str | None = option("--warmup", "TIME", "Warm-up before it.", path="warmup")
    operations: str | int | None = option(
        "--operations", "COUNT", "End after so many operations.", path="operation_count"
    )

    @property
    def overrides(self) -> dict[str, object]:
        """By spec path. Raises UsageError for a load model that can't be read."""
        return {**super().overrides, "load": self._model()}

    def _model(self) -> Mapping[str, object] | None:
        if self.rate is not None:
            return {"kind": "poisson" if self.arrivals == "poisson" else "constant", "rate": self.rate}
        if self.think_time is not None:
            return {"kind": "closed", "think_time": self.think_time}
        return None if self.tlr is None else _tlr(self.tlr)


def _tlr(text: str) -> Mapping[str, object]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(parts):
        raise UsageError(
            f'--tlr must be threads, loops and ramp-up, but is "{text}"', hint="write them as --tlr 100,1000,10s"
        )
    return {"kind": "tlr", "threads": parts[0], "loops": parts[1], "ramp_up": parts[2]}

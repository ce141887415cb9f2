"""Owns how long and how finely experiments probe: the presets `quick` and `standard`, and their time."""

import math
from dataclasses import dataclass, field, replace
from typing import Self

from brimline.analysis.checkpoints import CHECKPOINT_PAUSE_S
from brimline.analysis.objective import Slo
from brimline.experiments.axis import Axis, On
from brimline.spec.readers import CONNECTION_COUNT_MAX

CHECKPOINT_S = CHECKPOINT_PAUSE_S
"""A shorter window can miss what a checkpoint does."""
REPEATS_MAX = 1_000
"""More runs of a level, or pairs of a comparison, are a slip; their order alone would fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSettings:
    """A closed-loop sweep over 1, 2, 4 … `connections_max` connections, each level `repeats` times."""

    connections_max: int = 256
    gain_min: float = 0.05
    flat_levels: int = 2  # so many levels in a row without that gain end the sweep
    repeats: int = 1
    warmup_s: float = 2.0
    duration_s: float = 10.0

    def __post_init__(self) -> None:
        if self.connections_max < 1 or self.repeats < 1 or self.flat_levels < 1 or self.duration_s <= 0:
            raise ValueError("a sweep needs at least one connection, one repeat, one level and some time")
        if self.connections_max > CONNECTION_COUNT_MAX or self.repeats > REPEATS_MAX:
            raise ValueError(f"a sweep has at most {CONNECTION_COUNT_MAX} connections and {REPEATS_MAX} repeats")

    @property
    def connections_needed(self) -> int:
        """The most connections it may come to."""
        return self.connections_max

    def within(self, connections: int) -> Self:
        """The same with at most so many connections."""
        return replace(self, connections_max=min(self.connections_max, connections))

    @property
    def levels(self) -> tuple[int, ...]:
        """The connections it may try, ascending; the last is `connections_max` itself."""
        doubled = [1 << power for power in range(self.connections_max.bit_length())]
        return (*doubled,) if doubled[-1] == self.connections_max else (*doubled, self.connections_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacitySettings:
    """A search for the sustained rate. Times are of probes; `resolution` and `step` are shares of a rate."""

    preset: str
    slo: Slo = field(default_factory=Slo)
    sweep: SweepSettings = field(default_factory=SweepSettings)
    calibrate_connections: int = 64
    calibrate_s: float = 5.0
    warmup_s: float = 5.0
    bracket_s: float = 15.0
    bisect_s: float = 60.0
    verify_s: float = 60.0
    bisections_max: int = 8
    resolution: float = 0.01  # bisection ends when the threshold is known this well
    verifications: int = 3
    step: float = 0.02  # distance of the levels that are verified
    steps_down_max: int = 5
    steps_up_max: int = 3
    width_max: float = 0.10  # an interval wider than this share of its value is no result
    connections_min: int = 64
    connections_max: int = 512
    operations_min: int = 10_000  # slow targets get longer windows, so that the p99 has enough values above it
    window_factor_max: float = 4.0  # but not longer than this times the usual
    budget_s: float | None = None  # time of the whole search, without loading
    budget_elapses: bool = False  # whether the budget is of the wall clock, and not of probe time only
    on: On = On.RATE
    loops: int | None = None  # of T-L-R: operations per thread
    ramp_up_s: float | None = None  # of T-L-R: time over which threads start
    load_max: float | None = None  # no more than this is tried
    goal: str = ""  # what this search is called among several on the same server

    def __post_init__(self) -> None:
        if self.on is On.THREADS and not (self.loops and self.ramp_up_s):
            raise ValueError("a search on threads needs loops and a ramp-up")
        if self.verifications < 3:
            raise ValueError("a capacity needs at least 3 verifications")
        if not (0 < self.resolution < 0.5 and 0 < self.step < 0.5):
            raise ValueError("resolution and step are shares between 0 and 0.5")

    def window_s(self, usual_s: float, rate_ops_per_s: float) -> float:
        """Length of a window at this rate: the usual, or longer where that holds too few operations; of T-L-R R."""
        if self.ramp_up_s is not None:
            return self.ramp_up_s
        needed_s = math.ceil(self.operations_min / rate_ops_per_s)
        return min(max(usual_s, needed_s), self.window_factor_max * usual_s)

    @property
    def connections_needed(self) -> int | None:
        """Connections that every probe at a rate has at least; None where the search itself finds how many it needs."""
        return self.connections_min if self.on is On.RATE else None

    def within(self, connections: int) -> Self:
        """The same with at most so many connections, those of the levels above a candidate among them."""
        bounded = replace(
            self,
            sweep=self.sweep.within(connections),
            connections_max=max(self.connections_min, min(self.connections_max, connections)),
        )
        if not self.axis.whole:
            return bounded
        most = max(1, math.floor(connections / (1 + (self.steps_up_max + 1) * self.step)))
        return replace(bounded, load_max=most if self.load_max is None else min(self.load_max, most))

    @property
    def windows_span_checkpoints(self) -> bool:
        """Whether what decides was long enough to see a checkpoint."""
        return (self.ramp_up_s or min(self.bisect_s, self.verify_s)) >= CHECKPOINT_S

    @property
    def axis(self) -> Axis:
        """What the search varies."""
        return Axis(self.on)


def quick(slo: Slo | None = None) -> CapacitySettings:
    """A look: a whole search in 85 s of probe time, in windows too short to be quoted."""
    return CapacitySettings(
        preset="quick",
        slo=slo or Slo(),
        sweep=SweepSettings(warmup_s=0.3, duration_s=2.0),
        calibrate_s=2.0,
        warmup_s=0.5,
        bracket_s=2.5,
        bisect_s=4.0,
        verify_s=4.0,
        bisections_max=4,
        resolution=0.02,
        width_max=0.25,
        operations_min=400,  # fewer give no upper bound for a p99
        budget_s=85.0,
    )


def standard(slo: Slo | None = None) -> CapacitySettings:
    """A result: every window that decides spans a checkpoint, and noise has room to be averaged out."""
    return CapacitySettings(preset="standard", slo=slo or Slo())

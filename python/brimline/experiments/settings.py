"""Owns how long and how finely experiments probe: the presets `quick` and `standard`, and their time."""

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

from brimline.analysis.checkpoints import CHECKPOINT_PAUSE_S
from brimline.analysis.objective import Slo
from brimline.experiments.axis import Axis, On
from brimline.spec.readers import CONNECTION_COUNT_MAX

CHECKPOINT_S = CHECKPOINT_PAUSE_S
"""A shorter window can miss what a checkpoint does."""
HOLD, HOLD_MIN, HOLD_MAX = 0.9, 0.5, 0.99
"""At the sustained load this share of the windows meets the objective, unless another one is asked for."""
RESOLUTION = 0.01
WIDTH_MAX = 2.0
"""Of an interval, as a share of its figure; a wider one that is asked for is a slip."""
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


class Grade(StrEnum):
    """How a figure is known: held in repeated windows, estimated from all of them, or bounded from one side."""

    VERIFIED = "verified"
    ESTIMATED = "estimated"
    BOUNDED = "bounded"

    def reaches(self, other: "Grade") -> bool:
        """Whether it is at least as good as another."""
        order = list(Grade)
        return order.index(self) <= order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacitySettings:
    """A search for the sustained load. Times are of probes; `resolution`, `width_wanted` and `width_max` are shares."""

    preset: str
    slo: Slo = field(default_factory=Slo)
    sweep: SweepSettings = field(default_factory=SweepSettings)
    calibrate_connections: int = 64
    calibrate_s: float = 5.0
    warmup_s: float = 5.0
    hold: float = HOLD  # share of the windows that meet the objective at the sustained load
    window_s: float = 60.0
    windows_max: int = 30
    windows_per_reference: int = 4  # after so many windows the reference load runs again
    width_wanted: float = 0.05  # the search goes on until its interval is narrower than this
    verifications: int = 3
    resolution: float = RESOLUTION  # loads nearer than this are not told apart
    width_max: float | None = None  # a wider interval misses what was asked for
    grade_required: Grade | None = None  # so does a figure that is known less well
    connections_min: int = 64
    connections_max: int = 512
    operations_min: int = 10_000  # slow targets get longer windows, so that the p99 has enough values above it
    window_factor_max: float = 4.0  # but not longer than this times the usual
    budget_s: float | None = None  # time of the whole search, without loading and putting back
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
        if not HOLD_MIN <= self.hold <= HOLD_MAX:
            raise ValueError(f"the share of windows that hold lies from {HOLD_MIN:.0%} to {HOLD_MAX:.0%}")
        if self.width_max is not None and not 2 * self.resolution <= self.width_max <= WIDTH_MAX:
            raise ValueError(f"the width of an interval lies from {2 * self.resolution:.0%} to {WIDTH_MAX:.0%}")

    @property
    def usual_s(self) -> float:
        """Length of a window, unless its load holds too few operations; of T-L-R R."""
        return self.ramp_up_s or self.window_s

    def length_s(self, rate_ops_per_s: float) -> float:
        """Length of a window at this rate: the usual, or longer where that holds too few operations; of T-L-R R."""
        if self.ramp_up_s is not None:
            return self.ramp_up_s
        needed_s = math.ceil(self.operations_min / rate_ops_per_s)
        return min(max(self.window_s, needed_s), self.window_factor_max * self.window_s)

    @property
    def width_sought(self) -> float:
        """The search goes on until its interval is no wider than this share of its figure."""
        return self.width_wanted if self.width_max is None else min(self.width_wanted, self.width_max)

    @property
    def connections_needed(self) -> int | None:
        """Connections that every probe at a rate has at least; None where the search itself finds how many it needs."""
        return self.connections_min if self.on is On.RATE else None

    def within(self, connections: int) -> Self:
        """The same with at most so many connections."""
        bounded = replace(
            self,
            sweep=self.sweep.within(connections),
            connections_max=max(self.connections_min, min(self.connections_max, connections)),
        )
        if not self.axis.whole:
            return bounded
        return replace(bounded, load_max=connections if self.load_max is None else min(self.load_max, connections))

    @property
    def windows_span_checkpoints(self) -> bool:
        """Whether what decides was long enough to see a checkpoint."""
        return self.usual_s >= CHECKPOINT_S

    @property
    def axis(self) -> Axis:
        """What the search varies."""
        return Axis(self.on)


def quick(slo: Slo | None = None) -> CapacitySettings:
    """A look: a whole search in 81 s by the wall clock, in windows too short to be quoted."""
    return CapacitySettings(
        preset="quick",
        slo=slo or Slo(),
        sweep=SweepSettings(warmup_s=0.3, duration_s=1.5),
        calibrate_s=1.0,
        warmup_s=0.5,
        window_s=4.0,
        operations_min=400,  # fewer give no upper bound for a p99
        budget_s=81.0,
        budget_elapses=True,
    )


def standard(slo: Slo | None = None) -> CapacitySettings:
    """A result: every window that decides spans a checkpoint, and noise has room to be averaged out."""
    return CapacitySettings(preset="standard", slo=slo or Slo())

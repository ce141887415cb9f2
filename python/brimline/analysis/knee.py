"""Owns the knee of a sweep with its interval, and the numbers of connections that can be recommended.

The knee is the smallest number of connections with at least 95 % of the highest throughput: robust and monotone,
where methods that look for curvature depend on how the axes are drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brimline.analysis.observation import Observation
from brimline.plan.pacing import connections_text
from brimline.stats.estimate import CONFIDENCE, NORMAL_HALF_WIDTH
from brimline.units import format_count, format_percentage
from brimline.wording import message

PLATEAU_SHARE = 0.95
"""A level belongs to the plateau from this share of the highest throughput on."""
RUN_DRIFT = 0.01
"""Relative standard deviation of throughput from run to run that is allowed for where runs aren't repeated."""
REPEATS_MIN = 3
"""Runs with the same connections below which their spread isn't known."""
RESAMPLE_COUNT = 2000
BAND_GAIN_MIN = 0.02
"""Throughput that more connections must gain to be worth a longer service time."""
BAND_RISE_MAX = 0.2
"""Rise of the service time's p99 from one level to the next that doesn't matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A number of connections: the runs with it, its mean throughput and its service time p99."""

    connections: int
    runs: Sequence[Observation]
    throughput_ops_per_s: float
    service_p99_ns: int | None
    usable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """The knee in connections. Between two levels that were measured it can't be told where it is: `low` says so.

    `assumed_drift`: the relative standard deviation from run to run that `low` and `high` stand on where levels weren't
    repeated often enough to know it; None: they are a confidence interval.
    """

    connections: int
    low: int
    high: int
    confidence: float = CONFIDENCE
    assumed_drift: float | None = None

    @property
    def interval_text(self) -> str:
        """`95 % CI 5–8`, or `5–8 assuming that runs differ by 1 %`."""
        if self.assumed_drift is not None:
            return message(
                "{low}–{high} assuming that runs differ by {drift}",
                low=format_count(self.low),
                high=format_count(self.high),
                drift=format_percentage(self.assumed_drift),
            )
        return message(
            "{confidence:g} % CI {low}–{high}",
            confidence=self.confidence * 100,
            low=format_count(self.low),
            high=format_count(self.high),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Connections that can be recommended: fewer cost throughput, more only make operations wait."""

    low: int
    high: int

    @property
    def text(self) -> str:
        """`8 to 16 connections`."""
        if self.low == self.high:
            return connections_text(self.low)
        return message("{low} to {high} connections", low=format_count(self.low), high=format_count(self.high))


def find_knee(levels: Sequence[Level], *, seed: int) -> Knee | None:
    """The knee of ascending `levels` with the range it may be in; None where no usable level is on the plateau.

    Runs of a level that was repeated at least `REPEATS_MIN` times are resampled, and where all levels were the range is
    a confidence interval. With fewer a run is taken to vary as its own interval says, and by `RUN_DRIFT`.
    """
    throughputs = np.array([level.throughput_ops_per_s for level in levels])
    usable = np.array([level.usable for level in levels])
    at = _knees(throughputs[np.newaxis], usable)
    if not len(at):
        return None
    rng = np.random.default_rng(seed)
    found = _knees(np.array([_draws(level, rng) for level in levels]).T, usable)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="closest_observation")
    below = levels[int(low) - 1].connections if low > 0 else 0
    return Knee(
        connections=levels[at[0]].connections,
        low=below + 1,
        high=levels[int(high)].connections,
        assumed_drift=None if all(len(level.runs) >= REPEATS_MIN for level in levels) else RUN_DRIFT,
    )


def _knees(throughputs: NDArray[np.float64], usable: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The place of the knee in each row of throughputs[draw, level] that has a usable level on its plateau."""
    on_plateau = (throughputs >= PLATEAU_SHARE * throughputs.max(axis=1, keepdims=True)) & usable
    found: NDArray[np.intp] = np.argmax(on_plateau, axis=1)[on_plateau.any(axis=1)]
    return found


def _draws(level: Level, rng: np.random.Generator) -> NDArray[np.float64]:
    """Throughputs that the level could have shown as well."""
    rates = np.array([run.throughput_ops_per_s for run in level.runs])
    if len(rates) >= REPEATS_MIN:
        means: NDArray[np.float64] = rng.choice(rates, size=(RESAMPLE_COUNT, len(rates))).mean(axis=1)
        return means
    within = np.mean([_standard_error(run) for run in level.runs])
    spread = math.hypot(float(within), RUN_DRIFT * level.throughput_ops_per_s) / math.sqrt(len(rates))
    return rng.normal(level.throughput_ops_per_s, spread, size=RESAMPLE_COUNT)


def _standard_error(run: Observation) -> float:
    return 0.0 if run.throughput is None else (run.throughput.high - run.throughput.low) / 2 / NORMAL_HALF_WIDTH


def recommended_band(levels: Sequence[Level], knee: Knee) -> Band:
    """From the knee up to where the service time's p99 begins to rise and throughput doesn't."""
    low = high = knee.connections
    before = next(level for level in levels if level.connections == low)
    for level in (each for each in levels if each.connections > low):
        gains = level.throughput_ops_per_s > (1 + BAND_GAIN_MIN) * before.throughput_ops_per_s
        if not level.usable or (_rises(before, level) and not gains):
            break
        high, before = level.connections, level
    return Band(low=low, high=high)


def _rises(before: Level, level: Level) -> bool:
    if before.service_p99_ns is None or level.service_p99_ns is None:
        return True
    return level.service_p99_ns > (1 + BAND_RISE_MAX) * before.service_p99_ns

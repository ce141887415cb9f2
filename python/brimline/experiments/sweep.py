"""Owns the closed-loop sweep: throughput over connections, its plateau and its knee."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from brimline.analysis.bottleneck import Bottleneck, bottleneck
from brimline.experiments.settings import SweepSettings
from brimline.experiments.trial import Probe, Trial, broken_off, of_stage
from brimline.stats.batch_means import mean_interval
from brimline.stats.estimate import Estimate
from brimline.units import format_count, format_percentage, format_rate

PLATEAU_SHARE = 0.95
"""A level belongs to the plateau from this share of the highest throughput on."""
ERROR_RATE_STOP = 0.05
"""More connections are not tried when this share of the operations fails."""


class SweepEnd(StrEnum):
    """Why no further level was tried."""

    PLATEAU = "plateau"
    CONNECTIONS_MAX = "connections_max"
    ERRORS = "errors"
    BROKEN_OFF = "broken_off"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepLevel:
    """One number of connections: mean throughput of its repeats, and their worst service time quantiles."""

    connections: int
    throughput_ops_per_s: float
    service_p50_ns: int | None
    service_p99_ns: int | None
    error_rate: float
    trial_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepConclusion:
    """What a sweep showed. Without a plateau there is neither a saturation throughput nor a knee."""

    ended_by: SweepEnd
    levels: tuple[SweepLevel, ...]
    highest_ops_per_s: float | None
    saturation: Estimate | None
    knee_connections: int | None
    bottleneck: Bottleneck | None
    text: str

    @property
    def exit_code(self) -> int:
        """0 with a plateau, 5 when the target went away, else 4."""
        return {SweepEnd.PLATEAU: 0, SweepEnd.BROKEN_OFF: 5}.get(self.ended_by, 4)


class Sweep:
    """Asks for 1, 2, 4 … connections until throughput gains less than 5 % twice in a row.

    Further repeats take the same levels in an order drawn from the seed, so that drift of the machine isn't
    mistaken for an effect of the connections.
    """

    def __init__(self, settings: SweepSettings, seed: int) -> None:
        self._settings = settings
        self._seed = seed

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """The next level to measure, or None when the sweep is over."""
        done = of_stage(trials, "sweep")
        if broken_off(done):
            return None
        order = self._order(done)
        return None if order is None or len(done) >= len(order) else self._probe(order[len(done)])

    def conclude(self, trials: Sequence[Trial], *, null_ceiling_ops_per_s: float | None = None) -> SweepConclusion:
        """What the trials so far show; also of a sweep that was broken off."""
        done = of_stage(trials, "sweep")
        levels = sweep_levels([trial for trial in done if trial.observation.ended_by == "completed"])
        ended_by = self._ended_by(done)
        highest = max((level.throughput_ops_per_s for level in levels), default=None)
        on_plateau = [level for level in levels if level.throughput_ops_per_s >= PLATEAU_SHARE * (highest or 0)]
        reached = ended_by is SweepEnd.PLATEAU
        saturation = _saturation(done, on_plateau) if reached else None
        knee = on_plateau[0].connections if reached else None
        limit = _limit(done, highest, null_ceiling_ops_per_s)
        return SweepConclusion(
            ended_by=ended_by,
            levels=tuple(levels),
            highest_ops_per_s=highest,
            saturation=saturation,
            knee_connections=knee,
            bottleneck=limit,
            text=_text(ended_by, highest, saturation, knee, levels),
        )

    def _order(self, done: Sequence[Trial]) -> list[int] | None:
        """The connections of all probes in order; they are known as far as the first round has come."""
        levels = self._settings.levels
        first_round = done[: len(levels)]
        for count in range(1, len(first_round) + 1):
            if self._flat(first_round[:count]) or _failing(first_round[count - 1]):
                levels = levels[:count]
                break
        order = list(levels)
        rng = np.random.default_rng(self._seed)
        for _ in range(1, self._settings.repeats):
            order += [int(connections) for connections in rng.permutation(levels)]
        return order

    def _flat(self, first_round: Sequence[Trial]) -> bool:
        """Whether the last levels gained less than `gain_min` each over the best before them."""
        flat_levels = self._settings.flat_levels
        if len(first_round) <= flat_levels:
            return False
        rates = [trial.observation.throughput_ops_per_s for trial in first_round]
        gains = [rates[index] / max(max(rates[:index]), 1e-9) - 1 for index in range(1, len(rates))]
        return all(gain < self._settings.gain_min for gain in gains[-flat_levels:])

    def _probe(self, connections: int) -> Probe:
        return Probe(
            stage="sweep",
            label=f"{connections}-connections",
            target="server",
            connections=connections,
            rate_ops_per_s=None,
            warmup_s=self._settings.warmup_s,
            duration_s=self._settings.duration_s,
        )

    def _ended_by(self, done: Sequence[Trial]) -> SweepEnd:
        if broken_off(done):
            return SweepEnd.BROKEN_OFF
        if self.next_probe(done) is not None:
            return SweepEnd.INCOMPLETE
        levels = len({trial.probe.connections for trial in done})
        if any(_failing(trial) for trial in done[:levels]):
            return SweepEnd.ERRORS
        return SweepEnd.PLATEAU if self._flat(done[:levels]) else SweepEnd.CONNECTIONS_MAX


def sweep_levels(done: Sequence[Trial]) -> list[SweepLevel]:
    """The trials by connections, ascending."""
    levels = []
    for connections in sorted({trial.probe.connections for trial in done}):
        seen = [trial.observation for trial in done if trial.probe.connections == connections]
        services = [observation.service for observation in seen if observation.service is not None]
        levels.append(
            SweepLevel(
                connections=connections,
                throughput_ops_per_s=float(np.mean([observation.throughput_ops_per_s for observation in seen])),
                service_p50_ns=max((service.p50_ns for service in services), default=None),
                service_p99_ns=max((service.p99_ns for service in services), default=None),
                error_rate=max(observation.error_rate for observation in seen),
                trial_count=len(seen),
            )
        )
    return levels


def _failing(trial: Trial) -> bool:
    return trial.observation.error_rate > ERROR_RATE_STOP


def _saturation(done: Sequence[Trial], on_plateau: Sequence[SweepLevel]) -> Estimate:
    """Mean of the runs on the plateau: Student's interval from 3 runs on, else what the runs show."""
    connections = {level.connections for level in on_plateau}
    seen = [trial.observation for trial in done if trial.probe.connections in connections]
    rates = [observation.throughput_ops_per_s for observation in seen]
    mean = float(np.mean(rates))
    if len(rates) >= 3:
        spread = mean_interval(rates, unit="ops/s", independent=True)
        low, high = spread.low, spread.high
    else:
        within = [observation.throughput for observation in seen if observation.throughput is not None]
        low = min([*rates, *(each.low for each in within)])
        high = max([*rates, *(each.high for each in within)])
    return Estimate(value=mean, low=max(low, 0.0), high=high, unit="ops/s")


def _limit(done: Sequence[Trial], highest: float | None, null_ceiling_ops_per_s: float | None) -> Bottleneck | None:
    """What was full in the run with the highest throughput."""
    if not done or not highest:
        return None
    best = max(done, key=lambda trial: trial.observation.throughput_ops_per_s)
    return bottleneck(best.observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s)


def _text(
    ended_by: SweepEnd,
    highest: float | None,
    saturation: Estimate | None,
    knee: int | None,
    levels: Sequence[SweepLevel],
) -> str:
    if saturation is not None:
        return f"saturation throughput {saturation}; knee at {format_count(knee or 0)} connections"
    most = f", at most {format_rate(highest)} seen" if highest else ""
    if ended_by is SweepEnd.CONNECTIONS_MAX:
        return f"no plateau up to {format_count(levels[-1].connections)} connections{most}"
    if ended_by is SweepEnd.ERRORS:
        failing = levels[-1]
        share = format_percentage(failing.error_rate)
        return f"{share} of the operations failed with {format_count(failing.connections)} connections{most}"
    return f"the sweep did not finish{most}"

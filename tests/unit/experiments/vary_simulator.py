"""Owns a factor sweep on a machine in numbers: throughput by combination is known, runs vary as on a real one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from brimline.experiments.vary.factors import parse_factors
from brimline.experiments.vary.order import Levels, RunOutcome, Vary, VaryProbe, VarySettings, VaryTrial

MS = 1_000_000
NOISE = 0.015
"""Standard deviation of runs among each other, as it was seen on 2 cores."""
Law = Callable[[Mapping[str, str]], float]
"""Throughput of a combination, by its levels' names."""


def settings_of(*factors: str, **more: object) -> VarySettings:
    """The settings of `--vary` texts."""
    return replace(VarySettings(factors=parse_factors(factors)), **more)  # type: ignore[arg-type]


class Machine:
    """Answers probes. A run of a seed is the same whatever was asked before it."""

    def __init__(
        self,
        settings: VarySettings,
        law: Law,
        *,
        seed: int,
        noise: float = NOISE,
        drift: float = 0.0,
        spoilt: Callable[[VaryProbe], RunOutcome] = lambda _probe: RunOutcome.COUNTS,
    ) -> None:
        self.settings = settings
        self.vary = Vary(settings, seed)
        self._law, self._seed, self._noise, self._drift, self._spoilt = law, seed, noise, drift, spoilt

    def run(self, probe: VaryProbe, place: int = 0) -> VaryTrial:
        """One run, the `place`-th of all; with `drift` the machine becomes so much faster from run to run."""
        outcome = self._spoilt(probe)
        if outcome is not RunOutcome.COUNTS:
            return VaryTrial(probe=probe, outcome=outcome, reasons=("the generator was late",))
        key = [self._seed, probe.block, probe.attempt, *"|".join(probe.levels).encode()]
        rng = np.random.default_rng(key)
        speed = self._law(self.settings.named(probe.levels)) * (1 + self._drift * place)
        throughput = speed * float(np.exp(rng.normal(0, self._noise)))
        figures = {"throughput": throughput, "p95": 8e3 * MS / throughput, "p99": 16e3 * MS / throughput}
        return VaryTrial(probe=probe, figures=figures)

    def all(self, done: Sequence[VaryTrial] = (), *, most: int = 10_000) -> list[VaryTrial]:
        """Runs until nothing more is asked, or `most` were made."""
        trials = list(done)
        while len(trials) < most and (probe := self.vary.next_probe(trials)) is not None:
            trials.append(self.run(probe, len(trials)))
        assert len(trials) < 10_000
        return trials


def combinations_of(trials: Sequence[VaryTrial], block: int) -> list[Levels]:
    """What a block ran, in order, first attempts alone."""
    return [trial.probe.levels for trial in trials if trial.probe.block == block and trial.probe.attempt == 1]

"""A server whose windows bear a load that varies by a known law: probes are answered in numbers, without a clock."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.trial import Probe, Trial

from .observations import closed_trial, open_trial


@dataclass(frozen=True, kw_only=True)
class WindowLaw:
    """How much the windows of a server bear.

    Windows differ by `spread`, relative. Over the search the server becomes faster or slower, from −`drift` to
    +`drift`. A share `disturbed` of the windows bears 30 to 80 % only, whatever is offered. A window that holds a
    checkpoint bears `checkpoint` less; one shorter than 60 s may miss it. A full server answers `excess` more than it
    bears.
    """

    bears_ops_per_s: float = 8000.0
    spread: float = 0.0
    drift: float = 0.0
    disturbed: float = 0.0
    checkpoint: float = 0.0
    excess: float = 0.0
    search_s: float = 85.0

    def truth(self, hold: float) -> float:
        """The highest load that a share `hold` of the undisturbed, whole windows bears."""
        rng = np.random.default_rng(1)
        log = self.spread * rng.standard_normal(200_000) + np.log1p(self.drift * rng.uniform(-1, 1, 200_000))
        return self.bears_ops_per_s * (1 - self.checkpoint) * math.exp(np.quantile(log, 1 - hold))


@dataclass
class WindowSimulator:
    """Answers probes; what a window bears is drawn anew for each."""

    law: WindowLaw
    seed: int
    clock_s: float = 0.0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([11, self.seed])
        self.direction = self.rng.choice([-1.0, 1.0])

    def execute(self, probe: Probe) -> Trial:
        bears = self._bears(probe)
        self.clock_s += probe.cost_s
        full = bears * (1 + self.law.excess) * math.exp(0.003 * self.rng.standard_normal())
        if probe.target == "null":
            return closed_trial(probe, 1e6)
        if probe.rate_ops_per_s is None:
            return closed_trial(probe, min(1300.0 * probe.connections, full))
        if probe.rate_ops_per_s <= bears:
            return open_trial(probe, TrialOutcome.PASS)
        trial = open_trial(probe, TrialOutcome.FAIL)
        answered = min(full, probe.rate_ops_per_s)
        changed = replace(
            trial.observation,
            throughput_ops_per_s=answered,
            completed_share=answered / probe.rate_ops_per_s,
            measured_s=probe.duration_s,
        )
        return replace(trial, observation=changed)

    def _bears(self, probe: Probe) -> float:
        law = self.law
        through = min(1.0, self.clock_s / law.search_s)
        bears = law.bears_ops_per_s * math.exp(law.spread * self.rng.standard_normal())
        bears *= 1 + self.direction * law.drift * (2 * through - 1)
        if self.rng.random() < law.disturbed:
            bears *= self.rng.uniform(0.3, 0.8)
        if self.rng.random() < probe.duration_s / 60:
            bears *= 1 - law.checkpoint
        return bears

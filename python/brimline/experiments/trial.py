"""Owns the step of an experiment: the probe it asks for, and the trial that came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.observation import Observation

Stage = Literal["calibrate", "sweep", "bracket", "bisect", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One run that an experiment asks for. `rate_ops_per_s` None: closed loop. `label` fits a file name."""

    stage: Stage
    label: str
    target: Literal["null", "server"]
    connections: int
    rate_ops_per_s: float | None
    warmup_s: float
    duration_s: float

    @property
    def cost_s(self) -> float:
        """Time that the probe takes, without connecting and draining."""
        return self.warmup_s + self.duration_s


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolDown:
    """The pause before a probe, which no probe time counts. `waiting_for`: what kept the server from being calm."""

    waited_s: float
    calm: bool
    waiting_for: tuple[str, ...] = ()
    dirty_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A probe and what it showed. `cool_down` is None where there was no server to wait for."""

    probe: Probe
    observation: Observation
    cool_down: CoolDown | None = None


def of_stage(trials: Sequence[Trial], *stages: Stage) -> list[Trial]:
    """The trials of these stages, in order."""
    return [trial for trial in trials if trial.probe.stage in stages]


def spent_s(trials: Sequence[Trial]) -> float:
    """Probe time used so far."""
    return sum(trial.probe.cost_s for trial in trials)


def broken_off(trials: Sequence[Trial]) -> Trial | None:
    """The trial whose run did not go to its end: nothing can be asked after it."""
    return next((trial for trial in trials if trial.observation.ended_by != "completed"), None)

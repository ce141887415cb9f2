"""Owns the step of an experiment: the probe it asks for, and the trial that came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.observation import Observation
from brimline.execution.cool_down import CoolDown
from brimline.plan.pacing import connections_text
from brimline.units import format_count, format_rate
from brimline.wording import message

Stage = Literal["calibrate", "sweep", "search", "verify", "reference", "reused"]
SEARCH_STAGES: tuple[Stage, ...] = ("search", "verify", "reused")
"""Stages whose trials are held to the objective; `reused`: what another objective asked for."""
UP_AGAIN_SHARE = 0.9
"""Of the connections that were up once, this share can be had again."""
OWN_CONNECTIONS = 6
"""Beside a load brimline has so many more: two each for the data, for watching the server and for a look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One run that an experiment asks for. `rate_ops_per_s` None: closed loop. `label` fits a file name.

    With `loops` it is T-L-R: `connections` threads start over `ramp_up_s`, each performs that many operations;
    `duration_s` then is about how long it takes. `goal` names the objective that asked, where there are several.
    `follows_replies`: in a closed loop no reply waits so that several can be taken at once.
    """

    stage: Stage
    label: str
    target: Literal["null", "server"]
    connections: int
    rate_ops_per_s: float | None
    warmup_s: float
    duration_s: float
    loops: int | None = None
    ramp_up_s: float | None = None
    goal: str = ""
    follows_replies: bool = False

    @property
    def text(self) -> str:
        """`the search probe at 9 430 ops/s`, `the sweep probe with 64 connections`."""
        if self.rate_ops_per_s is not None:
            return message("the {stage} probe at {load}", stage=self.stage, load=format_rate(self.rate_ops_per_s))
        if self.loops is not None:
            return message(
                "the {stage} probe at {load}",
                stage=self.stage,
                load=message("T = {count}", count=format_count(self.connections)),
            )
        return message(
            "the {stage} probe with {connections}", stage=self.stage, connections=connections_text(self.connections)
        )

    @property
    def cost_s(self) -> float:
        """Time that the probe takes, without connecting and draining."""
        return self.warmup_s + self.duration_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A probe and what it showed. `took_s`: by the wall clock, with connecting, draining and cooling down, if known.

    `cool_down` is None where there was no server to wait for. `put_back_s`: what of it went by before the run,
    while its data were copied aside or put back. `connections_up`: how many of its connections could be had, None where
    all could; with too few nothing was sent, and its observation is of nothing.
    """

    probe: Probe
    observation: Observation
    cool_down: CoolDown | None = None
    took_s: float | None = None
    put_back_s: float = 0.0
    connections_up: int | None = None

    @property
    def failed(self) -> str:
        """Why it has no figure, though others may: `could not be had: 468 of 512 connections`; "" where it has one."""
        if self.connections_up is None:
            return ""
        return not_had_text(self.connections_up, self.probe.connections)

    @property
    def probe_s(self) -> float:
        """Time that its probe asked for; none of one that could not be had, which sent nothing."""
        return 0.0 if self.failed else self.probe.cost_s

    @property
    def cost_s(self) -> float:
        """Time that the trial took without putting data back, never less than what the probe asked for."""
        return max(self.probe_s, (self.took_s or 0.0) - self.put_back_s)


def not_had_text(up: int, wanted: int) -> str:
    """Of a run that could have only `up` of its connections, which sent nothing."""
    return message("could not be had: {up} of {wanted} connections", up=up, wanted=wanted)


def fewer_connections(up: int) -> int:
    """How many can be had again where `up` could be had once; at least 1.

    Those of brimline's own may not have been there yet.
    """
    return max(1, min(int(UP_AGAIN_SHARE * up), up - OWN_CONNECTIONS))


def of_stage(trials: Sequence[Trial], *stages: Stage) -> list[Trial]:
    """The trials of these stages, in order, also those that could not be had."""
    return [trial for trial in trials if trial.probe.stage in stages]


def null_ceiling(trials: Sequence[Trial]) -> float | None:
    """Throughput of the null target, once it was measured."""
    calibrations = of_stage(trials, "calibrate")
    return calibrations[0].observation.throughput_ops_per_s if calibrations else None


def spent_s(trials: Sequence[Trial], *, elapsed: bool = False) -> float:
    """Time used so far: of the probes, or with `elapsed` by the wall clock."""
    return sum(trial.cost_s if elapsed else trial.probe_s for trial in trials)


def overhead_s(trials: Sequence[Trial]) -> float:
    """Time that a trial takes beyond what its probe asks for, on average."""
    beyond_s = [trial.cost_s - trial.probe_s for trial in trials if not trial.failed]
    return sum(beyond_s) / len(beyond_s) if beyond_s else 0.0


def put_back_each_s(trials: Sequence[Trial]) -> float:
    """Time that putting data back takes before a run, as measured: the first only copies them aside, about as long."""
    took_s = [trial.put_back_s for trial in trials if trial.put_back_s]
    later_s = took_s[1:] or took_s
    return sum(later_s) / len(later_s) if later_s else 0.0


def broken_off(trials: Sequence[Trial]) -> Trial | None:
    """The trial whose run did not go to its end: nothing can be asked after it."""
    return next((trial for trial in trials if trial.observation.ended_by != "completed" and not trial.failed), None)


def connections_below(trials: Sequence[Trial], connections: int) -> int | None:
    """The most connections below so many with which a server was measured; None where it was with no fewer."""
    return max(
        (
            trial.probe.connections
            for trial in trials
            if trial.probe.target == "server"
            and trial.observation.ended_by == "completed"
            and trial.probe.connections < connections
        ),
        default=None,
    )


def lacking(trials: Sequence[Trial]) -> Trial | None:
    """Of the trials that could not have all of their connections, the one that asked for fewest."""
    return min((trial for trial in trials if trial.failed), key=lambda each: each.probe.connections, default=None)


def connections_had(trials: Sequence[Trial]) -> int | None:
    """The most connections that a probe asks for after one could not have all of its own; None where all could."""
    lacks = lacking(trials)
    if lacks is None:
        return None
    measured = connections_below(trials, lacks.probe.connections) or 1
    return max(measured, fewer_connections(lacks.connections_up or 0))

"""Owns searches and runs against the scripted server on a virtual clock: no server, no waiting, known answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.execution import RunContext, Silence, StopToken, execute
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.runner import run_trials
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.trial import Trial
from brimline.plan import Plan, SimulatedTarget, TargetPlan, resolve
from brimline.record import ExperimentWriter, RunRecord
from brimline.spec import Spec, load_spec

Script = Mapping[str, Any]
GENERATOR_NS = 2_000
"""What brimline's own client takes on the virtual clock, unless a test makes it the bottleneck."""


@dataclass(frozen=True, slots=True)
class Search:
    """A finished capacity search."""

    trials: list[Trial]
    conclusion: CapacityConclusion
    directory: Path


def read_only(**overrides: object) -> Spec:
    """YCSB C over 1000 records: one command an operation, so that the script's capacity is the workload's."""
    return load_spec("ycsb-c", overrides={"data.records": 1000, **overrides}).spec


def context() -> RunContext:
    """Surroundings without a server."""
    return RunContext(
        deployment=None, spec_text="name: simulated\n", environment={}, progress=Silence(), stop=StopToken()
    )


def target(script: Script, *, generator_ns: int = GENERATOR_NS) -> SimulatedTarget:
    """The scripted server on a virtual clock."""
    return SimulatedTarget(script=dict(script), generator_ns=generator_ns)


def simulate(script: Script, directory: Path, *, generator_ns: int = GENERATOR_NS, **overrides: object) -> RunRecord:
    """One run of YCSB C, its spec changed by `overrides` (dots written as two underscores)."""
    named = {name.replace("__", "."): value for name, value in overrides.items()}
    plan: Plan = resolve(read_only(**named), target=target(script, generator_ns=generator_ns))
    return execute(plan, directory=directory, title="simulated", context=context())


def search(
    script: Script,
    directory: Path,
    *,
    seed: int,
    settings: CapacitySettings,
    generator_ns: int = GENERATOR_NS,
    spec: Spec | None = None,
    server: TargetPlan | None = None,
) -> Search:
    """A whole search, as `brimline capacity` makes it: on a virtual clock and of reads, but for what is given."""
    experiment = Capacity(settings, seed)
    with ExperimentWriter(
        directory, kind="capacity", name="simulated", settings={}, spec_text="name: simulated\n", environment={}
    ) as writer:
        trials = run_trials(
            experiment,
            spec=spec or read_only(seed=seed),
            target=server or target({**script, "seed": seed}, generator_ns=generator_ns),
            writer=writer,
            context=context(),
        )
        writer.seal(ended_by="completed")
    return Search(trials, experiment.conclude(trials), directory)

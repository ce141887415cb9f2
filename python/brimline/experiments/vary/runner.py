"""Owns making the runs of a factor sweep happen: servers started as they are needed, data loaded once on each."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from brimline.analysis.compared_run import compared_run
from brimline.analysis.data_size import size_on_disk_bytes
from brimline.analysis.durability import record_durability
from brimline.analysis.finding import Standing
from brimline.analysis.lateness import LAG_CHECK
from brimline.analysis.observation import Observation, observe
from brimline.analysis.spoilt import spoilt_text
from brimline.analysis.step_truth import plan_summaries
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.errors import Interrupted
from brimline.execution import MakeDirectory, ProgressSink, RunContext, StopToken, execute, putting_back
from brimline.experiments.cooldown import LIMIT_S_MAX, LIMIT_S_MIN, cool_down
from brimline.experiments.runner import describe_outcome
from brimline.experiments.trial import CoolDown
from brimline.experiments.vary.factors import LOADING
from brimline.experiments.vary.order import (
    Levels,
    RunOutcome,
    Vary,
    VaryLoad,
    VaryProbe,
    VarySettings,
    VaryTrial,
)
from brimline.plan import Plan
from brimline.record import ExperimentWriter, RunRecord
from brimline.units import NS_PER_S
from brimline.wording import joined

LOAD_STAGE = "load"
RUN_STAGE = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a run of one combination needs; its data is in place."""

    plan: Plan
    context: RunContext


class Place(Protocol):
    """A server that is up, for the combinations that share it."""

    def prepare(self, levels: Levels, make_directory: MakeDirectory) -> Setup:
        """Sees to the data of a combination; `make_directory` says where the record of a load goes."""


OpenPlace = Callable[[Levels], AbstractContextManager[Place]]
"""Brings the server of a combination up for the length of a `with` block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryWork:
    """What the effects need."""

    settings: VarySettings
    writer: ExperimentWriter
    open_place: OpenPlace
    progress: ProgressSink
    stop: StopToken


def run_vary(
    machine: Vary, work: VaryWork, *, done: Sequence[VaryTrial] = (), servers_before: int = 0
) -> list[VaryTrial]:
    """Executes runs until `machine` has no more, or the user ends it; a run that was cut short is the last.

    `done` are runs of a sweep that is resumed, on `servers_before` servers. Raises what `execute` and loading raise.
    """
    trials, server = list(done), servers_before
    with ExitStack() as up:
        place: Place | None = None
        current: tuple[object, ...] = ()
        while not work.stop.requested and (probe := machine.next_probe(trials)) is not None:
            began_s = time.monotonic()
            wanted = _server_of(work.settings, probe)
            try:
                if place is None or wanted != current:
                    up.close()
                    place, current, server = up.enter_context(work.open_place(probe.levels)), wanted, server + 1
                directory, trial = _run(probe, place, server, trials, work)
            except Interrupted:
                if not trials:
                    raise
                break
            trials.append(trial)
            if trial.ended_by != "completed":
                break
            took_s = round(time.monotonic() - began_s, 3)
            trials[-1] = replace(trial, took_s=took_s)
            work.writer.end_trial(directory, took_s=took_s)
    return trials


def read_vary_trial(
    probe: VaryProbe,
    record: RunRecord,
    *,
    server: int,
    took_s: float | None = None,
    observation: Observation | None = None,
) -> VaryTrial:
    """What a run shows of its combination, now or years later.

    `observation` is that of the record, where it was made already.
    """
    observation = observe(record) if observation is None else observation
    broken = [
        finding.evidence
        for finding in observation.findings
        if finding.verdict is Standing.FAIL and finding.name not in GENERATOR_CHECKS
    ]
    limits = [
        finding.evidence
        for finding in observation.findings
        if finding.verdict is Standing.FAIL and finding.name in GENERATOR_CHECKS - {LAG_CHECK}
    ]
    outcome = RunOutcome.INVALID if broken else RunOutcome.CLIENT_LIMITED if limits else RunOutcome.COUNTS
    counts = outcome is RunOutcome.COUNTS
    run = compared_run(record, observation=observation)
    spoilt = [text for text in (spoilt_text(run),) if text and counts]
    return VaryTrial(
        probe=probe,
        ended_by=record.ended_by,
        outcome=outcome,
        figures=run.figures if counts else {},
        reasons=tuple(dict.fromkeys([*broken, *limits, *spoilt])),
        server=server,
        server_version=str((record.environment.get("server") or {}).get("version") or ""),
        took_s=took_s,
        observation=observation,
        plans=plan_summaries(record),
        engine=str((record.environment.get("server") or {}).get("engine") or ""),
        durability=record_durability(record),
        size_bytes=size_on_disk_bytes(record),
    )


def read_vary_load(
    record: RunRecord, *, block: int, levels: Levels, server: int, loaded_with: Mapping[str, str]
) -> VaryLoad:
    """What a load shows: documents per second, times of its insert commands, and how long it took."""
    run = compared_run(record)
    return VaryLoad(
        block=block,
        levels=levels,
        server=server,
        figures={} if run.problems else run.figures,
        reasons=run.problems,
        loaded_with=loaded_with,
        took_s=None if record.summary is None else record.summary["elapsed_ns"] / NS_PER_S,
    )


def _loaded_with(settings: VarySettings, levels: Levels) -> dict[str, str]:
    return {name: level for name, level in settings.named(levels).items() if name in LOADING}


def _server_of(settings: VarySettings, probe: VaryProbe) -> tuple[object, ...]:
    """The same for runs that share a server."""
    return (probe.block, *settings.server_levels(probe.levels)) if settings.apart else ("one",)


def _run(
    probe: VaryProbe, place: Place, server: int, trials: Sequence[VaryTrial], work: VaryWork
) -> tuple[Path, VaryTrial]:
    levels = work.settings.load_levels(probe.levels)

    def load_directory(_plan: Plan) -> Path:
        asked = {"stage": LOAD_STAGE, "block": probe.block, "levels": levels, "server": server}
        asked |= {"loaded_with": _loaded_with(work.settings, probe.levels)}
        label = "-".join((str(probe.block), *levels))
        return work.writer.begin_trial(asked, stage=LOAD_STAGE, label=label)

    setup = place.prepare(probe.levels, load_directory)
    cooled = _cool_down(setup, work)
    work.stop.raise_if_requested()
    title = f"run {len(trials) + 1}, block {probe.block}: {describe_levels(work.settings, probe.levels)}"
    directory = work.writer.begin_trial(
        {**asdict(probe), "stage": RUN_STAGE, "server": server},
        stage=RUN_STAGE,
        label=probe.label,
        cool_down=None if cooled is None else asdict(cooled),
    )
    with putting_back(setup.plan, setup.context):
        record = execute(setup.plan, directory=directory, title=title, context=setup.context)
    observation = observe(record)
    trial = read_vary_trial(probe, record, server=server, observation=observation)
    counts = trial.outcome is RunOutcome.COUNTS
    outcome = joined("; ", [*([describe_outcome(observation)] if counts else []), *trial.reasons[:1]])
    work.writer.event("trial", directory=directory.name, outcome=outcome)
    work.progress.outcome(f"{title}: {outcome}")
    return directory, trial


def _cool_down(setup: Setup, work: VaryWork) -> CoolDown | None:
    if setup.context.deployment is None:
        return None
    limit_s = min(max(work.settings.duration_s, LIMIT_S_MIN), LIMIT_S_MAX)
    return cool_down(setup.context.deployment, limit_s=limit_s, dirty_floor=None, stop=work.stop)


def describe_levels(settings: VarySettings, levels: Levels) -> str:
    """`server-version 6.0, connections 16`."""
    return ", ".join(f"{name} {level}" for name, level in settings.named(levels).items())

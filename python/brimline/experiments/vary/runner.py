"""Owns making the runs of a factor sweep happen: servers started as they are needed, data loaded once on each."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from brimline.analysis.compared_run import compared_run, load_kind
from brimline.analysis.data_size import size_on_disk_bytes
from brimline.analysis.durability import record_durability
from brimline.analysis.finding import Standing
from brimline.analysis.lateness import LAG_CHECK
from brimline.analysis.observation import Observation, observe
from brimline.analysis.spoilt import spoilt_text
from brimline.analysis.step_truth import plan_summaries
from brimline.analysis.validity import GENERATOR_CHECKS
from brimline.errors import AnotherServer, BrimlineError, Interrupted, NotAllConnected, NotPutBack
from brimline.execution import MakeDirectory, ProgressSink, RunContext, StopToken, execute, putting_back
from brimline.execution.cool_down import CoolDown, cool_down, cool_down_limit_s
from brimline.experiments.conductor import Made, conduct_trials
from brimline.experiments.measure import Measure
from brimline.experiments.runner import describe_outcome
from brimline.experiments.trial import not_had_text
from brimline.experiments.vary.cost import rest_text
from brimline.experiments.vary.factor_kinds import KINDS
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
from brimline.record.events import fewer_connections_of
from brimline.record.listing import drivers_in, is_record
from brimline.record.model import drivers_of
from brimline.units import NS_PER_S
from brimline.wording import Verbatim, joined, message

LOAD_STAGE = "load"
RUN_STAGE = "run"
MEASURED_LOAD_STAGE = "measured-load"
"""Where loads are what is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a run of one combination needs; its data is in place."""

    plan: Plan
    context: RunContext


class Place(Protocol):
    """A server that is up, for the combinations that share it."""

    def prepare(self, levels: Levels, make_directory: MakeDirectory) -> Setup:
        """Sees to the data of a combination; `make_directory` says where the record of a load goes."""

    def measure(self, levels: Levels, directory: Path, make_directory: MakeDirectory) -> str:
        """Makes another measure than a run in `directory`, or goes on with it; returns what is wrong with it, if so.

        `make_directory` says where the record of a load before it goes.
        """


OpenPlace = Callable[[Levels], AbstractContextManager[Place]]
"""Brings the server of a combination up for the length of a `with` block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryWork:
    """What the effects need.

    `measure`: what is made at each combination in place of a run; `begun`: the directories of those that did not end.
    """

    settings: VarySettings
    writer: ExperimentWriter
    open_place: OpenPlace
    progress: ProgressSink
    stop: StopToken
    measure: Measure | None = None
    begun: Mapping[VaryProbe, Path] = field(default_factory=dict)


def run_vary(
    machine: Vary, work: VaryWork, *, done: Sequence[VaryTrial] = (), servers_before: int = 0
) -> list[VaryTrial]:
    """Executes runs until `machine` has no more, or the user ends it; a run that was cut short is the last.

    `done` are runs of a sweep that is resumed, on `servers_before` servers. Raises what `execute` and loading raise.
    """
    with ExitStack() as up:
        effects = _Cells(work, up, servers_before)
        return conduct_trials(machine, effects, writer=work.writer, stop=work.stop, progress=work.progress, done=done)


class _Cells:
    """Makes each run, or each measure, on the server that it needs."""

    def __init__(self, work: VaryWork, up: ExitStack, server: int) -> None:
        self._work, self._up, self._server = work, up, server
        self._place: Place | None = None
        self._of: tuple[object, ...] = ()

    def perform(self, probe: VaryProbe, trials: Sequence[VaryTrial]) -> Sequence[Made[VaryTrial]]:
        """See `Effects`."""
        wanted = _server_of(self._work.settings, probe)
        if self._place is None or wanted != self._of:
            self._up.close()
            self._place, self._of, self._server = None, wanted, self._server + 1
            try:
                self._place = self._up.enter_context(self._work.open_place(probe.levels))
            except (Interrupted, AnotherServer):
                raise
            except BrimlineError as error:
                if not self._work.settings.apart:
                    raise  # all others have the same server
                return [self._not_up(probe, error)]
        make = _run if self._work.measure is None else partial(_measure, self._work.measure)
        return [make(probe, self._place, self._server, trials, self._work)]

    def _not_up(self, probe: VaryProbe, error: BrimlineError) -> Made[VaryTrial]:
        """A combination whose own server can't be had; those with other servers go on."""
        work, title = self._work, describe_levels(self._work.settings, probe.levels)
        stage = _stage(work.measure)
        asked = {**asdict(probe), "stage": stage, "server": self._server}
        directory = work.begun.get(probe) or work.writer.begin_trial(asked, stage=stage, label=probe.label)
        trial = failed_trial(probe, error.message, server=self._server, name=directory.name)
        return Made(trial=trial, directory=directory, title=title, outcome=error.message, ended=True,
                    failed=error.message)  # fmt: skip


def _stage(measure: Measure | None) -> str:
    """What the record of a combination is called, unlike that of a load before it."""
    name = RUN_STAGE if measure is None else measure.name
    return MEASURED_LOAD_STAGE if name == LOAD_STAGE else name


def failed_trial(
    probe: VaryProbe, reason: str, *, server: int, name: str = "", took_s: float | None = None
) -> VaryTrial:
    """One that ended with an error before anything was measured."""
    return VaryTrial(probe=probe, outcome=RunOutcome.FAILED, reasons=(reason,), server=server, name=name, took_s=took_s)


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
        name=record.directory.name,
        kind=load_kind(record),
        drivers=drivers_of(record.summary),
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
        fewer_connections=fewer_connections_of(record.events),
    )


def _loaded_with(settings: VarySettings, levels: Levels) -> dict[str, str]:
    return {name: level for name, level in settings.named(levels).items() if KINDS[name].is_loading}


def _server_of(settings: VarySettings, probe: VaryProbe) -> tuple[object, ...]:
    """The same for runs that share a server."""
    return (probe.block, *settings.server_levels(probe.levels)) if settings.apart else ("one",)


def _load_directory(probe: VaryProbe, server: int, work: VaryWork) -> MakeDirectory:
    """Where the record of a load for `probe` goes."""
    levels = work.settings.load_levels(probe.levels)

    def make(_plan: Plan) -> Path:
        asked = {"stage": LOAD_STAGE, "block": probe.block, "levels": levels, "server": server}
        asked |= {"loaded_with": _loaded_with(work.settings, probe.levels)}
        label = "-".join((str(probe.block), *levels))
        return work.writer.begin_trial(asked, stage=LOAD_STAGE, label=label)

    return make


def _run(probe: VaryProbe, place: Place, server: int, trials: Sequence[VaryTrial], work: VaryWork) -> Made[VaryTrial]:
    """A run of a combination. One that can't have all of its connections says so, and the others go on."""
    setup = place.prepare(probe.levels, _load_directory(probe, server, work))
    cooled = _cool_down(setup, work)
    work.stop.raise_if_requested()
    title = message(
        "run {number}, block {block}: {levels}",
        number=len(trials) + 1,
        block=probe.block,
        levels=describe_levels(work.settings, probe.levels),
    )
    directory = work.writer.begin_trial(
        {**asdict(probe), "stage": RUN_STAGE, "server": server},
        stage=RUN_STAGE,
        label=probe.label,
        cool_down=None if cooled is None else asdict(cooled),
    )
    try:
        with putting_back(setup.plan, setup.context):
            record = execute(setup.plan, directory=directory, title=title, context=setup.context)
    except NotAllConnected as error:
        reason = not_had_text(error.up, error.wanted)
        trial = failed_trial(probe, reason, server=server, name=directory.name)
        return Made(trial=trial, directory=directory, title=title, outcome=reason, ended=True, failed=reason)
    observation = observe(record)
    trial = read_vary_trial(probe, record, server=server, observation=observation)
    counts = trial.outcome is RunOutcome.COUNTS
    outcome = joined("; ", [*([describe_outcome(observation)] if counts else []), *trial.reasons[:1]])
    ended = trial.ended_by == "completed"
    return Made(trial=trial, directory=directory, title=title, outcome=outcome, ended=ended)


def _measure(
    measure: Measure, probe: VaryProbe, place: Place, server: int, trials: Sequence[VaryTrial], work: VaryWork
) -> Made[VaryTrial]:
    """Another measure than a run. One that fails says so, and the others go on."""
    title = message(
        "{measure} {number}: {levels}",
        measure=measure.name,
        number=len(trials) + 1,
        levels=describe_levels(work.settings, probe.levels),
    )
    first = trials[0].took_s if len(trials) == 1 else None
    if first is not None and work.settings.run_s == 0:
        work.progress.note(rest_text(work.settings, first))
    work.progress.note(title)
    directory = work.begun.get(probe)
    if directory is None:
        asked = {**asdict(probe), "stage": _stage(measure), "server": server}
        directory = work.writer.begin_trial(asked, stage=_stage(measure), label=probe.label)
    try:
        problem = place.measure(probe.levels, directory, _load_directory(probe, server, work))
    except (Interrupted, AnotherServer, NotPutBack):
        raise
    except BrimlineError as error:
        problem = error.message
    if work.stop.requested:
        trial = VaryTrial(probe=probe, ended_by="interrupt", server=server, name=directory.name)
        return Made(trial=trial, directory=directory, title=title, outcome="interrupted", ended=False)
    trial = read_measured_trial(measure, probe, directory, server=server, problem=problem)
    failed = "" if trial.counts else joined("; ", trial.reasons)
    told = joined("; ", [*(each.text for each in list(trial.measured.values())[:1]), *trial.reasons])
    return Made(trial=trial, directory=directory, title=title, outcome=told, ended=True, failed=failed)


def read_measured_trial(
    measure: Measure, probe: VaryProbe, directory: Path, *, server: int, problem: str, took_s: float | None = None
) -> VaryTrial:
    """What the record of another measure than a run shows; `problem`: what was wrong with it, if it has no figure."""
    figures = {} if problem and not is_record(directory) else measure.figures(directory)
    return VaryTrial(
        probe=probe,
        outcome=RunOutcome.COUNTS if figures else RunOutcome.FAILED,
        figures={key: each.value for key, each in figures.items()},
        measured=figures,
        reasons=tuple(dict.fromkeys(each.remark for each in figures.values() if each.remark))
        if figures
        else (problem or "it has no figure",),
        server=server,
        took_s=took_s,
        name=directory.name,
        drivers=drivers_in(directory),
    )


def _cool_down(setup: Setup, work: VaryWork) -> CoolDown | None:
    if setup.context.deployment is None:
        return None
    limit_s = cool_down_limit_s(work.settings.duration_s)
    return cool_down(setup.context.deployment, limit_s=limit_s, dirty_floor=None, stop=work.stop)


def describe_levels(settings: VarySettings, levels: Levels) -> str:
    """`server-version 6.0, connections 16`."""
    return Verbatim(", ".join(f"{name} {level}" for name, level in settings.named(levels).items()))

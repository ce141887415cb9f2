"""Owns making the runs of an interference experiment happen: alone and with the background, on one server."""

from collections.abc import Sequence
from dataclasses import asdict

from brimline.analysis.background import coverage, measured_window
from brimline.analysis.compared_run import ComparedRun, compared_run
from brimline.analysis.observation import observe
from brimline.execution import RunContext, execute, putting_back
from brimline.execution.background import Background
from brimline.experiments.paired.interference import Interference, SideProbe, SideTrial
from brimline.experiments.runner import describe_outcome
from brimline.plan import Plan
from brimline.record import ExperimentRecord, ExperimentWriter, RunRecord, read_record
from brimline.record.background import read_activity, write_activity

# The server's counters hold the background's commands too; what the generator sent is known from its own counts.
_NOT_ASKED_WITH_BACKGROUND = frozenset({"opcounters"})


def run_sides(
    machine: Interference,
    *,
    plan: Plan,
    context: RunContext,
    background: Background,
    writer: ExperimentWriter,
    trials: Sequence[SideTrial] = (),
) -> list[SideTrial]:
    """Executes runs until `machine` has no more, or the user ends it; `trials` are those made before.

    Raises what `execute` raises, and TargetError when the background can't be begun.
    """
    made = list(trials)
    while (probe := machine.next_probe(made)) is not None and not context.stop.requested:
        title = f"run {len(made) + 1}, pair {probe.pair}: {_side_text(probe, background)}"
        directory = writer.begin_trial(asdict(probe), stage="side", label=probe.label)
        if probe.side == "B":
            background.start()
        with putting_back(plan, context):
            try:
                record = execute(plan, directory=directory, title=title, context=context)
            finally:
                if probe.side == "B":
                    write_activity(directory, background.stop())
                    background.clean()
        trial = side_trial(probe, record)
        made.append(trial)
        outcome = trial.problem or describe_outcome(observe(record))
        writer.event("trial", directory=directory.name, outcome=outcome)
        context.progress.outcome(f"{title}: {outcome}")
    return made


def side_trial(probe: SideProbe, record: RunRecord) -> SideTrial:
    """What a run means for the order of runs."""
    problems = side_run(probe, record).problems
    return SideTrial(probe=probe, completed=record.complete, problem=problems[0] if problems else None)


def side_run(probe: SideProbe, record: RunRecord) -> ComparedRun:
    """A run as the comparison needs it; with a background that wasn't at work it proves nothing."""
    if probe.side == "A":
        return compared_run(record)
    run = compared_run(record, not_asked=_NOT_ASKED_WITH_BACKGROUND)
    activity, window = read_activity(record.directory), measured_window(record)
    if activity is None or window is None:
        return run.with_problem("nothing is known of the background")
    problem = coverage(activity, window).problem
    return run if problem is None else run.with_problem(problem)


def side_records(experiment: ExperimentRecord) -> list[tuple[SideProbe, RunRecord]]:
    """The runs as they lie on disk, in the order in which they were made. Raises RecordError."""
    return [
        (SideProbe(side=entry.probe["side"], pair=int(entry.probe["pair"])), read_record(entry.directory))
        for entry in experiment.trials
    ]


def _side_text(probe: SideProbe, background: Background) -> str:
    return "alone" if probe.side == "A" else f"with {background.kind}"

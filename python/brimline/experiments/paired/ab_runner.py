"""Owns making the runs of an A/B comparison happen, arm by arm, on one server."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from brimline.analysis.finding import Standing
from brimline.analysis.observation import Observation, observe
from brimline.errors import RecordError
from brimline.execution import RunContext, execute, putting_back
from brimline.experiments.paired.ab import AB, ABSettings, Arm, ArmProbe, ArmTrial
from brimline.experiments.runner import describe_outcome
from brimline.plan import Plan
from brimline.record import ExperimentRecord, ExperimentWriter, RunRecord, read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlan:
    """What an arm runs. `context` holds the text of its spec."""

    plan: Plan
    context: RunContext


def run_arms(
    machine: AB,
    *,
    arms: Mapping[Arm, ArmPlan],
    writer: ExperimentWriter,
    total: int,
    done: Sequence[ArmTrial] = (),
) -> list[ArmTrial]:
    """Executes runs until `machine` has no more, or the user ends it; a run that was cut short is the last.

    The first run that fell behind its rate is told at once.
    `done` are runs of a comparison that is resumed. Raises what `execute` raises.
    """
    trials = list(done)
    warned = False
    while (probe := machine.next_probe(trials)) is not None:
        arm = arms[probe.arm]
        if arm.context.stop.requested:
            break
        title = f"run {len(trials) + 1} of {total}: {_arm_text(probe)}"
        directory = writer.begin_trial(asdict(probe), stage="arm", label=probe.label)
        with putting_back(arm.plan, arm.context):
            record = execute(arm.plan, directory=directory, title=title, context=arm.context)
        trials.append(ArmTrial(probe=probe, completed=record.complete))
        observation = observe(record)
        outcome = describe_outcome(observation)
        writer.event("trial", directory=directory.name, outcome=outcome)
        arm.context.progress.outcome(f"{title}: {outcome}")
        if not warned and (behind := fell_behind(observation)):
            warned = True
            arm.context.progress.note(f"warning: {title}: {behind}; a lower rate would tell more about the server")
    return trials


def fell_behind(observation: Observation) -> str:
    """How a run did not offer the rate that was asked for; "" where it did, and of a closed loop, which has none."""
    late = [
        each.evidence
        for each in observation.findings
        if each.name in ("generator_lag", "sent") and each.verdict in (Standing.WARN, Standing.FAIL)
    ]
    return "; ".join(late)


def stored_arm_trials(experiment: ExperimentRecord) -> list[ArmTrial]:
    """The runs that a comparison has already made, as far as they count. Raises RecordError."""
    try:
        probes = [ArmProbe(**entry.probe) for entry in experiment.trials]
    except TypeError as error:
        raise RecordError(f"the runs in {experiment.directory} can't be read: {error}") from error
    return [ArmTrial(probe=probe, completed=True) for probe in probes]


def stored_ab_settings(experiment: ExperimentRecord) -> ABSettings:
    """The settings of a comparison as they were stored. Raises RecordError."""
    stored = {key: value for key, value in experiment.settings.items() if key != "seed"}
    try:
        return ABSettings(**stored)
    except (TypeError, ValueError) as error:
        raise RecordError(f"the settings in {experiment.directory} can't be read: {error}") from error


def arm_records(experiment: ExperimentRecord) -> Mapping[Arm, Sequence[RunRecord]]:
    """The runs of each arm as they lie on disk, in the order in which they were made. Raises RecordError."""
    records: dict[Arm, list[RunRecord]] = {}
    for entry in experiment.trials:
        records.setdefault(entry.probe.get("arm", "A"), []).append(read_record(entry.directory))
    return records


def _arm_text(probe: ArmProbe) -> str:
    return "A against itself" if probe.arm == "A2" else probe.arm

"""Owns what comparisons in pairs have in common: their runs in a place that is up, and a target that went away."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brimline.analysis.comparison import Comparison
from brimline.api.compared_record import read_compared
from brimline.api.workplace import Workplace
from brimline.errors import TargetError
from brimline.experiments.conductor import conduct_trials
from brimline.experiments.paired.order import Arm, PairProbe, Pairs, PairTrial
from brimline.experiments.paired.runner import ArmPlan, PairedRuns, pair_entries, pair_trial
from brimline.record import ExperimentWriter, read_experiment, read_record
from brimline.record.layout import TARGET_LOST


def run_pairs(
    place: Workplace, order: Sequence[Arm], pairs: int, arms: Mapping[Arm, ArmPlan], writer: ExperimentWriter
) -> None:
    """Makes the runs of `order` that are not there yet, until `pairs` count. Raises BrimlineError; what ran is kept."""
    entries = pair_entries(read_experiment(writer.directory))
    begun = {probe: each.directory for probe, each in entries if arms[probe.arm].measured and each.took_s is None}
    conduct_trials(
        Pairs(order, pairs, place.spec.seed),
        PairedRuns(arms=arms, writer=writer, pairs=pairs, begun=begun),
        writer=writer,
        stop=place.stop,
        progress=place.context.progress,
        done=[_done(probe, each.directory, arms[probe.arm]) for probe, each in entries if probe not in begun],
    )


def _done(probe: PairProbe, directory: Path, arm: ArmPlan) -> PairTrial:
    if arm.measured is None:
        return pair_trial(probe, read_record(directory), with_background=bool(arm.beside))
    problems = read_compared(directory).problems
    return PairTrial(probe=probe, completed=True, problem=problems[0] if problems else None)


def target_lost(comparison: Comparison, *, hint: str) -> TargetError | None:
    """The error of a comparison during which the target went away; None where it stayed."""
    lost = next((run for run in comparison.left_out if run.ended_by == TARGET_LOST), None)
    return None if lost is None else TargetError(f"the target went away: {lost.reason}", hint=hint)

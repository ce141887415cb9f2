"""Owns what comparisons in pairs have in common: their runs in a place that is up, and a target that went away."""

from collections.abc import Mapping, Sequence

from brimline.analysis.comparison import Comparison
from brimline.api.workplace import Workplace
from brimline.errors import TargetError
from brimline.experiments.conductor import conduct_trials
from brimline.experiments.paired.order import Arm, Pairs
from brimline.experiments.paired.runner import ArmPlan, PairedRuns, pair_records, pair_trial
from brimline.record import ExperimentWriter, read_experiment
from brimline.record.layout import TARGET_LOST


def run_pairs(
    place: Workplace, order: Sequence[Arm], pairs: int, arms: Mapping[Arm, ArmPlan], writer: ExperimentWriter
) -> None:
    """Makes the runs of `order` that are not there yet, until `pairs` count. Raises BrimlineError; what ran is kept."""
    conduct_trials(
        Pairs(order, pairs, place.spec.seed),
        PairedRuns(arms=arms, writer=writer),
        writer=writer,
        stop=place.stop,
        progress=place.context.progress,
        done=[
            pair_trial(probe, record, with_background=arms[probe.arm].beside is not None)
            for probe, record in pair_records(read_experiment(writer.directory))
        ],
    )


def target_lost(comparison: Comparison, *, hint: str) -> TargetError | None:
    """The error of a comparison during which the target went away; None where it stayed."""
    lost = next((run for run in comparison.left_out if run.ended_by == TARGET_LOST), None)
    return None if lost is None else TargetError(f"the target went away: {lost.reason}", hint=hint)

"""Owns making the runs of a soak happen, and reading them back."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from brimline.analysis.soak import LOOKED_AT, PartRecord
from brimline.execution import RunContext, execute_unread, putting_back
from brimline.experiments.conductor import Made
from brimline.experiments.soak.order import SoakProbe, SoakSettings, SoakTrial, soak_spec
from brimline.experiments.stored import read_part
from brimline.plan import TargetPlan, resolve
from brimline.record import ExperimentRecord, ExperimentWriter
from brimline.record.coarse import read_coarse
from brimline.spec import Spec
from brimline.spec.load_models import ConstantLoad, Load, PoissonLoad
from brimline.units import NS_PER_S, format_duration, format_rate
from brimline.wording import message


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakRuns:
    """The effects of a soak: one run of the workload a probe."""

    settings: SoakSettings
    spec: Spec
    target: TargetPlan
    writer: ExperimentWriter
    context: RunContext

    def perform(self, probe: SoakProbe, trials: Sequence[SoakTrial]) -> Sequence[Made[SoakTrial]]:
        """Runs, and puts the data back. Raises what `execute` raises."""
        del trials
        spec = soak_spec(self.spec, self.settings, probe)
        plan = resolve(spec, target=self.target)
        directory = self.writer.begin_trial(asdict(probe), stage=probe.stage, label=str(probe.number),
                                            counts_in_part=probe.stage == "part")  # fmt: skip
        title = describe_probe(probe, spec.load)
        with putting_back(plan, self.context):
            execute_unread(plan, directory=directory, title=title, context=self.context)
        part = read_soaked(directory)
        trial = _trial(probe, part)
        outcome = format_rate(trial.throughput_ops_per_s)
        return (Made(trial=trial, directory=directory, title=title, outcome=outcome, ended=part.record.complete),)


def describe_probe(probe: SoakProbe, load: Load) -> str:
    """One line: what is asked, by a probe whose run has this `load`."""
    length = format_duration(probe.duration_s * NS_PER_S)
    if not isinstance(load, ConstantLoad | PoissonLoad):
        return message("how much it answers in a closed loop of {length}", length=length)
    return message("soak of {length} at {rate}", length=length, rate=format_rate(load.rate_ops_per_s))


def stored_soak(experiment: ExperimentRecord) -> list[tuple[SoakTrial, PartRecord]]:
    """Every run that was begun, in order, with its record in blocks. Raises RecordError."""
    found = []
    for entry in experiment.trials:
        part = read_soaked(entry.directory)
        found.append((_trial(read_part(SoakProbe, entry.probe, "trial"), part, took_s=entry.took_s), part))
    return found


def read_soaked(directory: Path) -> PartRecord:
    """One run in blocks. Raises RecordError."""
    return PartRecord.of(read_coarse(directory, looked_at=LOOKED_AT))


def _trial(probe: SoakProbe, part: PartRecord, *, took_s: float | None = None) -> SoakTrial:
    return SoakTrial(
        probe=probe,
        measured_s=part.measured_s,
        throughput_ops_per_s=part.answered / part.measured_s if part.measured_s else 0.0,
        ended_by=part.record.ended_by,
        took_s=took_s,
    )

"""Owns making the runs of a comparison in pairs happen, arm by arm, on one server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from brimline.analysis.background import coverage, measured_window
from brimline.analysis.compared_run import ComparedRun, compared_run
from brimline.analysis.finding import Standing
from brimline.analysis.observation import Observation, observe
from brimline.execution import RunContext, execute, putting_back
from brimline.execution.background import Background
from brimline.experiments.compared import COMPLETED
from brimline.experiments.conductor import Made
from brimline.experiments.paired.order import Arm, PairProbe, PairTrial, made_again
from brimline.experiments.runner import describe_outcome, tell_put_back
from brimline.experiments.stored import read_part
from brimline.plan import Plan
from brimline.record import ExperimentRecord, ExperimentWriter, RunRecord, TrialEntry, read_record
from brimline.record.background import BACKGROUND_FILE, Activity, read_activities, write_activities
from brimline.record.events import put_back_s
from brimline.units import NS_PER_S
from brimline.wording import joined, message

# The server's counters hold the background's commands too; what the generator sent is known from its own counts.
_NOT_ASKED_WITH_BACKGROUND = frozenset({"opcounters"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlan:
    """What an arm runs. `context` holds the text of its spec; `beside`: what goes on as well.

    `title` is for people, `label` fits a file name. `measured`: makes a search in a directory instead of a run, or goes
    on with the one there, and says what it found, also in a line.
    """

    plan: Plan
    context: RunContext
    title: str
    label: str
    beside: Sequence[Background] = ()
    measured: Callable[[Path], tuple[ComparedRun, str]] | None = None


@dataclass(slots=True, kw_only=True)
class PairedRuns:
    """The effects of a comparison. The first run that fell behind its rate is told at once.

    `pairs`: how many are to count. `begun`: searches that did not come to their end, which are gone on with.
    """

    arms: Mapping[Arm, ArmPlan]
    writer: ExperimentWriter
    pairs: int
    begun: Mapping[PairProbe, Path] = field(default_factory=dict)
    has_warned: bool = field(default=False, init=False)
    has_told_put_back: bool = field(default=False, init=False)

    def perform(self, probe: PairProbe, trials: Sequence[PairTrial]) -> Sequence[Made[PairTrial]]:
        """Runs an arm. Raises what `execute` raises, and TargetError when the background can't be begun."""
        made = self._performed(probe, trials)
        if made.trial.completed and made.trial.problem is not None:
            made = replace(made, outcome=joined("; ", (made.outcome, self._what_follows([*trials, made.trial]))))
        return (made,)

    def _what_follows(self, trials: Sequence[PairTrial]) -> str:
        """What becomes of the pair whose last run proves nothing."""
        failed = len({each.probe.pair for each in trials if each.problem is not None})
        pair, again = trials[-1].probe.pair, made_again(failed, self.pairs)
        if again is None:
            return message(
                "pair {pair} proves nothing, and is not made again: {count} were", pair=pair, count=failed - 1
            )
        return message("pair {pair} proves nothing: it is made again, as pair {again}", pair=pair, again=again)

    def _performed(self, probe: PairProbe, trials: Sequence[PairTrial]) -> Made[PairTrial]:
        arm = self.arms[probe.arm]
        what = "run" if arm.measured is None else "search"
        title = message(
            "{what} {number}, pair {pair}: {arm}", what=what, number=len(trials) + 1, pair=probe.pair, arm=arm.title
        )
        if arm.measured is not None:
            return self._measured(probe, title, arm.measured, label=arm.label)
        directory = self.writer.begin_trial(
            asdict(probe),
            stage="arm",
            label=f"{arm.label}-{probe.pair}",
            needs="" if not arm.beside else BACKGROUND_FILE,
        )
        with putting_back(arm.plan, arm.context), _beside(arm.beside, directory):
            record = execute(arm.plan, directory=directory, title=title, context=arm.context)
        self._tell_put_back(record, arm.context, left=self.pairs * len(self.arms) - len(trials) - 1)
        observation = observe(record)
        trial = pair_trial(probe, record, with_background=bool(arm.beside), observation=observation)
        made = Made(
            trial=trial,
            directory=directory,
            title=title,
            outcome=trial.problem or describe_outcome(observation),
            ended=trial.completed,
        )
        if not arm.beside and not self.has_warned and (behind := fell_behind(observation)):
            self.has_warned = True
            arm.context.progress.note(f"warning: {title}: {behind}; a lower rate would tell more about the server")
        return made

    def _tell_put_back(self, record: RunRecord, context: RunContext, *, left: int) -> None:
        """Once, after the first run where putting data back is worth telling: what it takes `left` further runs."""
        took_s = put_back_s(record.events)
        if took_s and not self.has_told_put_back and record.summary is not None:
            left_s = max(left, 0) * (took_s + record.summary["elapsed_ns"] / NS_PER_S)
            self.has_told_put_back = tell_put_back(context, took_s, left_s=left_s)

    def _measured(
        self, probe: PairProbe, title: str, measure: Callable[[Path], tuple[ComparedRun, str]], *, label: str
    ) -> Made[PairTrial]:
        directory = self.begun.get(probe) or self.writer.begin_trial(
            asdict(probe), stage="arm", label=f"{label}-{probe.pair}"
        )
        found, outcome = measure(directory)
        completed = found.ended_by == COMPLETED
        trial = PairTrial(probe=probe, completed=completed, problem=found.problems[0] if found.problems else None)
        return Made(trial=trial, directory=directory, title=title, outcome=outcome, ended=completed)


@contextmanager
def _beside(backgrounds: Sequence[Background], directory: Path) -> Iterator[None]:
    """The backgrounds at work for the length of the `with` block; what they did is stored beside the run."""
    if not backgrounds:
        yield
        return
    begun: list[Background] = []
    activities: list[Activity] = []
    try:
        for each in backgrounds:
            begun.append(each)
            each.start()
        yield
    finally:
        activities += [each.stop() for each in begun]
        write_activities(directory, activities)
        for each in begun:
            each.clean()


def fell_behind(observation: Observation) -> str:
    """How a run did not offer the rate that was asked for; "" where it did, and of a closed loop, which has none."""
    late = [
        each.evidence
        for each in observation.findings
        if each.name in ("generator_lag", "sent") and each.verdict in (Standing.WARN, Standing.FAIL)
    ]
    return "; ".join(late)


def pair_trial(
    probe: PairProbe, record: RunRecord, *, with_background: bool, observation: Observation | None = None
) -> PairTrial:
    """What a run means for the order of runs."""
    problems = paired_run(record, with_background=with_background, observation=observation).problems
    return PairTrial(probe=probe, completed=record.complete, problem=problems[0] if problems else None)


def paired_run(record: RunRecord, *, with_background: bool, observation: Observation | None = None) -> ComparedRun:
    """A run as the comparison needs it; with a background that wasn't at work it proves nothing."""
    if not with_background:
        return compared_run(record, observation=observation)
    run = compared_run(record, not_asked=_NOT_ASKED_WITH_BACKGROUND, observation=observation)
    activities, window = read_activities(record.directory), measured_window(record)
    if not activities or window is None:
        return run.with_problem("nothing is known of the background")
    for each in activities:
        if (problem := coverage(each, window).problem) is not None:
            run = run.with_problem(problem)
    return run


def pair_entries(experiment: ExperimentRecord) -> list[tuple[PairProbe, TrialEntry]]:
    """What was asked for and where it lies, in the order in which it was made. Raises RecordError."""
    return [
        (read_part(PairProbe, {_RENAMED.get(name, name): value for name, value in entry.probe.items()}, "trial"), entry)
        for entry in experiment.trials
    ]


def pair_records(experiment: ExperimentRecord) -> list[tuple[PairProbe, RunRecord]]:
    """The runs as they lie on disk, in the order in which they were made. Raises RecordError."""
    return [(probe, read_record(entry.directory)) for probe, entry in pair_entries(experiment)]


_RENAMED = {"side": "arm", "number": "pair"}
"""As older comparisons called them."""

"""An experiment that is killed at any moment, and gone on with each time, has the cells that it would have had."""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from brimline.execution import Silence, StopToken
from brimline.experiments.capacity.frontier import Frontier, FrontierSettings
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.conductor import Machine, Made, conduct_trials
from brimline.experiments.growth.order import Growth, GrowthSettings, GrowthTask, IndexSet
from brimline.experiments.paired.order import PairProbe, Pairs, PairTrial
from brimline.experiments.scan.order import Scan, ScanMade, ScanProbe
from brimline.experiments.scan.stored import stored_queries
from brimline.experiments.settings import SweepSettings, quick
from brimline.experiments.stored import read_part
from brimline.experiments.sweep import Sweep
from brimline.experiments.trial import Probe
from brimline.experiments.vary.order import Vary, VaryProbe
from brimline.record import ExperimentRecord, ExperimentWriter, read_experiment
from brimline.record.files import replace_json
from brimline.record.layout import FORMAT_VERSION

from .growth_simulator import GrowingServer
from .vary_simulator import Machine as VaryMachine
from .vary_simulator import settings_of
from .window_simulator import WindowLaw, WindowSimulator

KILLS = 10
FACTS = "facts.json"


class Killed(BaseException):
    """The process is gone: nothing that stands behind this runs."""


@dataclass(frozen=True)
class Subject:
    """An experiment: its machine, the type of its probes, and what each shows, which follows from the probe alone."""

    machine: Callable[[], Machine[Any, Any]]
    probe: type
    answer: Callable[[Any], Any]
    stored: Callable[[ExperimentRecord], list[Any]] = lambda _experiment: []


VARIED = settings_of("connections=1,8", "cache=1,2", blocks=2, blocks_max=2)
LIMITS = FrontierSettings(search=quick(), limits_ns=(5_000_000, 20_000_000))
GROWN = GrowthSettings(
    to_records=2000, step_records=1000, connections=(1, 2), queries=(100,), repeats=2,
    indexes=(IndexSet.PRIMARY, IndexSet.SINGLE),
)  # fmt: skip
ASKED = [ScanProbe(scenario=0, name="a"), *(ScanProbe(scenario=1, name="b", width=10**size) for size in range(4))]


def _searched(probe: Probe) -> Any:
    return WindowSimulator(WindowLaw(spread=0.02), seed=hash_of(probe)).execute(probe)


def _paired(probe: PairProbe) -> PairTrial:
    problem = "counts disagree" if (probe.pair, probe.arm) == (2, "B") else None
    return PairTrial(probe=probe, completed=True, problem=problem)


def hash_of(probe: object) -> int:
    """The same in each process."""
    return sum(repr(probe).encode())


SUBJECTS = {
    "sweep": Subject(lambda: Sweep(SweepSettings(repeats=2), 1), Probe, _searched),
    "capacity": Subject(lambda: Capacity(replace(quick(), windows_max=6), 1), Probe, _searched),
    "frontier": Subject(
        lambda: Frontier(replace(LIMITS, search=replace(LIMITS.search, windows_max=4)), 1), Probe, _searched
    ),
    "growth": Subject(
        lambda: Growth(GROWN), GrowthTask, lambda probe: GrowingServer(noise=0.0, drift=0.0).answer(probe)
    ),
    "pairs": Subject(lambda: Pairs(("A", "B", "A2"), 4, 1), PairProbe, _paired),
    "scan": Subject(lambda: Scan(ASKED), ScanProbe, lambda probe: ScanMade(probe=probe), stored_queries),
    "vary": Subject(
        lambda: Vary(VARIED, 1),
        VaryProbe,
        lambda probe: VaryMachine(VARIED, lambda _levels: 1000.0, seed=1).run(probe),
    ),
}


class FragileWriter(ExperimentWriter):
    """Where its process may be killed before and behind each thing that it writes."""

    moment: Callable[[], None]

    def begin_trial(self, probe: Any, **named: Any) -> Path:
        self.moment()
        directory = super().begin_trial(probe, **named)
        self.moment()
        return directory

    def end_trial(self, directory: Path, **named: Any) -> None:
        self.moment()
        super().end_trial(directory, **named)
        self.moment()


@dataclass(frozen=True)
class Effects:
    """Each probe is a record, and a file beside it that is written when the run is over."""

    subject: Subject
    writer: ExperimentWriter
    moment: Callable[[], None]

    def perform(self, probe: Any, trials: Sequence[Any]) -> Sequence[Made[Any]]:
        together = probe if isinstance(probe, tuple) else (probe,)
        directories = [
            self.writer.begin_trial(asdict(each), stage="cell", label=f"{number}", needs=FACTS)
            for number, each in enumerate(together)
        ]
        made = []
        for directory, each in zip(directories, together, strict=True):
            replace_json(directory / "record.json", {"format_version": FORMAT_VERSION, "ended_by": None})
            self.moment()
            replace_json(directory / "record.json", {"format_version": FORMAT_VERSION, "ended_by": "completed"})
            self.moment()
            replace_json(directory / FACTS, {})
            trial = self.subject.answer(each)
            made.append(Made(trial=trial, directory=directory, title="", outcome="", ended=True))
        return made


def _probes(subject: Subject, experiment: ExperimentRecord) -> list[Any]:
    return [read_part(subject.probe, entry.probe, "trial") for entry in experiment.trials]


def _conduct(subject: Subject, directory: Path, moment: Callable[[], None]) -> list[Any]:
    """Begins the experiment or goes on with it; its probes, as they lie on the disk in the end."""
    if (directory / "experiment.json").exists():
        writer: ExperimentWriter = FragileWriter.reopen(directory, settings={})
    else:
        writer = FragileWriter(directory, kind="any", name="any", settings={}, spec_text="", environment={})
    writer.moment = moment  # type: ignore[attr-defined]
    with writer:
        before = read_experiment(directory)
        assert all((entry.directory / FACTS).exists() for entry in before.trials), "without it a trial did not end"
        done = subject.stored(before) or [subject.answer(probe) for probe in _probes(subject, before)]
        conduct_trials(
            subject.machine(),
            Effects(subject, writer, moment),
            writer=writer,
            stop=StopToken(),
            progress=Silence(),
            done=done,
        )
        writer.seal(ended_by="completed")
    return _probes(subject, read_experiment(directory))


@pytest.mark.parametrize("kind", SUBJECTS)
@pytest.mark.parametrize("seed", range(2))
def test_any_experiment_has_the_same_cells_and_none_twice(kind: str, seed: int, tmp_path: Path) -> None:
    subject, rng, kills = SUBJECTS[kind], random.Random(f"{kind} {seed}"), 0
    whole = _conduct(subject, tmp_path / "whole", lambda: None)

    def moment() -> None:
        if kills < KILLS and rng.random() < 0.1:
            raise Killed

    while True:
        try:
            survived = _conduct(subject, tmp_path / "killed", moment)
        except Killed:
            kills += 1
        else:
            break
    assert kills > 1
    assert sorted(survived, key=repr) == sorted(whole, key=repr)  # searches ask for some loads several times
    if kind != "scan":  # of which the widths of a range take turns
        assert survived == whole

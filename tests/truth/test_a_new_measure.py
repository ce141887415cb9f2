"""A measure that nobody has heard of: with what ARCHITECTURE asks of a new one, and nothing more, it works everywhere.

It runs the workload a few times, and its figure is the highest throughput.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from brimline.analysis.figure import Figure
from brimline.api import kinds
from brimline.api.kinds import Kind, MeasureInPlace, conduct, go_on
from brimline.api.options import Options
from brimline.api.recording import recording
from brimline.api.reopen import open_result
from brimline.api.results import RunResult
from brimline.api.run_result import run_result
from brimline.api.vary import vary
from brimline.api.workload import load_workload
from brimline.api.workplace import Workplace
from brimline.execution.progress import SoFar
from brimline.experiments.cost import StageCost, TimeEstimate
from brimline.experiments.measure import Measure
from brimline.experiments.runner import run_trials
from brimline.experiments.stored import stored_settings, stored_trials
from brimline.experiments.trial import Probe, Trial
from brimline.plan import resolve
from brimline.record import ExperimentRecord, read_experiment, read_record

# experiments/best.py: what it is asked for, what comes next, and what it shows.


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSettings:
    runs: int = 2
    duration_s: float = 0.05


class Best:
    def __init__(self, settings: BestSettings) -> None:
        self._settings = settings

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        number = len(trials) + 1
        if number > self._settings.runs:
            return None
        return Probe(stage="sweep", label=f"run {number}", target="server", connections=2, rate_ops_per_s=None,
                     warmup_s=0.0, duration_s=self._settings.duration_s)  # fmt: skip

    def so_far(self, trials: Sequence[Trial]) -> SoFar:
        return SoFar(unit="runs", figure=float(len(trials)))


def best_time(settings: BestSettings) -> TimeEstimate:
    stage = StageCost("run", settings.runs, settings.duration_s)
    return TimeEstimate(typical_s=stage.total_s, max_s=stage.total_s, stages=(stage,))


def _figures(directory: Path) -> Mapping[str, Figure]:
    best = max(trial.observation.throughput_ops_per_s for trial in stored_trials(read_experiment(directory)))
    return {"best": Figure(key="best", value=best, unit="ops/s", label="Best", higher_is_better=True)}


# api/best.py: how it is made in a place, and what its record shows.


def best_in(place: Workplace, settings: BestSettings, *, directory: Path | None = None, resume: bool = False) -> Path:
    plan = resolve(place.spec, target=place.target)
    place.prepare()
    with recording(place, plan, kind="best", settings=asdict(settings), directory=directory, resume=resume) as writer:
        run_trials(
            Best(settings),
            spec=place.spec,
            target=place.target,
            writer=writer,
            context=place.context,
            done=stored_trials(read_experiment(writer.directory)),
        )
    return writer.directory


def _result(experiment: ExperimentRecord) -> RunResult:
    last = run_result(read_record(experiment.trials[-1].directory), None)
    return replace(last, directory=experiment.directory)


KIND = Kind(
    kind="best",
    verb="best",
    made_in=best_in,
    stored=partial(stored_settings, BestSettings),
    result=_result,
    estimate=lambda _spec, settings: best_time(settings),
)
MEASURE = MeasureInPlace(
    measure=Measure(
        name="best",
        kind="best",
        figures=_figures,
        meaningless={"rate": "its runs are closed loops"},
        has_interval=False,
    ),
    made_in=best_in,
    settings=lambda _spec, said: BestSettings(**said),
    estimate=lambda _spec, settings: best_time(settings),
)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The row in api/kinds.py."""
    monkeypatch.setitem(sys.modules, "brimline.api.best", sys.modules[__name__])
    monkeypatch.setitem(kinds._VERBS, "best", kinds._Verb(module="best", kinds={"best": "KIND"}))
    yield


def test_it_is_conducted_gone_on_with_and_opened_like_any_other(tmp_path: Path) -> None:
    options = Options(null=True, runs_dir=tmp_path)
    result = conduct(KIND, load_workload("ycsb-c"), BestSettings(runs=3), options)
    assert len(read_experiment(result.directory).trials) == 3
    assert go_on(result.directory, options, KIND).directory == result.directory
    assert len(read_experiment(result.directory).trials) == 3, "nothing was left to do"
    assert open_result(result.directory).directory == result.directory


def test_it_is_crossed_with_any_factor_that_it_has_a_meaning_for(tmp_path: Path) -> None:
    options = Options(null=True, runs_dir=tmp_path)
    settings = {"blocks": 1, "blocks_max": 1}
    result = vary("ycsb-c", factors=["records=100,200"], measure="best", said={"runs": 1}, settings=settings,
                  options=options)  # fmt: skip
    assert [trial.probe.levels for trial in sorted(result.trials, key=lambda each: each.probe.levels)] == [
        ("100",),
        ("200",),
    ]
    assert all(trial.figures["best"] > 0 for trial in result.trials)
    with pytest.raises(Exception, match="closed loops"):
        vary("ycsb-c", factors=["rate=100/s,200/s"], measure="best", options=options)

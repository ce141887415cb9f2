"""Factor sweeps of a scripted server on a virtual clock: what differs is known beforehand, and so is what doesn't."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.judged_change import ChangeVerdict
from brimline.api.variants import run_plan
from brimline.api.vary import vary_result
from brimline.errors import BrimlineError, ExitCode, Interrupted
from brimline.execution import Silence, StopToken
from brimline.experiments.vary.conclusion import VaryConclusion
from brimline.experiments.vary.order import VARY_KIND, Levels, RunOutcome, Vary, VarySettings, VaryTrial
from brimline.experiments.vary.runner import MakeDirectory, Setup, VaryWork, run_vary
from brimline.experiments.vary.stored import servers_started, settings_document, stored_vary_trials
from brimline.record import ExperimentWriter, read_experiment
from tests.support.simulation import context, read_only, target
from tests.unit.experiments.vary_simulator import settings_of

CAPACITY_OPS_PER_S = 1000.0
SERVICE_S = 0.002
FASTER = {"A": 1.0, "B": 1.2}
EQUAL = {"A": 1.0, "B": 1.0}
CROSSED = ("mongod=A,B", "connections=1,8,32")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


class Scripted:
    """Servers whose capacity depends on the level of `mongod`; a run's chance on its combination and its place."""

    def __init__(self, settings: VarySettings, factors: Mapping[str, float], stop: StopToken, *, stop_after: int = 0):
        self._settings, self._factors, self._stop, self._stop_after = settings, factors, stop, stop_after
        self.opened: list[Levels] = []
        self._counts: dict[Levels, int] = {}

    @contextmanager
    def open(self, levels: Levels) -> Iterator["Scripted"]:
        self.opened.append(levels)
        yield self

    def prepare(self, levels: Levels, _make_directory: MakeDirectory) -> Setup:
        self._counts[levels] = self._counts.get(levels, 0) + 1
        if self._stop_after and sum(self._counts.values()) > self._stop_after:
            self._stop.request()
            raise Interrupted("interrupted", signal_number=2)
        named = self._settings.named(levels)
        script = {
            "service": {"kind": "lognormal", "mean_ns": round(SERVICE_S * 1e9), "sigma": 0.5},
            "capacity_ops_per_s": CAPACITY_OPS_PER_S * self._factors[named["mongod"]],
            "seed": sum(self._counts.values()),
        }
        spec = read_only(connections=int(named["connections"]))
        return Setup(plan=run_plan(spec, self._settings, target(script)), context=context())


def writer_of(directory: Path, settings: VarySettings) -> ExperimentWriter:
    return ExperimentWriter(
        directory,
        kind=VARY_KIND,
        name="simulated",
        settings={**settings_document(settings), "seed": 1},
        spec_text="name: simulated\n",
        environment={},
    )


def swept(directory: Path, factors: Mapping[str, float], settings: VarySettings) -> list[VaryTrial]:
    """A whole sweep, sealed."""
    stop = StopToken()
    servers = Scripted(settings, factors, stop)
    with writer_of(directory, settings) as writer:
        work = VaryWork(settings=settings, writer=writer, open_place=servers.open, progress=Silence(), stop=stop)
        trials = run_vary(Vary(settings, 1), work)
        writer.seal(ended_by="completed")
    assert [levels[0] for levels in servers.opened] == [
        trial.probe.levels[0] for place, trial in enumerate(trials)
        if not place or trials[place - 1].server != trial.server
    ]  # fmt: skip
    return trials


def concluded(directory: Path) -> VaryConclusion:
    return vary_result(read_experiment(directory)).conclusion


def crossed(**more: object) -> VarySettings:
    return settings_of(*CROSSED, apart=("mongod",), duration_s=5.0, warmup_s=0.2, **more)


def test_a_fifth_more_capacity_is_found_with_its_interval(tmp_path: Path) -> None:
    settings = crossed()
    trials = swept(tmp_path / "sweep", FASTER, settings)
    assert len({trial.server for trial in trials}) == 2 * max(trial.probe.block for trial in trials)
    found = concluded(tmp_path / "sweep")
    saturated = next(
        each for each in found.within
        if each.factor == "mongod" and each.at == {"connections": "32"} and each.metric.key == "throughput"
    )  # fmt: skip
    assert saturated.verdict is ChangeVerdict.IMPROVED
    assert saturated.change is not None
    assert saturated.change.low - 0.01 <= 0.2 <= saturated.change.high + 0.01
    for curve in found.curves:
        assert curve.best is not None and curve.best.main is not None
        capacity = CAPACITY_OPS_PER_S * FASTER[curve.at["mongod"]]
        assert curve.best.main.value == pytest.approx(capacity, rel=0.03)
        assert curve.band is not None and curve.band.low == 8


def test_with_one_connection_only_the_gate_s_own_time_differs(tmp_path: Path) -> None:
    """One connection waits for the service, 2 ms, and for the gate, 1 ms or 0.83 ms, one after the other."""
    swept(tmp_path / "sweep", FASTER, crossed())
    (alone,) = (
        each for each in concluded(tmp_path / "sweep").within
        if each.at == {"connections": "1"} and each.metric.key == "throughput"
    )  # fmt: skip
    expected = (SERVICE_S + 1 / CAPACITY_OPS_PER_S) / (SERVICE_S + 1 / CAPACITY_OPS_PER_S / FASTER["B"]) - 1
    assert alone.change is not None
    assert alone.change.value == pytest.approx(expected, abs=0.03)


def test_equal_servers_make_no_claim(tmp_path: Path) -> None:
    swept(tmp_path / "sweep", EQUAL, crossed())
    found = concluded(tmp_path / "sweep")
    of_servers = [each for each in (*found.everywhere, *found.within) if each.factor == "mongod"]
    assert of_servers
    assert {each.verdict for each in of_servers} <= {ChangeVerdict.EQUIVALENT, ChangeVerdict.INCONCLUSIVE}


def test_a_combination_whose_runs_prove_nothing_has_failed_and_the_others_stand(tmp_path: Path) -> None:
    swept(tmp_path / "sweep", EQUAL, crossed(blocks=1, blocks_max=1))
    result = vary_result(read_experiment(tmp_path / "sweep"))

    def error_where(outcome: RunOutcome, *blocks: int) -> BrimlineError | None:
        of_blocks = [replace(each, probe=replace(each.probe, block=block)) for block in blocks or (1,)
                     for each in result.trials]  # fmt: skip
        trials = [
            replace(each, outcome=outcome, figures={}, reasons=("no update succeeded",))
            if each.probe.levels == ("A", "8") else each
            for each in of_blocks
        ]  # fmt: skip
        return replace(result, trials=trials).error

    assert result.error is None
    assert error_where(RunOutcome.CLIENT_LIMITED) is None, "a machine that is too slow is no fault of the combination"
    error = error_where(RunOutcome.INVALID)
    assert error is not None and error.exit_code == ExitCode.INCONCLUSIVE
    told = "combinations that failed: 1 of 6; the first is mongod A, connections 8: no update succeeded"
    assert error.message == told
    again = error_where(RunOutcome.FAILED, 1, 2)
    assert again is not None and again.message == told, "counted as the report counts them, however often each failed"


def test_going_on_makes_what_an_uninterrupted_sweep_makes(tmp_path: Path) -> None:
    settings = crossed(blocks=2, blocks_max=2)
    whole = swept(tmp_path / "whole", FASTER, settings)
    directory = tmp_path / "cut"
    stop = StopToken()
    with writer_of(directory, settings) as writer:
        work = VaryWork(
            settings=settings, writer=writer, open_place=Scripted(settings, FASTER, stop, stop_after=4).open,
            progress=Silence(), stop=stop,
        )  # fmt: skip
        made = run_vary(Vary(settings, 1), work)
    assert len(made) == 4
    before = read_experiment(directory)
    assert before.ended_by == "killed"
    with ExperimentWriter.reopen(directory, settings=before.settings) as writer:
        stop = StopToken()
        work = VaryWork(
            settings=settings, writer=writer, open_place=Scripted(settings, FASTER, stop).open,
            progress=Silence(), stop=stop,
        )  # fmt: skip
        trials = run_vary(
            Vary(settings, 1), work, done=stored_vary_trials(before), servers_before=servers_started(before)
        )
        writer.seal(ended_by="completed")
    assert [trial.probe for trial in trials] == [trial.probe for trial in whole]
    assert [trial.outcome for trial in trials] == [trial.outcome for trial in whole]
    assert trials[4].server == trials[3].server + 1, "the server that was left is not the one that goes on"
    stored = stored_vary_trials(read_experiment(directory))
    assert [replace(each, took_s=None, observation=None) for each in stored] == [
        replace(each, took_s=None, observation=None) for each in trials
    ]

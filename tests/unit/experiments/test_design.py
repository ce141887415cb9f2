"""A design over a measure: a fake one whose figures are known, on a place that makes its records."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.figure import Figure
from brimline.analysis.metrics import Metric
from brimline.api.options import Options
from brimline.api.varied_place import kind_of_server
from brimline.api.vary import resumed_vary, vary, vary_result
from brimline.errors import AnotherServer, BrimlineError, ExitCode, NotAllConnected, NotPutBack, TargetError
from brimline.execution import MakeDirectory, Silence, StopToken
from brimline.execution.execute import join_engine
from brimline.experiments.measure import Measure
from brimline.experiments.vary.conclusion import VaryConclusion, _no_difference, conclude_vary
from brimline.experiments.vary.order import Levels, RunOutcome, Vary, VaryEnd, VarySettings, VaryTrial
from brimline.experiments.vary.runner import Setup, VaryWork, run_vary
from brimline.experiments.vary.stored import begun, settings_document, stored_vary_settings, stored_vary_trials
from brimline.plan import Plan
from brimline.record import ExperimentWriter, read_experiment
from brimline.record.files import read_json, replace_json
from brimline.record.layout import EXPERIMENT_FILE
from tests.unit.experiments.vary_simulator import settings_of

EXECUTE = sys.modules[join_engine.__module__]
RATES = {"1": 1000.0, "8": 4000.0, "64": 4100.0}


def _figures(directory: Path) -> Mapping[str, Figure]:
    rate = read_json(directory / EXPERIMENT_FILE).get("rate")
    if rate is None:
        return {}
    return {"peak": Figure(key="peak", value=rate, low=0.95 * rate, high=1.06 * rate, unit="ops/s", label="Peak",
                           higher_is_better=True)}  # fmt: skip


PEAK = Measure(name="peak", kind="peak", figures=_figures)
SETTINGS = replace(settings_of("connections=1,8,64", "records=1k,2k", blocks=1, blocks_max=1), measure="peak",
                   said={"hard": True}, cell_s=2.0)  # fmt: skip


class Place:
    """Makes records of the fake measure; `at` is told what is made, and may fail or ask for the end."""

    def __init__(self, settings: VarySettings, stop: StopToken, made: list[Path]) -> None:
        self.settings, self.stop, self.made = settings, stop, made
        self.fails: Levels | None = None
        self.error: BrimlineError = TargetError("the disk is full")
        self.stops_at: int | None = None

    def prepare(self, levels: Levels, make_directory: MakeDirectory) -> Setup:
        raise NotImplementedError

    def measure(self, levels: Levels, directory: Path, make_directory: MakeDirectory) -> str:
        named = self.settings.named(levels)
        self.made.append(directory)
        there = (directory / EXPERIMENT_FILE).exists()
        replace_json(directory / EXPERIMENT_FILE, {"kind": "peak", "ended_by": None, "goes_on": there})
        if len(self.made) == self.stops_at:
            self.stop.request()
            return ""
        if levels == self.fails:
            raise self.error
        factor = 1.0 if named.get("records", "1k") == "1k" else 0.5
        rate = RATES[named["connections"]] * factor
        replace_json(directory / EXPERIMENT_FILE, {"kind": "peak", "ended_by": "completed", "goes_on": there,
                                                   "rate": rate})  # fmt: skip
        return ""


def design(
    directory: Path,
    settings: VarySettings = SETTINGS,
    *,
    fails: Levels | None = None,
    stops_at: int | None = None,
    never_up: str = "",
    error: BrimlineError | None = None,
) -> tuple[list[VaryTrial], list[Path]]:
    """Makes what is left of the design in `directory`."""
    stop, made = StopToken(), list[Path]()
    place = Place(settings, stop, made)
    place.fails, place.stops_at = fails, stops_at
    place.error = error or place.error

    @contextmanager
    def open_place(levels: Levels) -> Iterator[Place]:
        if never_up in levels:
            raise error or TargetError("it did not start")
        yield place

    stored = {**settings_document(settings), "seed": 1}
    if directory.exists():
        writer = ExperimentWriter.reopen(directory, settings=stored)
    else:
        directory.mkdir()
        writer = ExperimentWriter(directory, kind="vary", name="n", settings=stored, spec_text="", environment={})
    with writer:
        before = read_experiment(directory)
        work = VaryWork(settings=settings, writer=writer, open_place=open_place, progress=Silence(), stop=stop,
                        measure=PEAK, begun=begun(before))  # fmt: skip
        done = [each for each in stored_vary_trials(before, PEAK) if each.ended_by == "completed"]
        trials = run_vary(Vary(settings, 1), work, done=done)
        writer.seal(ended_by="interrupt" if stop.requested else "completed")
    return trials, made


def conclusion_of(directory: Path) -> VaryConclusion:
    experiment = read_experiment(directory)
    settings = stored_vary_settings(experiment)
    return conclude_vary(settings, stored_vary_trials(experiment, PEAK), [], seed=1)


def test_each_cell_is_measured_once_and_read_back_as_it_was(tmp_path: Path) -> None:
    trials, made = design(tmp_path / "d")
    assert len(made) == len(set(made)) == 6
    assert stored_vary_settings(read_experiment(tmp_path / "d")) == SETTINGS
    stored = stored_vary_trials(read_experiment(tmp_path / "d"), PEAK)
    assert [(each.probe, each.measured, each.outcome) for each in stored] == [
        (each.probe, each.measured, each.outcome) for each in trials
    ]
    assert Vary(SETTINGS, 1).ended_by(trials) is VaryEnd.BLOCKS_MAX


def test_one_measure_a_cell_has_intervals_ratios_and_verdicts(tmp_path: Path) -> None:
    design(tmp_path / "d")
    found = conclusion_of(tmp_path / "d")
    cell = next(each for each in found.cells if each.levels == ("8", "2k"))
    assert cell.main is not None
    assert (cell.main.value, cell.main.low, cell.main.high) == (2000.0, 1900.0, pytest.approx(2120.0))
    by_level = {each.level: each for each in found.everywhere}
    change = by_level["8"].change
    assert change is not None
    assert change.value == pytest.approx(3.0)
    # Over two combinations: upwards log 1.06 of B and log 1/0.95 of A, each over √2.
    reach = math.hypot(math.log(1.06), math.log(1 / 0.95)) / math.sqrt(2)
    assert change.high == pytest.approx(4 * math.exp(reach) - 1)
    assert change.low < 3.0
    assert {name: each.verdict.value for name, each in by_level.items()} == {
        "8": "improved", "64": "improved", "2k": "regressed",
    }  # fmt: skip
    assert by_level["8"].adjusted_p is not None
    assert "Peak is higher with connections" in found.text


def test_on_servers_that_are_not_as_they_were_nothing_more_is_measured(tmp_path: Path) -> None:
    with pytest.raises(NotPutBack, match="not undone"):
        design(tmp_path / "d", fails=("8", "1k"), error=NotPutBack("the fault was not undone"))
    stored = stored_vary_trials(read_experiment(tmp_path / "d"), PEAK)
    assert stored[-1].probe.levels == ("8", "1k"), "it is the last"
    assert stored[-1].ended_by == "interrupt", "it can be gone on with"
    _, made = design(tmp_path / "d")
    assert len(made) == 6 - (len(stored) - 1)


def test_a_cell_that_fails_is_named_and_the_others_stand(tmp_path: Path) -> None:
    trials, made = design(tmp_path / "d", fails=("8", "1k"))
    assert len(made) == 6
    (failed,) = [each for each in trials if each.outcome is RunOutcome.FAILED]
    assert failed.probe.levels == ("8", "1k")
    assert failed.reasons == ("the disk is full",)
    found = conclusion_of(tmp_path / "d")
    cell = next(each for each in found.cells if each.levels == ("8", "1k"))
    assert cell.main is None
    assert "the disk is full" in cell.left_out[0]
    assert sum(each.main is not None for each in found.cells) == 5
    assert found.text.startswith("Peak is ")


def test_a_cell_that_failed_is_tried_again_when_the_design_is_gone_on_with(tmp_path: Path) -> None:
    """What failed it may be over: a full disk, a server that was away. The others stand."""
    _, made = design(tmp_path / "d", fails=("8", "1k"))
    again, made_again = design(tmp_path / "d", fails=("8", "1k"))
    assert len(made_again) == 1 and len(again) == 6
    assert [each.probe.levels for each in again if each.outcome is RunOutcome.FAILED] == [("8", "1k")]
    whole, last = design(tmp_path / "d")
    assert len(last) == 1 and len(whole) == 6
    assert all(each.counts for each in whole)
    assert len(list((tmp_path / "d" / "dropped").iterdir())) == 2
    assert design(tmp_path / "d")[1] == []
    assert len(made) == 6


def test_a_cell_without_a_figure_is_not_counted_as_measured(tmp_path: Path) -> None:
    two = replace(SETTINGS, factors=settings_of("connections=1,8").factors)
    design(tmp_path / "d", two, fails=("8",))
    assert conclusion_of(tmp_path / "d").text == "1 of 2 combinations measured"


def test_nothing_is_called_equal_where_nothing_is_left_to_compare() -> None:
    peak = Metric(key="peak", label="Peak", unit="ops/s", higher_is_better=True, decides=True)
    assert str(_no_difference(peak, [])) == "Peak: no difference is shown"


@pytest.mark.parametrize("stops_at", [1, 2, 6])
def test_a_cell_that_was_cut_short_goes_on_in_its_own_record(tmp_path: Path, stops_at: int) -> None:
    trials, made = design(tmp_path / "d", stops_at=stops_at)
    assert trials[-1].ended_by == "interrupt"
    cut = made[-1]
    _, rest = design(tmp_path / "d")
    assert rest[0] == cut
    assert json.loads((cut / EXPERIMENT_FILE).read_text())["goes_on"]
    assert len(rest) == 6 - stops_at + 1
    levels = [each.probe.levels for each in stored_vary_trials(read_experiment(tmp_path / "d"), PEAK)]
    assert sorted(levels) == sorted(SETTINGS.combinations)


def test_listed_combinations_are_each_compared_with_the_first(tmp_path: Path) -> None:
    settings = replace(SETTINGS, listed=(("1", "1k"), ("8", "2k"), ("64", "1k")))
    _, made = design(tmp_path / "d", settings)
    assert len(made) == 3
    found = conclusion_of(tmp_path / "d")
    assert [(each.factor, each.level, each.base) for each in found.everywhere] == [
        ("combination", "connections 8, records 2k", "connections 1, records 1k"),
        ("combination", "connections 64, records 1k", "connections 1, records 1k"),
    ]
    assert settings.loading_combination(("1", "1k")) == ("64", "1k")


def test_a_server_of_its_own_that_does_not_start_is_its_combinations_failure(tmp_path: Path) -> None:
    settings = replace(SETTINGS, apart=("records",))
    trials, made = design(tmp_path / "d", settings, never_up="2k")
    assert len(made) == 3
    failed = {each.probe.levels for each in trials if each.reasons == ("it did not start",)}
    assert failed == {("1", "2k"), ("8", "2k"), ("64", "2k")}
    stored = stored_vary_trials(read_experiment(tmp_path / "d"), PEAK)
    assert [(each.probe, each.reasons, each.outcome) for each in stored] == [
        (each.probe, each.reasons, each.outcome) for each in trials
    ]
    with pytest.raises(TargetError, match="did not start"):
        design(tmp_path / "shared", never_up="2k")


def test_a_design_that_is_gone_on_with_on_another_server_is_refused_and_nothing_of_it_failed(tmp_path: Path) -> None:
    """Such as another version: no combination is to blame, and with the right server all of them can still be made."""
    settings = replace(SETTINGS, apart=("records",))
    with pytest.raises(AnotherServer):
        design(tmp_path / "d", settings, never_up="2k", error=AnotherServer("this is not the server"))
    stored = stored_vary_trials(read_experiment(tmp_path / "d"), PEAK)
    assert not [each for each in stored if each.outcome is RunOutcome.FAILED]


def test_fresh_servers_for_other_data_are_of_one_kind() -> None:
    """So that a design is not gone on with on another version, though no run of a combination was made yet."""
    factors = settings_of("records=1k,2k", "server-version=4.4,6.0", "connections=1,8")
    settings = replace(factors, apart=("records", "server-version"))
    kinds = {levels: kind_of_server(settings, levels) for levels in settings.combinations}
    assert set(kinds.values()) == {("4.4",), ("6.0",)}
    assert kinds["1k", "4.4", "8"] == kinds["2k", "4.4", "1"]
    assert kind_of_server(replace(factors, apart=()), ("1k", "4.4", "8")) == ()


@pytest.mark.parametrize("lacks", [("32",), ("2", "32")], ids=["others stand", "none is left"])
def test_a_run_without_all_its_connections_is_a_cell_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: Sequence[str]
) -> None:
    """The twin with a server is in integration/test_few_connections.py."""

    def join(run: Any, plan: Plan, **others: Any) -> Any:
        if str(plan.connections) in lacks:
            raise NotAllConnected("the target can't be reached", up=1, wanted=plan.connections)
        return join_engine(run, plan, **others)

    monkeypatch.setattr(EXECUTE, "join_engine", join)
    options = Options(null=True, runs_dir=tmp_path)
    short = {"blocks": 2, "blocks_max": 2, "warmup_s": 0.0, "duration_s": 0.2}
    result = vary("ycsb-c", factors=["connections=2,32"], settings=short, options=options)
    told = {lack: f"could not be had: 1 of {lack} connections" for lack in lacks}
    for again in (result, vary_result(read_experiment(result.directory))):
        reasons = {each.probe.levels[0]: each.reasons for each in again.trials if each.probe.levels[0] in lacks}
        assert reasons == {lack: (reason,) for lack, reason in told.items()}
        assert again.error is not None and again.error.exit_code == ExitCode.INCONCLUSIVE
        assert any(reason in again.error.message for reason in told.values())
        cells = {cell.levels[0]: cell for cell in again.conclusion.cells}
        for level, cell in cells.items():
            assert bool(cell.means) is (level not in lacks)
            assert [told[level] in text for text in cell.left_out] == [True] if level in lacks else True

    monkeypatch.undo()
    resumed = resumed_vary(result.directory, options)
    assert resumed.error is None, "what lacked connections is tried again"
    counting = sorted(each.probe.levels for each in resumed.trials if each.counts)
    assert counting == [("2",), ("2",), ("32",), ("32",)]


def test_a_cell_that_counted_in_the_end_has_not_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def join(run: Any, plan: Plan, **others: Any) -> Any:
        asked.append(plan.connections)
        if asked.count(32) == 1 == asked.count(plan.connections):
            raise NotAllConnected("the target can't be reached", up=1, wanted=plan.connections)
        return join_engine(run, plan, **others)

    monkeypatch.setattr(EXECUTE, "join_engine", join)
    short = {"blocks": 1, "blocks_max": 1, "warmup_s": 0.0, "duration_s": 0.2}
    options = Options(null=True, runs_dir=tmp_path)
    result = vary("ycsb-c", factors=["connections=32,64"], settings=short, options=options)
    assert [each.outcome for each in result.trials].count(RunOutcome.FAILED) >= 1
    assert result.error is None

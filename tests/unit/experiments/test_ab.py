import shutil
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from brimline import Options, ab
from brimline.api import compared
from brimline.api.ab import resumed_ab
from brimline.errors import UsageError
from brimline.experiments.conductor import Made
from brimline.experiments.cost import ASSUMED_COPY_BYTES_PER_S, PutBack, TimeEstimate, pairs_time, run_time
from brimline.experiments.paired.ab import ABSettings
from brimline.experiments.paired.order import PairProbe, Pairs, PairTrial, arm_order
from brimline.experiments.paired.runner import PairedRuns, pair_records
from brimline.record import ExperimentWriter, read_experiment
from brimline.record.files import replace_json


def run(machine: Pairs) -> list[PairTrial]:
    trials: list[PairTrial] = []
    while (probe := machine.next_probe(trials)) is not None:
        trials.append(PairTrial(probe=probe, completed=True))
        assert len(trials) <= 100
    return trials


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("pairs", [1, 2, 5, 8])
def test_each_arm_runs_once_in_every_turn_and_turns_are_mirrored(pairs: int, floor: bool) -> None:
    settings = ABSettings(pairs=pairs, floor=floor)
    order = arm_order(settings.arms, pairs, seed=7)
    assert Counter(order) == dict.fromkeys(settings.arms, pairs)
    width = len(settings.arms)
    turns = [order[start : start + width] for start in range(0, len(order), width)]
    assert all(set(turn) == set(settings.arms) for turn in turns)
    assert all(second == first[::-1] for first, second in zip(turns[::2], turns[1::2], strict=False))


def test_even_drift_meets_both_arms_alike() -> None:
    order = arm_order(("A", "B"), 8, seed=3)
    places = {arm: sum(place for place, each in enumerate(order) if each == arm) for arm in "AB"}
    assert places["A"] == places["B"]


def test_the_seed_decides_who_begins() -> None:
    starts = {arm_order(("A", "B"), 2, seed)[0] for seed in range(20)}
    assert starts == {"A", "B"}
    assert arm_order(("A", "B"), 5, 5) == arm_order(("A", "B"), 5, 5)


def test_runs_are_numbered_by_arm_and_asked_for_until_all_are_made() -> None:
    trials = run(Pairs(("A", "B"), 3, seed=1))
    assert len(trials) == 6
    asked = [(trial.probe.arm, trial.probe.pair) for trial in trials]
    assert sorted(asked) == [("A", 1), ("A", 2), ("A", 3), ("B", 1), ("B", 2), ("B", 3)]
    assert [pair for arm, pair in asked if arm == "B"] == [1, 2, 3]


def test_after_a_run_that_was_cut_short_nothing_is_asked() -> None:
    machine = Pairs(("A", "B"), 3, seed=1)
    cut_short = PairTrial(probe=PairProbe(arm="A", pair=1), completed=False)
    assert machine.next_probe([cut_short]) is None


def test_the_time_is_that_of_all_runs() -> None:
    assert pairs_time(5, {"A": run_time(10.0), "B": run_time(20.0)}).typical_s == 150
    estimate = pairs_time(5, {"A": run_time(10.0), "B": run_time(20.0), "A2": run_time(10.0)})
    assert (estimate.typical_s, estimate.max_s) == (200, 280)
    assert estimate.text == (
        "estimate: about 3 min 20 s, 15 probes (A 5, B 5, A2 5); at most 4 min 40 s, "
        "without server starts, loading and what is around each run; up to 2 pairs that prove nothing are made again"
    )
    unknown = pairs_time(5, {"A": run_time(None), "B": run_time(20.0)})
    assert unknown.text == (
        "estimate: 10 probes (A 5, B 5); without server starts, loading and what is around each run; "
        "up to 2 pairs that prove nothing are made again"
    )
    search = pairs_time(3, dict.fromkeys(("A", "B"), TimeEstimate(typical_s=10.0, max_s=15.0)))
    assert (search.typical_s, search.max_s) == (60, 150), "of searches the longest are longer than usual"
    put_back = PutBack(round(ASSUMED_COPY_BYTES_PER_S)).within(
        pairs_time(2, {"A": run_time(10.0), "B": run_time(10.0)})
    )
    assert (put_back.typical_s, put_back.max_s) == (43, 80), "what putting back takes most isn't known"


@pytest.mark.parametrize("failing", [(1,), (1, 2), (2, 3), (1, 3, 4)])
def test_a_pair_that_proves_nothing_is_told_with_the_one_in_its_place(
    failing: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that is said is that of the pair which the order of runs then asks for."""
    machine, trials, said = Pairs(("A", "B"), 2, seed=1), list[PairTrial](), list[tuple[int, str]]()

    def performed(_self: PairedRuns, probe: PairProbe, _trials: object) -> Made[PairTrial]:
        problem = "counts disagree" if probe.pair in failing else None
        trial = PairTrial(probe=probe, completed=True, problem=problem)
        return Made(trial=trial, directory=tmp_path, title="", outcome=problem or "100 ops/s", ended=True)

    monkeypatch.setattr(PairedRuns, "_performed", performed)
    runs = PairedRuns(arms={}, writer=cast(Any, None), pairs=2)
    while (probe := machine.next_probe(trials)) is not None:
        (made,) = runs.perform(probe, trials)
        trials.append(made.trial)
        said.append((probe.pair, made.outcome))
    expected = {
        pair: f"counts disagree; pair {pair} proves nothing: it is made again, as pair {again}"
        for pair, again in zip(failing, (3, 4), strict=False)
    }
    if len(failing) == 3:
        expected[4] = "counts disagree; pair 4 proves nothing, and is not made again: 2 were"
    assert {pair: outcome for pair, outcome in said if pair in failing} == expected
    assert max(pair for pair, _ in said) == 2 + min(len(failing), 2)


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"pairs": 0}, {"margin": 0.0}, {"margin": 1.0}):
        with pytest.raises(ValueError):
            ABSettings(**wrong)  # type: ignore[arg-type]


def test_a_turn_with_a_run_that_proves_nothing_is_made_again_whole() -> None:
    """Of A against itself as well; the rest of its turn isn't run."""
    machine = Pairs(("A", "B", "A2"), 2, seed=1)
    trials: list[PairTrial] = []
    while (probe := machine.next_probe(trials)) is not None:
        problem = "counts disagree" if (probe.pair, probe.arm) == (1, "B") else None
        trials.append(PairTrial(probe=probe, completed=True, problem=problem))
    of_first = [trial.probe.arm for trial in trials if trial.probe.pair == 1]
    assert of_first[-1] == "B"
    assert [Counter(trial.probe.arm for trial in trials)[arm] for arm in ("A", "A2")] == [
        2 + of_first.count("A"),
        2 + of_first.count("A2"),
    ]
    assert {trial.probe.pair for trial in trials} == {1, 2, 3}


def test_older_comparisons_called_arms_and_pairs_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"kind": "ab", "name": "orders", "settings": {}, "spec_text": "", "environment": {}}
    with ExperimentWriter(tmp_path / "old", **made) as writer:  # type: ignore[arg-type]
        for probe in ({"arm": "A2", "number": 3}, {"side": "B", "pair": 2}, {"arm": "A", "pair": 1}):
            replace_json(writer.begin_trial(probe, stage="arm", label="x") / "record.json", {})
    monkeypatch.setattr("brimline.experiments.paired.runner.read_record", lambda directory: directory)
    probes = [probe for probe, _ in pair_records(read_experiment(tmp_path / "old"))]
    assert [(each.arm, each.pair) for each in probes] == [("A2", 3), ("B", 2), ("A", 1)]


@pytest.mark.parametrize(("kind", "told"), [("capacity", "compare it with another: "), ("vary", "brimline show ")])
def test_an_arm_of_what_has_none_is_refused(kind: str, told: str, tmp_path: Path) -> None:
    """A search is compared as a whole, and of a design nothing is."""
    made = {"kind": kind, "name": "orders", "settings": {}, "spec_text": "", "environment": {}}
    with ExperimentWriter(tmp_path / "x", **made):  # type: ignore[arg-type]
        pass
    with pytest.raises(UsageError, match=f"has no arms: it is of the kind {kind}, not ab") as refused:
        compared.named(f"{tmp_path / 'x'}:B", runs_dir=tmp_path)
    assert told in refused.value.hint and str(tmp_path / "x") in refused.value.hint


def test_one_record_alone_is_told_that_it_wants_another(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text('{"format_version": 1}')
    with pytest.raises(UsageError, match="has no arms: it is one record") as refused:
        compared.named(f"{tmp_path}:A", runs_dir=tmp_path)
    assert f"brimline compare {tmp_path} ANOTHER" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("named", "of_old"),
    [
        ((True, True), False),
        ((True, False), False),
        ((False, True), False),
        ((False, False), False),
        ((True, True), True),  # an older brimline stored files as they were, of which only named ones went on
    ],
)
def test_two_workloads_of_other_names_go_on(tmp_path: Path, named: tuple[bool, bool], of_old: bool) -> None:
    """The hash of a plan has the workload's name, which the experiment's, of both, is not."""
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for file, is_named in zip(files, named, strict=True):
        name = f"name: of-{file.stem}\n" if is_named else ""
        file.write_text(f"{name}data: {{records: 100}}\noperations: {{read: 1}}\nwarmup: 0s\noperation_count: 1000\n")
    options = Options(null=True, runs_dir=tmp_path / "runs")
    result = ab(*files, settings=ABSettings(pairs=1), options=options)
    before = sorted(each.name for each in (result.directory / "trials").iterdir())
    shutil.rmtree(result.directory / "trials" / before[-1])
    if of_old:
        for file, name in zip(files, ("spec.yaml", "spec_b.yaml"), strict=True):
            shutil.copy(file, result.directory / name)
    resumed = resumed_ab(result.directory, options)
    assert sorted(each.name for each in (resumed.directory / "trials").iterdir()) == before

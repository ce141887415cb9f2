from collections import Counter

import pytest

from brimline.experiments.paired.ab import AB, ABSettings, ArmProbe, ArmTrial, ab_time_s, arm_order


def run(machine: AB) -> list[ArmTrial]:
    trials: list[ArmTrial] = []
    while (probe := machine.next_probe(trials)) is not None:
        trials.append(ArmTrial(probe=probe, completed=True))
        assert len(trials) <= 100
    return trials


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("pairs", [1, 2, 5, 8])
def test_each_arm_runs_once_in_every_turn_and_turns_are_mirrored(pairs: int, floor: bool) -> None:
    settings = ABSettings(pairs=pairs, floor=floor)
    order = arm_order(settings, seed=7)
    assert Counter(order) == dict.fromkeys(settings.arms, pairs)
    width = len(settings.arms)
    turns = [order[start : start + width] for start in range(0, len(order), width)]
    assert all(set(turn) == set(settings.arms) for turn in turns)
    assert all(second == first[::-1] for first, second in zip(turns[::2], turns[1::2], strict=False))


def test_even_drift_meets_both_arms_alike() -> None:
    order = arm_order(ABSettings(pairs=8), seed=3)
    places = {arm: sum(place for place, each in enumerate(order) if each == arm) for arm in "AB"}
    assert places["A"] == places["B"]


def test_the_seed_decides_who_begins() -> None:
    starts = {arm_order(ABSettings(pairs=2), seed)[0] for seed in range(20)}
    assert starts == {"A", "B"}
    assert arm_order(ABSettings(), 5) == arm_order(ABSettings(), 5)


def test_runs_are_numbered_by_arm_and_asked_for_until_all_are_made() -> None:
    trials = run(AB(ABSettings(pairs=3), seed=1))
    assert len(trials) == 6
    labels = [trial.probe.label for trial in trials]
    assert sorted(labels) == ["a-1", "a-2", "a-3", "b-1", "b-2", "b-3"]
    assert [label for label in labels if label.startswith("b")] == ["b-1", "b-2", "b-3"]


def test_after_a_run_that_was_cut_short_nothing_is_asked() -> None:
    machine = AB(ABSettings(pairs=3), seed=1)
    cut_short = ArmTrial(probe=ArmProbe(arm="A", number=1), completed=False)
    assert machine.next_probe([cut_short]) is None


def test_the_time_is_that_of_all_runs() -> None:
    second = 1_000_000_000
    assert ab_time_s(ABSettings(pairs=5), a_ns=10 * second, b_ns=20 * second) == 150
    assert ab_time_s(ABSettings(pairs=5, floor=True), a_ns=10 * second, b_ns=20 * second) == 200
    assert ab_time_s(ABSettings(), a_ns=None, b_ns=second) is None


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"pairs": 0}, {"margin": 0.0}, {"margin": 1.0}):
        with pytest.raises(ValueError):
            ABSettings(**wrong)  # type: ignore[arg-type]

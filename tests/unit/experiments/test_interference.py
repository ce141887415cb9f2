"""Interference: the order of its pairs, pairs that don't count, and whether a background was at work."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from brimline.analysis.background import coverage
from brimline.analysis.comparison import compare_runs
from brimline.api.interfere import figures_beside
from brimline.experiments.paired.interference import BACKUPS, InterferenceSettings, parse_background
from brimline.experiments.paired.order import PAIRS_AGAIN_MAX, Arm, PairProbe, Pairs, PairTrial, counting_pairs
from brimline.record.background import BACKGROUND_FILE, Activity, read_activities, write_activities
from brimline.record.files import replace_json
from tests.support.run_sets import run_sets
from tests.unit.report.comparison_samples import interfered

S = 1_000_000_000


def pairs_of(count: int, seed: int) -> Pairs:
    return Pairs(("A", "B"), count, seed)


def played(machine: Pairs, problems: dict[tuple[int, Arm], str]) -> list[PairTrial]:
    """All trials, in a world where some runs have problems."""
    trials: list[PairTrial] = []
    while (probe := machine.next_probe(trials)) is not None:
        problem = problems.get((probe.pair, probe.arm))
        trials.append(PairTrial(probe=probe, completed=True, problem=problem))
        assert len(trials) < 100
    return trials


def sides(trials: list[PairTrial]) -> str:
    return "".join(trial.probe.arm for trial in trials)


@pytest.mark.parametrize("seed", range(8))
def test_pairs_come_in_mirrored_blocks(seed: int) -> None:
    trials = played(pairs_of(4, seed), {})
    order = sides(trials)
    assert {order[:4], order[4:]} <= {"ABBA", "BAAB"}
    assert [trial.probe.pair for trial in trials] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert counting_pairs(trials) == {1, 2, 3, 4}


def test_either_side_goes_first_in_some_seeds() -> None:
    first = {sides(played(pairs_of(2, seed), {}))[0] for seed in range(20)}
    assert first == {"A", "B"}


def test_a_pair_with_a_run_that_doesn_t_count_is_made_again_whole() -> None:
    machine = pairs_of(3, 1)
    whole = played(machine, {})
    second = next(trial.probe.arm for trial in reversed(whole) if trial.probe.pair == 2)
    trials = played(machine, {(2, second): "ended early"})
    assert counting_pairs(trials) == {1, 3, 4}
    assert sorted(sides([trial for trial in trials if trial.probe.pair == 4])) == ["A", "B"]


def test_the_partner_of_a_run_that_doesn_t_count_isn_t_run() -> None:
    machine = pairs_of(2, 1)
    first = machine.next_probe([])
    assert first is not None
    trials = played(machine, {(1, first.arm): "ended early"})
    assert len([trial for trial in trials if trial.probe.pair == 1]) == 1
    assert counting_pairs(trials) == {2, 3}


def test_it_ends_when_pairs_never_count() -> None:
    machine = pairs_of(3, 1)
    trials = played(machine, {(pair, "B"): "ended early" for pair in range(1, 50)})
    assert counting_pairs(trials) == frozenset()
    assert max(trial.probe.pair for trial in trials) == 3 + PAIRS_AGAIN_MAX


def test_a_run_that_was_cut_short_is_the_last() -> None:
    machine = pairs_of(3, 1)
    cut = PairTrial(probe=PairProbe(arm="A", pair=1), completed=False)
    assert machine.next_probe([cut]) is None


def test_it_goes_on_where_it_stopped() -> None:
    """After any number of trials, a machine made anew asks for what the old one would have."""
    whole = played(pairs_of(4, 7), {(2, "B"): "ended early"})
    for count in range(len(whole)):
        assert pairs_of(4, 7).next_probe(whole[:count]) == whole[count].probe


@pytest.mark.parametrize(
    ("name", "value"), [("pairs", 0), ("pairs", 999), ("rows", 0), ("margin", 0.0), ("margin", 1.0)]
)
def test_settings_have_bounds(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=r"at least one|at most 998 pairs|a share"):
        InterferenceSettings(**{name: value})  # type: ignore[arg-type]


def activity(spans: list[tuple[float, float]], progress: list[tuple[float, int]], error: str | None = None) -> Activity:
    return Activity(
        kind="import",
        unit="documents",
        spans=tuple((round(begin * S), round(end * S)) for begin, end in spans),
        progress=tuple((round(time * S), units) for time, units in progress),
        error=error,
    )


def test_work_all_through_the_window_covers_it() -> None:
    seen = coverage(activity([(8, 25)], [(9, 100), (10, 200), (15, 700), (20, 1200), (24, 1600)]), (10 * S, 20 * S))
    assert (seen.busy_share, seen.units, seen.units_per_s, seen.problem) == (1.0, 1000, 100.0, None)


def test_short_pauses_between_passes_are_no_gap() -> None:
    passes = [(10 + second, 10.99 + second) for second in range(-1, 11)]
    seen = coverage(activity(passes, [(end, number) for number, (_, end) in enumerate(passes)]), (10 * S, 20 * S))
    assert seen.busy_share == pytest.approx(0.99)
    assert seen.problem is None


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (activity([(8, 18)], [(9, 1), (18, 9)]), "was at work in 80 % of the measured window only"),
        (activity([(11, 25)], [(12, 1), (25, 9)]), "was at work in 90 % of the measured window only"),
        (activity([(8, 25)], [(9, 5), (24, 5)]), "came no further"),
        (activity([(8, 25)], [(9, 1), (18, 9)], "all rows are in"), "ended early: all rows are in"),
        (activity([], []), "was at work in 0 %"),
    ],
)
def test_a_window_without_the_background_is_told(what: Activity, reason: str) -> None:
    seen = coverage(what, (10 * S, 20 * S))
    assert seen.problem is not None and reason in seen.problem


def test_what_says_nothing_on_its_way_is_judged_by_its_time() -> None:
    seen = coverage(activity([(8, 25)], []), (10 * S, 20 * S))
    assert (seen.units, seen.units_per_s, seen.problem) == (None, None, None)


def test_backgrounds_are_read_with_what_they_are_of() -> None:
    several = InterferenceSettings(background="import:a/rows.csv + workload:ycsb-b,rate=500/s + scan").backgrounds
    assert [(each.kind, each.of, each.rate) for each in several] == [
        ("import", "a/rows.csv", ""),
        ("workload", "ycsb-b", "500/s"),
        ("scan", "", ""),
    ]
    assert [each.kind for each in InterferenceSettings().backgrounds] == ["import"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("soak", 'there is no background "soak"'),
        ("scan:x", "scan is of nothing further"),
        ("workload:", "needs its name"),
        ("workload:x,rate=", "needs its name"),
        ("workload:x,pace=3", "needs its name"),
    ],
)
def test_what_is_no_background_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_background(text)
    with pytest.raises(ValueError, match="twice"):
        InterferenceSettings(background="scan + scan")


def test_an_older_record_has_one_background(tmp_path: Path) -> None:
    one = Activity(kind="scan", unit="documents", spans=((0, S),), progress=((S, 5),))
    replace_json(tmp_path / BACKGROUND_FILE, asdict(one))
    assert read_activities(tmp_path) == (one,)
    write_activities(tmp_path, [one, replace(one, kind="import")])
    assert [each.kind for each in read_activities(tmp_path)] == ["scan", "import"]
    assert read_activities(tmp_path / "none") == ()


@pytest.mark.parametrize("pairs", [1, 3])
def test_a_design_over_it_is_about_what_the_background_leaves(pairs: int) -> None:
    """Not about the throughput alone, also where one pair has no interval."""
    alone, beside = run_sets(np.random.default_rng(1), order="AB" * pairs, slower=0.5)
    figures = figures_beside(compare_runs(alone, beside))
    assert next(iter(figures)) == "throughput_beside"
    assert figures["throughput_beside"].value == pytest.approx(0.5, rel=0.15)
    assert (figures["throughput_beside"].low is None) == (pairs == 1)
    assert figures["alone"].value == pytest.approx(10_000, rel=0.15)


def test_a_backup_has_a_length_and_a_size_and_one_that_was_cut_short_has_none() -> None:
    spans = ((10 * S, 12 * S), (12 * S, 15 * S), (15 * S, 16 * S))
    made = Activity(kind="backup", unit="dumps", spans=spans, progress=((12 * S, 1), (15 * S, 2)),
                    sizes_bytes=(1000, 2000))  # fmt: skip
    seen = coverage(made, (10 * S, 16 * S))
    assert (seen.each_s, seen.each_bytes, seen.problem) == ((2.0, 3.0), (1000, 2000), None)
    assert coverage(replace(made, unit="documents"), (10 * S, 16 * S)).each_s == ()


@pytest.mark.parametrize("of", BACKUPS)
def test_every_kind_of_backup_tells_its_length_and_size(of: str) -> None:
    text = f"backup:{of}".rstrip(":")
    assert (parse_background(text).kind, parse_background(text).of) == ("backup", of)
    with pytest.raises(ValueError, match=r"there is no backup .* backup, backup:gzip, backup:mongodump, backup:files"):
        parse_background("backup:tape")
    facts = next(block for block in interfered(text).sections[0].blocks if block.kind == "facts")
    assert [fact.label for fact in facts.facts] == ["A backup took", "Size of a backup"]
    assert "2.00 s (95 % interval" in facts.facts[0].value and facts.facts[1].value == "50.0 MB"


def test_a_backup_that_is_longer_than_a_run_is_told() -> None:
    """Without a length and a size there was nothing, and nothing was said."""
    facts = next(block for block in interfered("backup", ended=False).sections[0].blocks if block.kind == "facts")
    (told,) = facts.facts
    assert (told.label, told.value) == ("A backup took", "longer than a run: none came to its end")
    assert told.note == "give the runs more time: --duration"

"""What crossed runs show: a known difference is found with its interval, equal levels make no claim."""

import math
from collections.abc import Mapping

import pytest

from brimline.analysis.compared_run import Metric, metrics
from brimline.analysis.factorial import FactorRun, LevelDifference, differences, mean_of
from brimline.analysis.judged_change import ChangeVerdict
from brimline.experiments.vary.order import VaryTrial
from tests.support.repetitions import repetitions
from tests.unit.experiments.vary_simulator import NOISE, Law, Machine, settings_of

METRICS = [each for each in metrics("closed loop") if each.key in ("throughput", "p95", "p99")]
FACTORS = ("mongod=A,B", "connections=1,8,64")
BY_CONNECTIONS = {"1": 300.0, "8": 1500.0, "64": 2000.0}


def faster_b(levels: Mapping[str, str]) -> float:
    return BY_CONNECTIONS[levels["connections"]] * (1.2 if levels["mongod"] == "B" else 1.0)


def equal(levels: Mapping[str, str]) -> float:
    return BY_CONNECTIONS[levels["connections"]]


def runs_of(trials: list[VaryTrial]) -> list[FactorRun]:
    return [
        FactorRun(levels=trial.probe.levels, block=trial.probe.block, figures=trial.figures)
        for trial in trials
        if trial.counts
    ]


def found(
    law: Law, seed: int, *, within: bool = False, noise: float = NOISE, drift: float = 0.0
) -> list[LevelDifference]:
    machine = Machine(settings_of(*FACTORS), law, seed=seed, noise=noise, drift=drift)
    design = {factor.name: factor.levels for factor in machine.settings.factors}
    return list(differences(runs_of(machine.all()), design, METRICS, margin=0.03, within=within))


def of(all_: list[LevelDifference], factor: str, key: str) -> list[LevelDifference]:
    return [each for each in all_ if each.factor == factor and each.metric.key == key]


def test_a_fifth_more_is_found_with_its_interval() -> None:
    covered = 0
    for seed in range(40):
        (version,) = of(found(faster_b, seed), "mongod", "throughput")
        assert version.verdict is ChangeVerdict.IMPROVED
        assert (version.averaged_over, version.combinations) == (3, 3)
        assert version.change is not None
        assert version.change.value == pytest.approx(0.2, abs=0.04)
        covered += version.change.low <= 0.2 <= version.change.high
    assert covered >= 35, "an interval of 95 % holds the truth about 38 times of 40"


def test_a_difference_is_found_in_every_combination() -> None:
    intervals = []
    for seed in range(20):
        at = of(found(faster_b, seed, within=True), "mongod", "throughput")
        assert [each.at for each in at] == [{"connections": count} for count in ("1", "8", "64")]
        assert not any(each.everywhere for each in at)
        intervals += [each.change for each in at if each.change is not None]
    assert len(intervals) == 60
    assert sum(each.low <= 0.2 <= each.high for each in intervals) >= 52


def test_less_is_better_for_times() -> None:
    (p99,) = of(found(faster_b, 1), "mongod", "p99")
    assert p99.verdict is ChangeVerdict.IMPROVED
    assert p99.change is not None
    assert p99.change.value < 0


@pytest.mark.parametrize("count", [20, *repetitions(100)])
def test_equal_levels_make_no_claim(count: int) -> None:
    """Nine differences without a cause; each would be claimed once in twenty times, were they not adjusted."""
    claims = {ChangeVerdict.IMPROVED, ChangeVerdict.REGRESSED}
    wrong = everywhere = 0
    for seed in range(count):
        within = [each for each in found(equal, seed, within=True, noise=0.05) if each.factor == "mongod"]
        wrong += any(each.verdict in claims for each in within)
        everywhere += any(each.verdict in claims for each in of(found(equal, seed, noise=0.05), "mongod", "throughput"))
    assert wrong <= 0.06 * count
    assert everywhere <= 0.08 * count


def test_drift_of_the_machine_is_no_difference() -> None:
    """A machine that becomes half a percent faster from run to run: in mirrored blocks both levels meet it alike."""
    for seed in range(20):
        (version,) = of(found(equal, seed, drift=0.005, noise=0.001), "mongod", "throughput")
        assert version.verdict not in (ChangeVerdict.IMPROVED, ChangeVerdict.REGRESSED)


def test_what_may_not_be_averaged_over_is_compared_apart() -> None:
    machine = Machine(
        settings_of("workload=x,y", "mongod=A,B"),
        lambda levels: 1000 * (1.2 if levels == {"workload": "y", "mongod": "B"} else 1),
        seed=1,
        noise=0.005,
    )
    design = {factor.name: factor.levels for factor in machine.settings.factors}
    all_ = list(differences(runs_of(machine.all()), design, METRICS[:1], margin=0.03, strata=("workload",)))
    assert [(each.factor, each.at) for each in all_] == [("mongod", {"workload": "x"}), ("mongod", {"workload": "y"})]
    assert [each.verdict for each in all_] == [ChangeVerdict.EQUIVALENT, ChangeVerdict.IMPROVED]


def test_one_run_shows_no_spread() -> None:
    machine = Machine(settings_of(*FACTORS, blocks=1, blocks_max=1), faster_b, seed=1)
    design = {factor.name: factor.levels for factor in machine.settings.factors}
    runs = runs_of(machine.all())
    assert {each.verdict for each in differences(runs, design, METRICS, margin=0.03)} == {ChangeVerdict.NO_CLAIM}
    mean = mean_of(runs[:1], METRICS[0])
    assert mean is not None
    assert mean.estimate is None


@pytest.mark.parametrize(
    ("values", "low", "reaches_below_0"),
    [((-50.0, -60.0), -70.0, True), ((-5.0, 3.0), -9.0, True), ((5.0, 90.0), -9.0, True), ((5.0, 90.0), None, False)],
)
def test_a_figure_that_can_be_below_0_has_its_whole_interval(
    values: tuple[float, ...], low: float | None, reaches_below_0: bool
) -> None:
    """As a drift can; what never is, as a rate, ends at 0."""
    key = METRICS[0].key
    ends = {} if low is None else {key: (low, 100.0)}
    runs = [
        FactorRun(levels=("A",), block=block, figures={key: value}, ends=ends) for block, value in enumerate(values)
    ]
    mean = mean_of(runs, METRICS[0])
    assert mean is not None and mean.low is not None and mean.high is not None
    assert mean.low < mean.value < mean.high and mean.value == pytest.approx(sum(values) / 2)
    assert (mean.low < 0) is reaches_below_0


@pytest.mark.parametrize("values", [(-2.0, 4.0, 1.0, 5.0), (0.0, 2.0, 3.0, 5.0)], ids=["negative", "nothing"])
def test_a_figure_that_has_no_ratio_is_shown_by_its_mean(values: tuple[float, ...]) -> None:
    """As a drift: both sides read 0, the geometric mean of what is not above 0, and nothing is claimed of it."""
    drift = Metric(key="drift", label="Drift", unit="ops/s", higher_is_better=True, decides=False)
    runs = [FactorRun(levels=("A" if place < 2 else "B",), block=place % 2 + 1, figures={"drift": value})
            for place, value in enumerate(values)]  # fmt: skip
    (only,) = differences(runs, {"mongod": ("A", "B")}, [drift], margin=0.03)
    assert (only.a, only.b) == (1.0, sum(values[2:]) / 2)
    assert only.change is None and only.verdict is ChangeVerdict.NO_CLAIM


def test_a_figure_of_nothing_at_one_level_leaves_the_others_their_ratio() -> None:
    """As operations that were never answered: none after one of the faults, and a verdict on all other pairs."""
    lost = Metric(key="lost", label="Never answered", unit="ops", higher_is_better=False, decides=True)
    values = {("kill", "1"): 1_000.0, ("kill", "4"): 4_000.0, ("step-down", "1"): 0.0, ("step-down", "4"): 0.0,
              ("stop", "1"): 1_000.0, ("stop", "4"): 4_000.0}  # fmt: skip
    runs = [FactorRun(levels=levels, block=block, figures={"lost": value * wobble})
            for levels, value in values.items() for block, wobble in enumerate((1.0, 1.01, 0.99))]  # fmt: skip
    design = {"fault": ("kill", "step-down", "stop"), "cpus": ("1", "4")}

    def verdicts(*, within: bool) -> dict[tuple[str, ...], str]:
        found = differences(runs, design, [lost], margin=0.03, within=within)
        assert all((each.change is None) == (each.verdict is ChangeVerdict.NO_CLAIM) for each in found)
        return {(each.level, *each.at.values()): each.verdict.value for each in found}

    assert verdicts(within=False) == {("step-down",): "no claim", ("stop",): "equivalent", ("4",): "no claim"}
    assert verdicts(within=True) == {
        ("step-down", "1"): "no claim", ("step-down", "4"): "no claim", ("stop", "1"): "equivalent",
        ("stop", "4"): "equivalent", ("4", "kill"): "regressed", ("4", "step-down"): "no claim",
        ("4", "stop"): "regressed",
    }  # fmt: skip


def test_a_combination_without_runs_leaves_the_others_comparable() -> None:
    machine = Machine(settings_of(*FACTORS), faster_b, seed=1)
    design = {factor.name: factor.levels for factor in machine.settings.factors}
    runs = [run for run in runs_of(machine.all()) if run.levels != ("B", "64")]
    (version,) = of(list(differences(runs, design, METRICS, margin=0.03)), "mongod", "throughput")
    assert (version.averaged_over, version.combinations) == (2, 3)
    assert version.verdict is ChangeVerdict.IMPROVED
    one_left = [run for run in runs_of(machine.all()) if run.levels != ("B", "64") or run.block == 1]
    (version,) = of(list(differences(one_left, design, METRICS, margin=0.03)), "mongod", "throughput")
    assert version.averaged_over == 2
    assert version.verdict is ChangeVerdict.IMPROVED


def test_four_combinations_halve_what_figures_with_intervals_leave_open() -> None:
    """A search at each combination, and no second block: independent errors add up as variances do."""
    throughput, reach = METRICS[0], 0.2
    runs = [
        FactorRun(
            levels=(version, connections),
            block=1,
            figures={throughput.key: value},
            ends={throughput.key: (value * math.exp(-reach), value * math.exp(reach))},
        )
        for version, value in (("A", 100.0), ("B", 120.0))
        for connections in "1248"
    ]
    design = {"mongod": ("A", "B"), "connections": tuple("1248")}
    (version,) = of(list(differences(runs, design, [throughput], margin=0.03)), "mongod", throughput.key)
    left_open = math.sqrt(2) * reach / 2
    assert version.change is not None and version.averaged_over == 4
    assert version.change.low == pytest.approx(1.2 * math.exp(-left_open) - 1)
    assert version.change.high == pytest.approx(1.2 * math.exp(left_open) - 1)


def test_what_follows_from_a_factor_is_shown_and_takes_no_part_of_alpha() -> None:
    p99 = Metric(key="p99", label="p99", unit="ns", higher_is_better=False, decides=True)
    throughput = Metric(key="throughput", label="Throughput", unit="ops/s", higher_is_better=True, decides=True)
    runs = [
        FactorRun(
            levels=(level,), block=block, figures={"throughput": 1000.0 * wobble * more, "p99": 1e6 * wobble * slow}
        )
        for level, more, slow in (("8", 1.0, 1.0), ("32", 1.2, 3.3))
        for block, wobble in enumerate((1.0, 1.01, 0.99, 1.005))
    ]
    design = {"connections": ("8", "32")}
    found = differences(runs, design, [p99, throughput], margin=0.03, follows=lambda _, metric: metric.key == "p99")
    assert [(each.metric.key, each.verdict.value) for each in found] == [
        ("p99", "not judged"),
        ("throughput", "improved"),
    ]
    assert found[0].change is not None and found[0].adjusted_p is None
    assert found[1].change is not None and found[1].adjusted_p == found[1].change.p_value

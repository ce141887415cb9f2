"""Known run sets in, verdicts out; and how often simulated sets are called different."""

import json
from dataclasses import replace

import numpy as np
import pytest

from brimline.analysis.change_text import interval_text
from brimline.analysis.changes import MetricChange
from brimline.analysis.compared_run import ComparedRun, Metric
from brimline.analysis.comparison import MARGIN, Comparison, compare_runs, noise_floor, shift_text
from brimline.analysis.judged_change import ALPHA, CLAIMS, ChangeVerdict
from brimline.errors import InvalidRun, UsageError
from brimline.report import render_json
from brimline.report.comparison.view import comparison_report
from brimline.report.summary import next_step, summarised
from brimline.stats.change import Change
from brimline.stats.quantile_interval import NEVER_NS
from tests.support.repetitions import repetitions
from tests.support.run_sets import MS, abba, plan, run_sets, simulated_run

NOISE = (0.0, 0.004, -0.004, 0.007, -0.007)


def runs(side: str, *, count: int = 5, start: int = 0, **figures: float) -> list[ComparedRun]:
    """Runs whose figures vary by half a percent around the given ones."""
    return [
        simulated_run(
            f"{side}{number}",
            figures={name: value * (1 + NOISE[number]) for name, value in figures.items()},
            started_ns=10 * (start + 2 * number),
        )
        for number in range(count)
    ]


def named(comparison: Comparison, key: str) -> MetricChange:
    (found,) = [each for each in comparison.changes if each.metric.key == key]
    return found


def test_more_throughput_is_better_and_more_latency_is_worse() -> None:
    comparison = compare_runs(
        runs("a", throughput=1000.0, p50=MS, p99=5 * MS), runs("b", start=1, throughput=1100.0, p50=MS, p99=6 * MS)
    )
    throughput, p50, p99 = (named(comparison, key) for key in ("throughput", "p50", "p99"))
    assert throughput.verdict is ChangeVerdict.IMPROVED and throughput.change is not None
    assert throughput.change.value == pytest.approx(0.1)
    assert p99.verdict is ChangeVerdict.REGRESSED
    assert p50.verdict is ChangeVerdict.EQUIVALENT
    assert comparison.verdict is ChangeVerdict.MIXED
    assert comparison.reason == "Better: Throughput. Worse: Service p99."
    assert throughput.worsening is not None and throughput.worsening.value == pytest.approx(-0.1)
    assert throughput.worsening.low == -throughput.change.high


def test_one_run_a_side_claims_nothing() -> None:
    comparison = compare_runs(runs("a", count=1, throughput=1000.0), runs("b", count=1, throughput=5000.0))
    assert comparison.verdict is ChangeVerdict.NO_CLAIM
    assert comparison.reason.startswith("One run of either side shows no spread")
    change = named(comparison, "throughput")
    assert change.verdict is ChangeVerdict.NO_CLAIM and change.change is None and change.adjusted_p is None
    lopsided = compare_runs(runs("a", throughput=1000.0), runs("b", count=1, throughput=5000.0))
    assert lopsided.reason.startswith("One run of B shows no spread")


def test_a_significant_change_that_is_surely_small_is_equivalence() -> None:
    comparison = compare_runs(runs("a", throughput=1000.0), runs("b", start=1, throughput=1015.0), margin=0.03)
    change = named(comparison, "throughput")
    assert change.adjusted_p is not None and change.adjusted_p < 0.05
    assert change.verdict is ChangeVerdict.EQUIVALENT
    strict = compare_runs(runs("a", throughput=1000.0), runs("b", start=1, throughput=1015.0), margin=0.01)
    assert named(strict, "throughput").verdict is ChangeVerdict.IMPROVED


def test_a_noisy_difference_is_inconclusive() -> None:
    a = [simulated_run(f"a{number}", figures={"throughput": value}) for number, value in enumerate((1000, 800, 1200))]
    b = [simulated_run(f"b{number}", figures={"throughput": value}) for number, value in enumerate((1150, 900, 1300))]
    comparison = compare_runs(a, b)
    assert comparison.verdict is ChangeVerdict.INCONCLUSIVE
    assert "equivalence isn't either: Throughput" in comparison.reason


def test_an_interval_that_holds_no_0_beside_no_change_is_explained() -> None:
    """Of one figure alone the change is clear, of several that are looked at it is not."""
    noise = (0.0, 0.03, -0.03)
    sides = [
        [
            simulated_run(
                f"{side}{number}", figures={"throughput": 1000 * by * (1 + each), "p50": 1e6 * by**0.4 * (1 + each)}
            )
            for number, each in enumerate(noise)
        ]
        for side, by in (("a", 1.0), ("b", 1.075))
    ]
    comparison = compare_runs(*sides)
    change = named(comparison, "throughput")
    assert change.change is not None and change.change.low > 0 and change.verdict is ChangeVerdict.INCONCLUSIVE
    assert comparison.reason.endswith(
        "p is adjusted for all figures that are looked at, and that decides. Of one alone, Throughput, the interval "
        "holds no 0."
    )


def test_runs_on_a_host_that_others_filled_are_said_to_be_so_before_all_else() -> None:
    """The change is what was measured; how much of it is the targets' nobody knows."""
    took = "other programs took 94.5 % of a full host"
    a = runs("a", throughput=1000.0)
    b = [replace(run, crowded=took) for run in runs("b", start=1, throughput=1300.0)]
    comparison = compare_runs(a, b)
    assert comparison.verdict is ChangeVerdict.IMPROVED
    assert comparison.warnings[0] == (
        "Other programs filled the server's host in 5 of 10 runs, and what they left each side is part of the "
        f"difference (b0: {took})."
    )
    report = summarised(comparison_report(comparison, ()))
    (sure,) = [fact.value for fact in report.verdict.facts if fact.label == "How sure"]
    assert took in sure and ".;" not in sure
    assert next_step(comparison_report(comparison, ())).startswith("wait until the server's host is quiet")
    assert not compare_runs(a, runs("c", start=1, throughput=1300.0)).warnings


def test_what_explains_has_no_say() -> None:
    comparison = compare_runs(
        runs("a", throughput=1000.0, client_cpu=8000.0), runs("b", start=1, throughput=1000.0, client_cpu=16_000.0)
    )
    assert named(comparison, "client_cpu").verdict is ChangeVerdict.REGRESSED
    assert comparison.verdict is ChangeVerdict.EQUIVALENT


def test_metrics_that_decide_are_adjusted_together() -> None:
    a, b = runs("a", throughput=1000.0, p50=MS, p95=MS), runs("b", start=1, throughput=1010.0, p50=MS, p95=MS)
    alone = compare_runs(runs("a", throughput=1000.0), runs("b", start=1, throughput=1010.0))
    together = compare_runs(a, b)
    p_alone, p_together = (named(each, "throughput").adjusted_p for each in (alone, together))
    # p50 and p95 are the same in A and B and take no part: 0 errors in every run are no test either.
    assert p_alone is not None and p_together == pytest.approx(p_alone)
    slower = compare_runs(a, runs("b", start=1, throughput=1010.0, p50=1.001 * MS, p95=1.001 * MS))
    assert named(slower, "throughput").adjusted_p == pytest.approx(3 * p_alone)


def test_errors_are_compared_by_difference() -> None:
    a = [simulated_run(f"a{number}", figures={"errors": 0.0}) for number in range(3)]
    b = [simulated_run(f"b{number}", figures={"errors": 0.02 + 0.0005 * number}) for number in range(3)]
    comparison = compare_runs(a, b)
    assert comparison.verdict is ChangeVerdict.REGRESSED
    assert named(comparison, "errors").a == 0.0 and named(comparison, "errors").b == pytest.approx(0.0205)
    assert compare_runs(a, a).verdict is ChangeVerdict.EQUIVALENT


def test_two_runs_a_side_are_enough_for_an_interval() -> None:
    """Of a ratio, and of a difference."""
    comparison = compare_runs(
        runs("a", count=2, throughput=1000.0, errors=0.01), runs("b", count=2, start=1, throughput=1100.0, errors=0.02)
    )
    changes = {key: named(comparison, key).change for key in ("throughput", "errors")}
    assert all(each is not None and each.low < each.value < each.high for each in changes.values()), changes


def test_a_metric_that_a_run_lacks_is_compared_over_the_others() -> None:
    a, b = runs("a", throughput=1000.0, p99=5 * MS), runs("b", throughput=1000.0, p99=5 * MS)
    bare = [replace(b[0], figures={"throughput": 1000.0}), *b[1:]]
    assert len(named(compare_runs(a, bare), "p99").b_runs) == 4
    lonely = compare_runs(a, [*(replace(run, figures={"throughput": 1000.0}) for run in b[1:]), b[0]])
    assert named(lonely, "p99").verdict is ChangeVerdict.NO_CLAIM
    assert any("Too few runs have enough operations for: Service p99" in each for each in lonely.warnings)


def test_equivalence_is_not_claimed_of_what_is_not_known() -> None:
    figures = {"throughput": 1000.0, "p50": MS, "p95": 2 * MS, "p99": 5 * MS}
    a, b = runs("a", **figures), runs("b", start=1, **figures)
    a, b = ([replace(run, figures={**run.figures, "errors": 0.0}) for run in side] for side in (a, b))
    assert compare_runs(a, b).reason == "Every difference is surely too small to matter."
    slow = [replace(b[0], figures={key: value for key, value in b[0].figures.items() if key != "p99"}), *b[1:]]
    comparison = compare_runs(a, slow)
    assert "not known of every run: Service p99" in comparison.reason
    assert not named(comparison, "p99").of_every_run
    assert any("those without may be the slow ones: Service p99" in each for each in comparison.warnings)


def test_a_rate_that_was_asked_for_makes_nothing_equivalent() -> None:
    """In an open loop both sides have the rate that was asked for; of too few operations no time is known."""
    known = {"throughput": 50.0, "errors": 0.0}
    a, b = runs("a", **known), runs("b", start=1, **known)
    assert compare_runs(a, b).verdict is ChangeVerdict.EQUIVALENT, "a closed loop's throughput is the server's"
    comparison = compare_runs(*([replace(run, kind="open loop") for run in side] for side in (a, b)))
    assert comparison.verdict is ChangeVerdict.INCONCLUSIVE
    assert comparison.reason.startswith("The throughput is what was asked for, and of the times nothing is known")


# what can't be compared


def test_an_open_and_a_closed_loop_are_refused() -> None:
    with pytest.raises(UsageError, match=r"a0 is a closed loop, o is an open loop") as refused:
        compare_runs(runs("a", throughput=1.0), [simulated_run("o", kind="open loop")])
    assert "give both a rate, or neither" in (refused.value.hint or "")
    with pytest.raises(UsageError, match="without a server"):
        compare_runs(runs("a", throughput=1.0), [simulated_run("n", kind="null target")])


def test_runs_of_one_side_must_be_repeats() -> None:
    other = simulated_run("other", plan_of=plan(connections=16))
    with pytest.raises(UsageError, match="connections is 8 in a0 and 16 in other"):
        compare_runs([*runs("a", throughput=1.0), other], runs("b", throughput=1.0))
    reseeded = simulated_run("reseeded", plan_of=plan(seed=2))
    compare_runs([*runs("a", throughput=1.0), reseeded], runs("b", throughput=1.0))


def test_invalid_runs_are_left_out_and_named() -> None:
    spoilt = simulated_run("spoilt", figures={"throughput": 1.0}, problems=("server and generator disagree",))
    comparison = compare_runs([*runs("a", throughput=1000.0), spoilt], runs("b", throughput=1000.0))
    assert len(comparison.a) == 5 and comparison.verdict is ChangeVerdict.EQUIVALENT
    (left_out,) = comparison.left_out
    assert (left_out.side, left_out.name) == ("A", "spoilt")
    assert "spoilt (A) is left out: server and generator disagree" in comparison.warnings
    with pytest.raises(InvalidRun, match="no run of B counts: server and generator disagree"):
        compare_runs(runs("a", throughput=1.0), [spoilt])


# what the reader is told


def test_runs_that_were_not_made_in_turns_are_pointed_out() -> None:
    a, b = runs("a", throughput=1000.0), runs("b", start=100, throughput=1000.0)
    assert any("before those of the other" in each for each in compare_runs(a, b).warnings)
    assert any("before those of the other" in each for each in compare_runs(b, a).warnings)
    assert compare_runs(a, runs("b", start=1, throughput=1000.0)).warnings == ()


def test_few_runs_are_pointed_out() -> None:
    comparison = compare_runs(runs("a", count=3, throughput=1.0), runs("b", count=3, start=1, throughput=1.0))
    assert comparison.warnings == (
        "3 runs a side find large changes only; 5 a side find 5 % where runs vary by 1.5 %.",
    )


def test_a_shift_is_told_by_its_quantiles() -> None:
    a = runs("a", throughput=1000.0)
    slow = [replace(run, distribution=((MS, 9_000), (3 * MS, 1_000))) for run in runs("b", throughput=1000.0)]
    assert shift_text(compare_runs(a, slow).shift) == "B is slower at p95, p99, p99.9; elsewhere no shift is shown."
    assert shift_text(compare_runs(slow, a).shift) == "B is faster at p95, p99, p99.9; elsewhere no shift is shown."
    all_slower = [replace(run, distribution=((5 * MS, 10_000),)) for run in a]
    assert shift_text(compare_runs(a, all_slower).shift).endswith("p95, p99, p99.9: at every quantile shown.")
    assert shift_text(compare_runs(a, a).shift) == "At no quantile a shift is shown."


def test_an_interval_without_0_that_is_no_shift_is_explained() -> None:
    """Of one quantile p is below 5 %, and not among the others."""
    shift = compare_runs(*run_sets(np.random.default_rng(5), order=abba(5))).shift
    alone = Change(value=-0.99, low=-0.999, high=-0.79, inner_low=-0.99, inner_high=-0.9, p_value=0.03, a_count=2,
                   b_count=2)  # fmt: skip
    third = replace(shift[2], change=alone, adjusted_p=0.1, verdict=ChangeVerdict.INCONCLUSIVE)
    told = shift_text([third])
    assert told.startswith("No quantile is shown to shift: p is adjusted") and "at p30, the interval holds no 0" in told


def test_a_metric_that_a_side_lacks_is_named_with_the_reason() -> None:
    """Of A six in ten operations were never answered, of B too few lie above the p99; the table had no row for them."""
    a, b = run_sets(np.random.default_rng(5), order=abba(5))
    lacking = [
        replace(run, figures={name: value for name, value in run.figures.items() if name not in ("p50", "p95", "p99")},
                distribution=((MS, 400), (NEVER_NS, 600)))
        for run in a
    ]  # fmt: skip
    few = [replace(run, figures={name: value for name, value in run.figures.items() if name != "p99"}) for run in b]
    told = {each.metric.key: each.reason for each in compare_runs(lacking, few).absent}
    assert told == {
        "p50": "in A it lies among what was never answered or never sent",
        "p95": "in A it lies among what was never answered or never sent",
        "p99": "in A it lies among what was never answered or never sent; in B too few operations lie above it",
    }
    report = comparison_report(compare_runs(lacking, few), ())
    said = {each.label: each.note for each in report.verdict.facts}
    assert said[named(compare_runs(a, b), "p50").metric.label] == f"left out: {told['p50']}"
    assert [each["name"] for each in json.loads(render_json(report))["absent"]] == ["p50", "p95", "p99"]
    assert compare_runs(a, b).absent == ()


@pytest.mark.parametrize("slower", [0.0, 0.03, 0.1])
def test_a_percentile_has_one_change_one_p_and_one_verdict_wherever_it_stands(slower: float) -> None:
    """Tested over the metrics in one table and over the quantiles in the next, it was shown there and not here."""
    comparison = compare_runs(*run_sets(np.random.default_rng(5), order=abba(5), slower=slower))
    quantiles = {f"p{100 * each.quantile:g}": each for each in comparison.shift}
    for key in ("p50", "p95", "p99"):
        metric, quantile = named(comparison, key), quantiles[key]
        assert (quantile.change, quantile.adjusted_p, quantile.verdict) == (
            metric.change, metric.adjusted_p, metric.verdict,
        )  # fmt: skip
    moved = [name for name, each in quantiles.items() if each.verdict in CLAIMS]
    told = shift_text(comparison.shift)
    assert all(name in told for name in moved) and (bool(moved) or told == "At no quantile a shift is shown.")


def test_what_explains_is_one_family_beside_that_of_the_metrics_that_decide() -> None:
    comparison = compare_runs(*run_sets(np.random.default_rng(5), order=abba(3), slower=0.02))
    metrics = [each for each in comparison.changes if each.metric.decides and each.metric.key != "errors"]
    keys = {each.metric.key for each in comparison.changes}
    rest = [
        *((each.change, each.adjusted_p) for each in comparison.changes if not each.metric.decides),
        *((e.change, e.adjusted_p) for e in comparison.shift if f"p{100 * e.quantile:g}" not in keys),
    ]
    for family in ([(each.change, each.adjusted_p) for each in metrics], rest):
        known = sorted((change.p_value, adjusted) for change, adjusted in family if change and adjusted is not None)
        assert len(known) == len(family) > 3
        assert known[0][1] == pytest.approx(min(1.0, len(known) * known[0][0]))
    assert ALPHA == 0.05


# A against itself


def test_a_change_within_what_a_shows_by_itself_is_no_change() -> None:
    a, b = runs("a", throughput=1000.0), runs("b", start=1, throughput=1060.0)
    floors = noise_floor(a, runs("again", throughput=1000.0))
    assert floors["throughput"] == pytest.approx(0.0083, abs=0.001)
    assert named(compare_runs(a, b, floors=floors), "throughput").verdict is ChangeVerdict.IMPROVED
    noisy = compare_runs(a, b, floors={"throughput": 0.08})
    assert named(noisy, "throughput").verdict is ChangeVerdict.INCONCLUSIVE


@pytest.mark.parametrize("floor", [0.08, 0.5, float("inf")])
def test_noise_of_a_machine_makes_nothing_equivalent(floor: float) -> None:
    """What A differs by from itself hides a change; that is no reason to call B as good as A."""
    a, b = runs("a", throughput=1000.0), runs("b", start=1, throughput=940.0)
    assert compare_runs(a, b, floors={"throughput": floor}).verdict is ChangeVerdict.INCONCLUSIVE
    same = compare_runs(a, runs("b", start=1, throughput=1000.0), floors={"throughput": floor})
    assert same.verdict is ChangeVerdict.EQUIVALENT and named(same, "throughput").margin == MARGIN


# how often it is wrong


def changed(comparison: Comparison) -> bool:
    """Whether any metric is called different."""
    return any(each.verdict in (ChangeVerdict.IMPROVED, ChangeVerdict.REGRESSED) for each in comparison.changes)


@pytest.mark.parametrize("count", [25, *repetitions(200)])
@pytest.mark.parametrize("pairs", [3, 5, 10])
def test_of_equal_sets_at_most_eight_of_a_hundred_are_called_different(pairs: int, count: int) -> None:
    """Comparisons at α = 0.05, with drift, heavy tails and disturbed runs; any metric counts."""
    rng = np.random.default_rng(21)
    called = sum(changed(compare_runs(*run_sets(rng, order=abba(pairs)))) for _ in range(count))
    assert called <= 0.08 * count


@pytest.mark.parametrize("count", [30, *repetitions(300)])
def test_five_percent_is_found_in_four_of_five_comparisons_of_five_runs_a_side(count: int) -> None:
    rng = np.random.default_rng(22)
    comparisons = [compare_runs(*run_sets(rng, order=abba(5), slower=0.05)) for _ in range(count)]
    found = sum(each.verdict is ChangeVerdict.REGRESSED for each in comparisons)
    assert found >= 0.8 * count
    assert not any(each.verdict in (ChangeVerdict.IMPROVED, ChangeVerdict.MIXED) for each in comparisons)


def searched(side: str, *values: tuple[float, float | None, float | None]) -> list[ComparedRun]:
    """Searches that each found a load, with what they know of it."""
    metric = Metric(key="sustained", label="Sustained load", unit="ops/s", higher_is_better=True, decides=True)
    return [
        replace(
            simulated_run(f"{side}{number}", figures={"sustained": value}, distribution=(), started_ns=number),
            kind="capacity",
            metrics=(metric,),
            ends={} if (low, high) == (None, None) else {"sustained": (low, high)},
        )
        for number, (value, low, high) in enumerate(values)
    ]


def test_one_search_a_side_is_enough_for_an_interval() -> None:
    comparison = compare_runs(searched("a", (1000.0, 950.0, 1050.0)), searched("b", (1500.0, 1400.0, 1600.0)))
    change = named(comparison, "sustained").change
    assert change is not None and 0.3 < change.low < 0.5 < change.high < 0.7
    assert change.value == pytest.approx(0.5)
    assert comparison.verdict is ChangeVerdict.IMPROVED and comparison.shift == ()
    assert any(warning.startswith("One a side") for warning in comparison.warnings)
    several = compare_runs(
        searched("a", *[(1000.0, 950.0, 1050.0)] * 3), searched("b", *[(1500.0, 1400.0, 1600.0)] * 3)
    )
    assert several.verdict is ChangeVerdict.IMPROVED
    assert not any(warning.startswith("One a side") for warning in several.warnings)


def test_bounds_are_compared_as_far_as_they_go() -> None:
    known, at_least = searched("a", (1000.0, 950.0, 1050.0)), searched("b", (1500.0, 1500.0, None))
    found = compare_runs(known, at_least)
    # How sure a bound is, nobody knows: it is where the windows of a search ended.
    assert found.verdict is ChangeVerdict.INCONCLUSIVE
    sustained = named(found, "sustained")
    assert (sustained.a_bound, sustained.b_bound) == ("", "≥") and sustained.change is not None
    assert interval_text(sustained.change).startswith("at least +4")
    back = named(compare_runs(at_least, known), "sustained")
    assert back.verdict is ChangeVerdict.INCONCLUSIVE and interval_text(back.change).startswith("at most -3")
    both = compare_runs(at_least, searched("c", (2000.0, 2000.0, None)))
    assert both.verdict is ChangeVerdict.NO_CLAIM and named(both, "sustained").change is None


def test_a_search_without_an_interval_claims_nothing_and_is_compared_with_no_run() -> None:
    bare = compare_runs(searched("a", (1000.0, None, None)), searched("b", (1500.0, None, None)))
    assert bare.verdict is ChangeVerdict.NO_CLAIM and bare.reason.startswith("One search of either side")
    with pytest.raises(UsageError, match="a0 is capacity, b0 is a closed loop"):
        compare_runs(searched("a", (1000.0, None, None)), runs("b", throughput=1000.0))

import math

import numpy as np
import pytest

from brimline.stats.change import relative_change
from brimline.stats.ratio import Interval, interval_ratio, intervals_ratio

PAIRS = 2_000


def figure(rng: np.random.Generator, truth: float, deviation: float) -> Interval:
    """One measured figure, off by a lognormal error that its interval knows."""
    value = truth * math.exp(rng.normal(0, deviation))
    return value, value * math.exp(-1.959964 * deviation), value * math.exp(1.959964 * deviation)


@pytest.mark.parametrize(("deviation_a", "deviation_b"), [(0.01, 0.01), (0.02, 0.10), (0.15, 0.05)])
def test_the_interval_holds_the_true_ratio_in_95_of_100_pairs(deviation_a: float, deviation_b: float) -> None:
    rng = np.random.default_rng(1)
    pairs = [(figure(rng, 40_000, deviation_a), figure(rng, 50_000, deviation_b)) for _ in range(PAIRS)]
    found = [interval_ratio(a, b) for a, b in pairs]
    assert 0.93 <= sum(each.low <= 1.25 <= each.high for each in found) / PAIRS <= 0.97
    assert 0.88 <= sum(each.inner_low <= 1.25 <= each.inner_high for each in found) / PAIRS <= 0.92


def test_equal_figures_are_told_apart_in_5_of_100_pairs() -> None:
    rng = np.random.default_rng(2)
    found = [interval_ratio(figure(rng, 9_000, 0.03), figure(rng, 9_000, 0.05)) for _ in range(PAIRS)]
    assert 0.03 <= sum(each.p_value < 0.05 for each in found) / PAIRS <= 0.07


def test_a_lopsided_interval_covers_as_well() -> None:
    """A rate of counted events has an interval that reaches further up than down (Garwood 1936)."""
    from scipy.stats import chi2

    rng = np.random.default_rng(3)

    def counted(mean: float) -> Interval:
        count = max(int(rng.poisson(mean)), 1)
        return count, float(chi2.ppf(0.025, 2 * count)) / 2, float(chi2.ppf(0.975, 2 * count + 2)) / 2

    found = [interval_ratio(counted(10), counted(500)) for _ in range(PAIRS)]
    assert 0.93 <= sum(each.low <= 50 <= each.high for each in found) / PAIRS <= 0.98
    assert sum(each.low > 50 for each in found) / PAIRS < 0.04 and sum(each.high < 50 for each in found) / PAIRS < 0.04


@pytest.mark.parametrize("count", [2, 3, 5])
def test_several_figures_a_side_cover_what_lies_between_days(count: int) -> None:
    """Days differ by more than a search knows of itself: the spread tells, not the searches' own intervals."""
    rng = np.random.default_rng(4)

    def side(truth: float) -> list[Interval]:
        return [figure(rng, truth * math.exp(rng.normal(0, 0.05)), 0.01) for _ in range(count)]

    found = [intervals_ratio(side(30_000), side(33_000)) for _ in range(PAIRS)]
    assert 0.93 <= sum(each.low <= 1.1 <= each.high for each in found) / PAIRS <= 0.985


def test_known_answers() -> None:
    # Both known to within a factor of 1.1: the ratio to within 1.1 to the power of the square root of 2.
    found = interval_ratio((100, 100 / 1.1, 110), (200, 200 / 1.1, 220))
    assert found.value == pytest.approx(2)
    assert (found.low, found.high) == (pytest.approx(2 / 1.1 ** math.sqrt(2)), pytest.approx(2 * 1.1 ** math.sqrt(2)))
    # An end of the interval that lies at 1 is p = 5 %.
    assert interval_ratio((100, 100, 100), (110, 100, 121)).p_value == pytest.approx(0.05, abs=1e-4)
    assert interval_ratio((100, 90, 110), (100, 90, 110)).p_value == 1
    # A may be a fifth lower, and no higher: so the ratio may be a quarter higher, and no lower.
    lopsided = interval_ratio((100, 80, 100), (100, 100, 100))
    assert (lopsided.low, lopsided.high) == (pytest.approx(1), pytest.approx(1.25))
    change = found.change(a_count=2)
    assert (change.value, change.low, change.a_count) == (pytest.approx(1), pytest.approx(found.low - 1), 2)


def test_figures_without_intervals_are_compared_as_runs_are() -> None:
    a, b = [100.0, 104.0, 99.0], [120.0, 118.0, 125.0]
    found = intervals_ratio([(value, None, None) for value in a], [(value, None, None) for value in b])
    welch = relative_change(a, b)
    assert found.change().value == pytest.approx(welch.value)
    assert (found.change().low, found.change().inner_high) == (
        pytest.approx(welch.low),
        pytest.approx(welch.inner_high),
    )
    assert found.p_value == pytest.approx(welch.p_value)


def test_figures_that_agree_by_luck_are_known_no_better_than_each_alone() -> None:
    same = (1_000.0, 900.0, 1_111.0)
    found = intervals_ratio([same, same], [same, same])
    assert (found.low, found.high) == (pytest.approx(0.9, abs=0.01), pytest.approx(1.11, abs=0.01))


def test_a_bound_gives_a_bound() -> None:
    at_least, known = (500.0, 500.0, None), (400.0, 400.0, 400.0)
    more = interval_ratio(known, at_least)
    assert (more.value, more.low, more.high, more.p_value) == (pytest.approx(1.25), pytest.approx(1.25), math.inf, 0)
    less = interval_ratio(at_least, known)
    assert (less.low, less.high) == (0, pytest.approx(0.8))
    # At least 500 against 600: nothing keeps it from being more, or less.
    assert interval_ratio((600.0, 600.0, 600.0), at_least).p_value == 1
    assert interval_ratio((600.0, None, None), (700.0, None, None)).p_value == 1
    assert (interval_ratio(at_least, at_least).low, interval_ratio(at_least, at_least).high) == (0, math.inf)


def test_no_difference_is_claimed_from_a_bound() -> None:
    known, at_most = (5_000.0, 4_500.0, 5_500.0), (600.0, None, 600.0)
    change = interval_ratio(known, at_most).change()
    assert (change.high, change.p_value) == (pytest.approx(-0.866, abs=0.005), 1)
    assert interval_ratio(known, (600.0, 500.0, 700.0)).change().p_value < 1e-6


@pytest.mark.parametrize("bad", [(0.0, None, None), (-1.0, None, None), (5.0, 6.0, None), (5.0, None, 4.0)])
def test_what_is_no_figure_with_an_interval_is_refused(bad: Interval) -> None:
    with pytest.raises(ValueError, match="no positive figure"):
        interval_ratio(bad, (1.0, None, None))

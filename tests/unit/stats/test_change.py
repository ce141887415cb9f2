import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from brimline.stats.change import absolute_change, geometric_mean, relative_change

A = [100.0, 104.0, 98.0, 101.0, 103.0]
B = [110.0, 108.0, 115.0, 109.0, 112.0]


def test_the_interval_is_welchs_on_the_logarithms() -> None:
    change = relative_change(A, B)
    expected = stats.ttest_ind(np.log(B), np.log(A), equal_var=False)
    interval = expected.confidence_interval(0.95)
    inner = expected.confidence_interval(0.90)
    assert change.value == pytest.approx(geometric_mean(B) / geometric_mean(A) - 1)
    assert change.p_value == pytest.approx(expected.pvalue)
    assert (change.low, change.high) == pytest.approx((math.expm1(interval.low), math.expm1(interval.high)))
    assert (change.inner_low, change.inner_high) == pytest.approx((math.expm1(inner.low), math.expm1(inner.high)))


def test_a_difference_is_in_the_values_own_unit() -> None:
    change = absolute_change([0.0, 0.0, 0.01], [0.02, 0.03, 0.01])
    expected = stats.ttest_ind([0.02, 0.03, 0.01], [0.0, 0.0, 0.01], equal_var=False)
    assert change.absolute and change.value == pytest.approx(0.05 / 3)
    assert change.p_value == pytest.approx(expected.pvalue)


def test_turning_both_sides_round_gives_the_inverse_ratio() -> None:
    forth, back = relative_change(A, B), relative_change(B, A)
    assert (1 + forth.value) * (1 + back.value) == pytest.approx(1)
    assert (1 + forth.low) * (1 + back.high) == pytest.approx(1)
    assert forth.p_value == pytest.approx(back.p_value)


def test_values_without_spread_differ_for_certain_or_not_at_all() -> None:
    same = relative_change([5000.0] * 3, [5000.0] * 3)
    assert (same.value, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    other = relative_change([5000.0] * 3, [5500.0] * 3)
    assert (other.low, other.high) == pytest.approx((0.1, 0.1)) and other.p_value == 0.0


def test_one_run_has_no_spread_and_zero_no_ratio() -> None:
    with pytest.raises(ValueError, match="2 runs"):
        relative_change([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="positive"):
        relative_change([0.0, 1.0], [1.0, 2.0])


def test_an_interval_beyond_what_a_float_holds_is_infinite() -> None:
    change = relative_change([1e-150, 1e150], [1e-150, 1e150])
    assert change.high == math.inf and change.low == pytest.approx(-1.0)
    assert not change.within(0.5)


def test_equivalence_asks_the_inner_interval() -> None:
    change = relative_change([100.0, 101.0, 99.0, 100.5, 99.5], [100.2, 101.1, 99.3, 100.4, 99.6])
    assert change.within(0.03) and not change.within(0.005)
    assert change.reach == max(abs(change.low), abs(change.high))


NOISES: dict[str, Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]] = {
    "normal": lambda rng, count: rng.normal(0, 0.02, count),
    "heavy tails": lambda rng, count: rng.standard_t(3, count) * 0.02,
    "skewed": lambda rng, count: rng.gumbel(0, 0.04, count),
    "outliers": lambda rng, count: (
        rng.normal(0, 0.01, count) - (rng.random(count) < 0.1) * rng.exponential(0.05, count)
    ),
}


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("noise", NOISES)
def test_the_interval_holds_the_truth_as_often_as_it_says(noise: str, runs: int) -> None:
    """600 comparisons with a true ratio of 1.05: at nominal 95 %, fewer than 93 % would be 2.2 standard errors low."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(600):
        a, b = (np.exp(NOISES[noise](rng, runs)) for _ in range(2))
        change = relative_change(list(a), list(1.05 * b))
        held += change.low <= 0.05 <= change.high
    assert held >= 0.93 * 600


@pytest.mark.parametrize(
    ("a", "b", "nothing"),
    [
        ([100.0, 700.0], [110.0, 90.0], True),  # two pairs, one of them disturbed
        ([100.0, 101.0], [160.0, 40.0], True),
        ([100.0, 101.0], [102.0, 103.0], False),  # narrow around little
        ([100.0, 100.1], [5000.0, 5001.0], False),  # far, and surely so
    ],
)
def test_an_interval_tells_nothing_where_it_holds_no_change_and_a_tenfold_one(
    a: list[float], b: list[float], nothing: bool
) -> None:
    change = relative_change(a, b)
    assert change.tells_nothing is nothing and change.reversed.reversed == change
    assert (change.a_count, change.b_count) == (2, 2)


def test_a_difference_of_shares_tells_nothing_from_as_far_as_a_share_can_go() -> None:
    assert absolute_change([0.0, 0.9], [0.5, 0.1]).tells_nothing
    assert not absolute_change([0.0, 0.001], [0.002, 0.001]).tells_nothing

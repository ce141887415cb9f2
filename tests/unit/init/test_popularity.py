import math
from collections import Counter

import numpy as np
import pytest

from brimline.init.popularity import DRAWS_MIN, _deviation, _power_sum, popularity


def _drawn(theta: float, *, key_count: int, draws: int, seed: int) -> Counter[int]:
    weights = np.arange(1, key_count + 1, dtype=np.float64) ** -theta
    random = np.random.default_rng(seed)
    return Counter(random.choice(key_count, draws, p=weights / weights.sum()).tolist())


@pytest.mark.parametrize(
    ("theta", "key_count", "draws"), [(0.99, 10_000, 2000), (0.5, 1000, 2000), (1.2, 100_000, 500)]
)
def test_the_law_of_the_draws_lies_in_the_interval(theta: float, key_count: int, draws: int) -> None:
    found = [
        popularity(_drawn(theta, key_count=key_count, draws=draws, seed=seed).values(), key_count=key_count)
        for seed in range(40)
    ]
    held = sum(each is not None and each.low <= theta <= each.high for each in found)
    assert held >= 34  # 95 % of 40, less three standard deviations
    mean = sum(each.theta for each in found if each is not None) / len(found)
    assert mean == pytest.approx(theta, abs=0.06)


def test_even_draws_are_called_even_and_the_largest_skew_is_said() -> None:
    found = popularity(_drawn(0, key_count=10_000, draws=3000, seed=1).values(), key_count=10_000)
    assert found is not None
    assert found.is_even
    assert found.keys == {"kind": "uniform"}
    assert "theta at most 0." in found.words


def test_skewed_draws_are_called_zipfian() -> None:
    found = popularity(_drawn(0.99, key_count=10_000, draws=3000, seed=1).values(), key_count=10_000)
    assert found is not None
    assert found.keys["kind"] == "zipfian"
    assert found.keys["theta"] == pytest.approx(0.99, abs=0.1)


def test_few_draws_show_nothing() -> None:
    assert popularity([1] * (DRAWS_MIN - 1), key_count=1000) is None
    assert popularity([], key_count=1000) is None
    assert popularity([100], key_count=1) is None


def test_without_a_repetition_a_skew_is_bounded_only() -> None:
    found = popularity([1] * 50, key_count=1_000_000)
    assert found is not None
    assert found.is_even
    assert found.high > 0.5


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.99])
def test_two_draws_coincide_or_do_not(theta: float) -> None:
    """The estimate from two draws is 0 or 1, so that its deviation follows from the chance of a coincidence alone."""
    chance = _power_sum(theta, 10, 2)
    assert _deviation(theta, 10, 2) == pytest.approx(math.sqrt(chance * (1 - chance)))

"""Each test for change: how often it is wrong about series that don't change, and what it finds in those that do."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from brimline.stats.stationarity import (
    batch_means,
    level_change,
    level_difference,
    slope_change,
    spread_change,
)

ALPHA = 0.01
RUNS = 400

Test = Callable[[Sequence[float]], float]
TESTS: dict[str, Test] = {
    "level": lambda series: level_change(series).p_value,
    "slope": lambda series: slope_change(series).p_value,
    "spread": lambda series: spread_change(series).p_value,
}


def noise(count: int, seed: int, *, phi: float = 0.0, skewed: bool = False) -> np.ndarray:
    """Steady noise of standard deviation about 1: each value is `phi` of the one before and something new."""
    rng = np.random.default_rng(seed)
    shocks = rng.exponential(size=count + 50) - 1 if skewed else rng.normal(size=count + 50)
    values = [0.0]
    for shock in shocks:
        values.append(phi * values[-1] + math.sqrt(1 - phi**2) * shock)
    return np.array(values[-count:])


def share_found(test: Test, make: Callable[[int], np.ndarray], runs: int) -> float:
    return sum(test(make(seed).tolist()) < ALPHA for seed in range(runs)) / runs


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize(
    ("count", "phi", "skewed", "wrong_max"),
    [
        (60, 0.0, False, 0.02),
        (60, 0.0, True, 0.02),
        (60, 0.3, False, 0.04),
        (30, 0.0, False, 0.02),
        (60, 0.8, False, 0.15),  # worth 7 values; without the correction for dependence 0.2
        (600, 0.8, False, 0.04),  # taking each value for a new one is wrong about half of these
    ],
)
def test_how_often_it_is_wrong(name: str, count: int, phi: float, skewed: bool, wrong_max: float) -> None:
    wrong = share_found(TESTS[name], lambda seed: noise(count, seed, phi=phi, skewed=skewed), RUNS)
    assert wrong <= wrong_max


@pytest.mark.parametrize("begin", [15, 30, 45])
def test_a_shift_is_found_wherever_it_is(begin: int) -> None:
    def shifted(seed: int) -> np.ndarray:
        return noise(60, seed) + 3 * (np.arange(60) >= begin)

    assert share_found(TESTS["level"], shifted, 100) >= 0.8
    change = level_change(shifted(1).tolist())
    assert change.at == pytest.approx(begin, abs=2)
    assert change.amount == pytest.approx(3, abs=0.7)


def test_a_drift_is_found_with_its_size() -> None:
    def drifting(seed: int) -> np.ndarray:
        return noise(60, seed) + np.linspace(0, 3, 60)

    assert share_found(TESTS["slope"], drifting, 100) >= 0.95
    assert np.mean([slope_change(drifting(seed).tolist()).amount for seed in range(50)]) == pytest.approx(3, abs=0.3)


def test_a_drift_downwards_is_negative() -> None:
    assert slope_change((-np.arange(60.0)).tolist()).amount == pytest.approx(-60)
    assert level_change([5.0] * 30 + [4.0] * 30).amount == -1


def test_a_growing_spread_is_found_with_its_ratio() -> None:
    def restless(seed: int) -> np.ndarray:
        return noise(60, seed) * np.repeat([1.0, 4.0], 30)

    assert share_found(TESTS["spread"], restless, 100) >= 0.9
    assert np.median([spread_change(restless(seed).tolist()).ratio for seed in range(50)]) == pytest.approx(16, rel=0.3)
    assert share_found(TESTS["level"], restless, 100) <= 0.05  # it is no other level


def test_one_disturbance_is_no_other_level_and_no_other_spread() -> None:
    """A checkpoint of 6 s in a window of 60 s happened once: whether it will again isn't known."""

    def disturbed(seed: int) -> np.ndarray:
        values = noise(60, seed) * 0.1
        values[40:46] += 3
        return values

    for name, test in TESTS.items():
        assert share_found(test, disturbed, 100) <= 0.05, name


def test_a_constant_series_doesn_t_change() -> None:
    constant = [0.1] * 60
    assert level_change(constant).p_value == 1
    assert slope_change(constant).p_value == 1
    assert spread_change(constant).p_value == 1 and spread_change(constant).ratio == 1


def test_certain_changes_without_any_noise() -> None:
    assert level_difference([1.0] * 10, [2.0] * 20).p_value == 0
    assert level_difference([1.0] * 10, [1.0] * 20).p_value == 1
    assert level_difference([1.0] * 10, [2.0] * 20).amount == -1
    assert spread_change([1.0] * 30 + [1.0, 3.0] * 15).ratio == math.inf


def test_a_part_with_two_levels_does_not_hide_behind_their_distance() -> None:
    """Ten cold values and ten warm ones: Welch's test takes what lies between them for noise."""
    values = noise(60, 1) * 0.1
    values[:10] -= 5
    difference = level_difference(values[:20].tolist(), values[20:].tolist())
    assert difference.amount == pytest.approx(-2.5, abs=0.1)
    assert difference.p_value < 1e-6


def test_two_parts_of_the_same_noise_have_one_level() -> None:
    wrong = 0
    for seed in range(RUNS):
        values = noise(60, seed).tolist()
        wrong += level_difference(values[:15], values[15:]).p_value < ALPHA
    assert wrong / RUNS <= 0.025


def test_batches_leave_out_at_the_beginning() -> None:
    assert batch_means([9.0, *([1.0, 3.0] * 30)]).tolist() == [2.0] * 30
    assert batch_means(list(range(12))).tolist() == list(range(12))


@pytest.mark.parametrize("test", [level_change, slope_change, spread_change])
def test_too_few_values(test: Callable[[Sequence[float]], object]) -> None:
    with pytest.raises(ValueError, match="at least 12"):
        test([1.0] * 11)

import math

import numpy as np
import pytest

from brimline.stats.batch_means import autocorrelation_time, effective_sample_size, mean_interval


def autoregressive(phi: float, count: int, rng: np.random.Generator) -> list[float]:
    values = [0.0]
    for shock in rng.normal(size=count + 100):
        values.append(phi * values[-1] + shock)
    return values[-count:]


def test_independent_values_count_in_full() -> None:
    times = [autocorrelation_time(np.random.default_rng(seed).normal(size=10_000)) for seed in range(20)]
    assert np.mean(times) == pytest.approx(1.06, abs=0.08)  # the bound at 1 cuts half of the estimates


@pytest.mark.parametrize("phi", [0.5, 0.8])
def test_autoregressive_series_has_the_known_time(phi: float) -> None:
    known = (1 + phi) / (1 - phi)
    times = [autocorrelation_time(autoregressive(phi, 10_000, np.random.default_rng(seed))) for seed in range(20)]
    assert np.mean(times) == pytest.approx(known, rel=0.15)


def test_constant_and_short_series() -> None:
    assert autocorrelation_time([3.0] * 100) == 1.0
    assert effective_sample_size([1.0, 2.0, 3.0]) == 3.0


def test_the_interval_of_independent_values_is_students() -> None:
    """Of 1, 2, 3 and 4: 3.1824 times their standard deviation of 1.2910, by the root of four."""
    found = mean_interval([1.0, 2.0, 3.0, 4.0], unit="1", independent=True)
    assert (found.low, found.high) == pytest.approx((2.5 - 2.0543, 2.5 + 2.0543), abs=1e-3)


def test_interval_covers_the_mean_of_a_dependent_series() -> None:
    covered = 0
    for seed in range(200):
        estimate = mean_interval(autoregressive(0.6, 400, np.random.default_rng(seed)), unit="1")
        covered += estimate.low <= 0 <= estimate.high
    assert covered >= 170  # ignoring dependence covers about 135


def test_one_value_bounds_nothing() -> None:
    assert mean_interval([5.0], unit="1").high == math.inf
    with pytest.raises(ValueError, match="no values"):
        mean_interval([], unit="1")

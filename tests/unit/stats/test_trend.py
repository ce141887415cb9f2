import numpy as np
import pytest

from brimline.stats.trend import growth_rate


def test_a_steady_rise_is_found_exactly() -> None:
    growth = growth_rate([0.0, 1.0, 2.0, 4.0], [10.0, 13.0, 16.0, 22.0], unit="ops/s")
    assert (growth.value, growth.low, growth.high) == pytest.approx((3.0, 3.0, 3.0))


def test_a_random_walk_is_no_trend() -> None:
    """A fitted line finds a trend in most random walks."""
    found = 0
    for seed in range(400):
        walk = np.cumsum(np.random.default_rng(seed).normal(size=20))
        growth = growth_rate(np.arange(20.0), walk, unit="ops/s")
        found += growth.low > 0 or growth.high < 0
    assert found <= 35  # 5 % are 20


def test_a_stationary_queue_does_not_grow() -> None:
    levels = np.random.default_rng(1).poisson(20, size=40)
    growth = growth_rate(np.arange(40.0), levels, unit="ops/s")
    assert growth.low < 0 < growth.high


def test_growth_in_noise_is_found() -> None:
    rng = np.random.default_rng(1)
    growth = growth_rate(np.arange(40.0), 5 * np.arange(40.0) + np.cumsum(rng.normal(size=40)), unit="ops/s")
    assert growth.low > 4 and growth.high < 6


def test_too_few_points() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        growth_rate([0.0, 1.0], [1.0, 2.0], unit="ops/s")

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from brimline.stats.change_points import SEGMENT_MIN, SERIES_MAX, SERIES_MIN, ChangePoint, _energy
from brimline.stats.change_points import change_points as change_points_of
from tests.support.repetitions import repetitions
from tests.support.run_sets import series


def steps(*levels: tuple[int, float], noise: float = 0.01, seed: int = 1) -> list[float]:
    """So many runs at each level."""
    rng = np.random.default_rng(seed)
    return [level * float(np.exp(rng.normal(0, noise))) for count, level in levels for _ in range(count)]


def change_points(values: Sequence[float], **words: Any) -> tuple[ChangePoint, ...]:
    """Of figures without intervals of their own."""
    return change_points_of([(value, None, None) for value in values], **words)


def test_a_step_is_found_where_it_is_with_its_size() -> None:
    (point,) = change_points(steps((15, 1000.0), (12, 950.0)))
    assert point.index == 15 and (point.first, point.end) == (0, 27)
    assert point.change.value == pytest.approx(-0.05, abs=0.01)
    assert point.change.low < -0.05 < point.change.high


def test_a_level_that_came_and_went_gives_two_changes() -> None:
    first, second = change_points(steps((12, 1000.0), (8, 1200.0), (12, 1000.0)))
    assert (first.index, second.index) == (12, 20)
    assert first.change.value == pytest.approx(0.2, abs=0.03)
    assert second.change.value == pytest.approx(-1 / 6, abs=0.03)
    assert (first.end, second.first) == (20, 12)


def test_a_single_spike_is_no_change() -> None:
    values = steps((30, 1000.0))
    values[14] *= 0.5
    assert change_points(values) == ()


def test_a_change_below_the_floor_is_not_reported() -> None:
    values = steps((30, 1000.0), (30, 980.0), noise=0.003)
    assert change_points(values, floor=0.03) == ()
    (point,) = change_points(values, floor=0.01)
    assert point.index == 30


def test_three_runs_are_the_shortest_level() -> None:
    assert [point.index for point in change_points(steps((20, 1000.0), (SEGMENT_MIN, 700.0)))] == [20]
    assert change_points(steps((20, 1000.0), (SEGMENT_MIN - 1, 700.0))) == ()
    assert change_points(steps((3, 1000.0), (2, 500.0))) == ()


def test_figures_that_know_themselves_badly_make_no_change_of_what_looks_like_one() -> None:
    """Searches that agree by luck, and could each be a tenth off: three such are no level of their own."""
    values = steps((SERIES_MIN, 1000.0), (SEGMENT_MIN, 930.0), noise=0.001)
    assert [point.index for point in change_points(values)] == [SERIES_MIN]
    assert [point.index for point in change_points_of([(value, 0.99 * value, 1.01 * value) for value in values])] == [6]
    assert change_points_of([(value, 0.9 * value, 1.1 * value) for value in values]) == ()


def test_values_that_are_all_the_same_have_no_change() -> None:
    assert change_points([5000.0] * 40) == ()
    assert change_points([]) == ()
    with pytest.raises(ValueError, match="positive"):
        change_points([1.0, 0.0])


def test_of_a_long_series_the_newest_values_are_looked_at() -> None:
    values = steps((SERIES_MAX, 1000.0), (20, 800.0))
    assert [point.index for point in change_points(values)] == [SERIES_MAX]


def test_the_statistic_is_that_of_the_paper() -> None:
    """Against sums written out, over every τ and κ."""
    values = np.random.default_rng(2).normal(size=11)

    def statistic(tau: int, kappa: int) -> float:
        x, y = values[:tau], values[tau:kappa]
        across = np.mean([abs(left - right) for left in x for right in y])
        within = [np.mean([abs(u - v) for u, v in itertools.combinations(part, 2)]) for part in (x, y)]
        return float(len(x) * len(y) / kappa * (2 * across - sum(within)))

    places = [
        (tau, kappa)
        for tau in range(SEGMENT_MIN, len(values) - SEGMENT_MIN + 1)
        for kappa in range(tau + SEGMENT_MIN, len(values) + 1)
    ]
    best = max(places, key=lambda place: statistic(*place))
    found, tau = _energy(np.abs(values[:, None] - values[None, :]))
    assert found == pytest.approx(statistic(*best)) and tau == best[0]


@pytest.mark.parametrize("seeds", [20, *repetitions(100)])
@pytest.mark.parametrize("count", [12, 30])
def test_series_without_a_change_seldom_have_one(count: int, seeds: int) -> None:
    """With drift, heavy tails and disturbed runs."""
    rng = np.random.default_rng(11)
    alarms = sum(bool(change_points(series(rng, count), seed=seed)) for seed in range(seeds))
    assert alarms <= 0.08 * seeds


@pytest.mark.parametrize("seeds", [15, *repetitions(60)])
def test_a_step_of_five_percent_is_found_five_runs_after_it(seeds: int) -> None:
    rng = np.random.default_rng(12)
    found = 0
    for seed in range(seeds):
        points = change_points(series(rng, 30, level=[1.0] * 25 + [0.95] * 5), seed=seed)
        found += any(abs(point.index - 25) <= 1 for point in points)
    assert found >= 0.6 * seeds

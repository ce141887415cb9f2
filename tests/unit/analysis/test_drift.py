"""What drifts, changes its level and runs full, in series whose law is known."""

from dataclasses import replace

import numpy as np
import pytest

from brimline.analysis.drift import Drift, Series, drifts

HOUR_S = 3600.0
HOURS = 6.0
COUNT = 300


def times() -> np.ndarray:
    return (np.arange(COUNT) + 0.5) * HOURS * HOUR_S / COUNT


def flow(rng: np.random.Generator, *, leak: float = 0.0, step: float = 0.0, variation: float = 0.02) -> Series:
    """A latency of 1 ms that varies from block to block, neighbours alike, and grows by `leak` in an hour."""
    noise = rng.normal(size=COUNT)
    for place in range(1, COUNT):
        noise[place] += 0.3 * noise[place - 1]
    at_s = times()
    level = 1e6 * (1 + leak * at_s / HOUR_S) * (1 + step * (at_s > HOURS / 2 * HOUR_S))
    values = level * (1 + variation * noise)
    return Series(key="mean", label="mean", unit="ns", kind="flow", times_s=at_s, values=values)


def level(rng: np.random.Generator, *, per_hour: float = 0.0, full_at: float | None = None) -> Series:
    """A memory of 200 MB that wanders, and grows by `per_hour`."""
    wandering = np.cumsum(rng.normal(size=COUNT)) * 1e5
    at_s = times()
    return Series(key="memory", label="memory", unit="bytes", kind="level", times_s=at_s, full_at=full_at,
                  values=200e6 + wandering + per_hour * at_s / HOUR_S)  # fmt: skip


def only(*series: Series) -> Drift:
    return drifts(series)[0]


def test_a_server_that_stays_as_it_is_is_seldom_found_to_drift() -> None:
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = drifts([flow(rng), flow(rng, variation=0.1), level(rng)])
        wrong += any(each.found or each.changes for each in found)
    assert wrong <= 3, "of 60"


def test_one_per_cent_an_hour_is_found_with_an_interval_that_holds_it() -> None:
    found = [only(flow(np.random.default_rng(seed), leak=0.01)) for seed in range(20)]
    assert all(each.found and each.is_worse and not each.changes for each in found)
    assert sum(each.low <= 1e4 <= each.high for each in found) >= 17


def test_a_new_level_is_no_drift_and_is_placed_in_time() -> None:
    found = only(flow(np.random.default_rng(1), step=0.1))
    (change,) = found.changes
    assert not found.found
    assert change.low <= 0.1 <= change.high
    assert change.from_s <= HOURS / 2 * HOUR_S <= change.to_s


def test_what_wanders_is_not_found_to_grow_and_what_grows_is() -> None:
    grown = only(level(np.random.default_rng(2), per_hour=20e6))
    assert grown.found and grown.low <= 20e6 <= grown.high
    assert sum(only(level(np.random.default_rng(seed))).found for seed in range(50)) <= 3


def test_what_is_left_is_used_up_at_the_pace_of_the_second_half() -> None:
    at_s = times()
    steps = np.random.default_rng(3).normal(1.0, 0.2, COUNT).cumsum()
    left = Series(key="disk", label="disk", unit="bytes", kind="level", times_s=at_s, full_at=0.0,
                  values=1000.0 - steps, higher_is_better=True)  # fmt: skip
    found = only(left)
    assert found.full is not None and found.full.latest_s is not None
    truth_s = float(left.values[-1]) / (COUNT / (HOURS * HOUR_S))
    assert found.full.earliest_s < truth_s < found.full.latest_s
    filled = np.minimum(at_s / at_s[-1] * 4, 1.0) * 800
    once = Series(
        key="cache", label="cache", unit="bytes", kind="level", times_s=at_s, values=100 + filled, full_at=2e3
    )
    assert only(once).full is None, "it filled at the beginning and stays"


def test_a_series_of_one_value_or_of_few_says_nothing() -> None:
    at_s = times()
    still = Series(key="x", label="x", unit="connections", kind="level", times_s=at_s, values=np.full(COUNT, 8.0))
    assert not only(still).found
    assert drifts([Series(key="x", label="x", unit="ns", kind="flow", times_s=at_s[:5], values=at_s[:5])]) == ()
    zero = Series(key="e", label="e", unit="share", kind="flow", times_s=at_s, values=np.zeros(COUNT))
    assert not only(zero).found and only(zero).share_per_hour is None


@pytest.mark.parametrize("better", [True, False])
def test_the_direction_that_nobody_wants_depends_on_the_figure(better: bool) -> None:
    rng = np.random.default_rng(4)
    one = flow(rng, leak=0.02)
    turned = Series(key="x", label="x", unit="ops/s", kind="flow", times_s=one.times_s, values=one.values,
                    higher_is_better=better)  # fmt: skip
    assert only(turned).is_worse is not better


def memory(rng: np.random.Generator, *jumps: tuple[float, float], per_hour: float = 0.0) -> Series:
    """That of `level`, and so many bytes more from an instant on, in hours, for each of `jumps`."""
    plain = level(rng, per_hour=per_hour)
    return replace(plain, values=plain.values + sum(by * (plain.times_s > at * HOUR_S) for at, by in jumps))


@pytest.mark.parametrize(
    "jumps", [[(2.0, 40e6)], [(2.0, 40e6), (4.0, 40e6)], [(2.0, -40e6)]], ids=["up", "two", "down"]
)
def test_memory_that_goes_to_a_new_level_at_once_is_told_and_placed(jumps: list[tuple[float, float]]) -> None:
    held = drifting = 0
    for seed in range(10):
        found = only(memory(np.random.default_rng(seed), *jumps))
        drifting += found.found
        assert len(found.changes) == len(jumps)
        for (at, by), change in zip(jumps, found.changes, strict=True):
            assert change.from_s <= at * HOUR_S <= change.to_s <= change.from_s + HOURS * HOUR_S / 35
            held += change.low * change.before <= by <= change.high * change.before
    assert held >= 9 * len(jumps), "of 10, by an interval of 95 %"
    assert drifting <= 1, "of 10: a jump is no drift, and what wanders seldom is one"


def test_what_grows_beside_a_jump_grows_by_what_is_left_of_it() -> None:
    found = only(memory(np.random.default_rng(5), (3.0, 60e6), per_hour=20e6))
    assert found.found and found.low <= 20e6 <= found.high
    assert len(found.changes) == 1


def test_what_comes_and_goes_fills_or_wanders_has_no_new_level() -> None:
    burst = only(memory(np.random.default_rng(6), (3.0, 80e6), (3.2, -80e6)))
    assert burst.changes == ()
    at_s = times()
    for share in (0.05, 0.1, 0.2, 0.5, 1.0):  # of the time
        values = 1e6 + 200e6 * (1 - np.exp(-3 * at_s / at_s[-1] / share))
        filled = replace(level(np.random.default_rng(7)), values=values)
        assert only(filled).changes == ()
    teeth = replace(level(np.random.default_rng(7)), values=1e8 * (1 + 0.3 * (np.arange(COUNT) % 60) / 60))
    assert only(teeth).changes == ()
    assert not any(only(level(np.random.default_rng(seed))).changes for seed in range(100))


def test_connections_that_stay_and_become_twice_as_many_have_a_new_level() -> None:
    values = np.where(times() > 3 * HOUR_S, 200.0, 100.0)
    series = Series(key="c", label="c", unit="connections", kind="level", times_s=times(), values=values)
    (change,) = only(series).changes
    assert (change.before, change.after, change.change) == (100.0, 200.0, 1.0)


@pytest.mark.parametrize("minutes", [5, 15])
def test_connections_that_are_opened_by_and_by_have_one_new_level(minutes: float) -> None:
    """A stretch of time is 9 minutes."""
    opened = np.clip((times() - 3 * HOUR_S) / (minutes * 60), 0, 1) * 120
    series = Series(key="c", label="c", unit="connections", kind="level", times_s=times(), values=38 + opened)
    found = only(series)
    (change,) = found.changes
    assert (change.before, change.after) == (38.0, 158.0)
    assert (found.low, found.per_hour, found.high) == (0, 0, 0), "what the change itself was is no drift"
    assert change.from_s <= 3 * HOUR_S and change.to_s >= 3 * HOUR_S + minutes * 60

"""The chance that windows meet an objective: what the posterior makes of them, against what is known by hand."""

import numpy as np
import pytest

from brimline.stats.hold_chance import HoldPosterior, Window


def posterior(windows: list[Window], *, hold: float = 0.9, references: tuple[float, ...] = ()) -> HoldPosterior:
    return HoldPosterior(windows, low=10.0, high=4000.0, likely=950.0, hold=hold, references=references)


def step(at: float, loads: list[float]) -> list[Window]:
    return [Window(load, 1.0 if load <= at else 0.0) for load in loads]


def test_before_any_window_it_lies_about_the_likely_load() -> None:
    empty = posterior([])
    assert empty.quantile(0.5) == pytest.approx(950, rel=0.1)
    low, high = empty.interval(0.95)
    assert low < 100 and high > 1500
    assert (low, high) == pytest.approx((empty.quantile(0.025), empty.quantile(0.975)))


def test_a_sharp_step_is_found_between_the_windows_around_it() -> None:
    found = posterior(step(1000, [500, 1500, 900, 1100, 980, 1020, 1000, 1010, 995, 1005]))
    low, high = found.interval(0.95)
    assert 700 < low <= 1000 <= high < 1030 and found.quantile(0.5) == pytest.approx(990, rel=0.02)


def test_windows_that_differ_lower_what_nine_of_ten_bear() -> None:
    """Half of the windows bear 1 000, with a spread of 10 %: nine of ten bear 12 % less."""
    rng = np.random.default_rng(3)
    bears = 1000 * np.exp(0.1 * rng.standard_normal(60))
    loads = np.exp(rng.uniform(np.log(700), np.log(1300), 60))
    windows = [Window(float(load), float(load <= each)) for load, each in zip(loads, bears, strict=True)]
    found = {hold: posterior(windows, hold=hold).quantile(0.5) for hold in (0.5, 0.9)}
    assert found[0.5] == pytest.approx(1000, rel=0.07)
    assert found[0.9] == pytest.approx(1000 * np.exp(-0.128), rel=0.08)
    assert found[0.9] / found[0.5] == pytest.approx(np.exp(-0.128), rel=0.05)


def test_one_disturbed_window_far_below_moves_little() -> None:
    loads = [500.0, 1500, 900, 1100, 980, 1020, 1000, 1010, 800, 850]
    calm, disturbed = posterior(step(1000, loads)), posterior([*step(1000, loads), Window(600, 0.0)])
    assert disturbed.quantile(0.5) == pytest.approx(calm.quantile(0.5), rel=0.03)
    assert disturbed.lapse > calm.lapse


def test_what_full_windows_answered_tells_where_they_end() -> None:
    loads = [800.0, 1200.0, 1150.0, 1100.0]
    blind = posterior(step(1000, loads))
    told = posterior([Window(each, float(each <= 1000), answered=1000.0 if each > 1000 else None) for each in loads])
    widths = [high - low for low, high in (each.interval(0.95) for each in (blind, told))]
    assert widths[1] < 0.8 * widths[0]


def test_a_reference_load_that_moves_keeps_the_interval_wide() -> None:
    windows = step(1000, [500, 1500, 900, 1100, 980, 1020])
    still = posterior(windows, references=(1000.0, 1002.0, 998.0, 1001.0))
    moving = posterior(windows, references=(1000.0, 1200.0, 850.0, 1080.0))
    assert moving.spread > 3 * still.spread
    assert moving.interval(0.95)[0] < still.interval(0.95)[0]


def test_a_figure_at_its_limit_says_that_the_window_just_bears_the_load() -> None:
    """Neither met nor missed, and yet it tells: the load that is borne lies near."""
    low, high = posterior([Window(1000.0, 0.5)] * 4).interval(0.95)
    assert 550 < low < 1000 and high < 1100
    assert posterior([Window(1000.0, 0.5)] * 4, hold=0.5).quantile(0.5) == pytest.approx(1000, rel=0.02)


def test_a_window_teaches_most_where_its_outcome_is_open() -> None:
    found = posterior(step(1000, [500, 1500, 900, 1100]))
    gains = found.information([500.0, 1000.0, 1500.0])
    assert gains[1] > gains[0] >= 0 and gains[1] > gains[2] >= 0


@pytest.mark.parametrize(
    ("low", "high", "hold"), [(0.0, 10.0, 0.9), (10.0, 10.0, 0.9), (1.0, 10.0, 0.0), (1.0, 10.0, 1)]
)
def test_what_makes_no_sense_is_refused(low: float, high: float, hold: float) -> None:
    with pytest.raises(ValueError, match=r"no loads between|lies between 0 and 1"):
        HoldPosterior([], low=low, high=high, likely=5.0, hold=hold)

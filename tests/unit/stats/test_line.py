"""A line whose slope and intercept are known is found again, with intervals that hold; a bend is seen."""

import math

import numpy as np
import pytest

from brimline.stats.line import Place, departure, fit_line, mean_bounds

INTERCEPT, SLOPE = 2e6, 1_000.0
WIDTHS = (1e3, 1e4, 1e5, 1e6)


def measured(rng: np.random.Generator, *, repetitions: int, noise: float, power: float = 1.0) -> list[Place]:
    """Times of each width: the line's, or along a power of the width."""
    return [
        Place(
            x=width,
            y=tuple(
                float(each) for each in (INTERCEPT + SLOPE * width**power) * np.exp(rng.normal(0, noise, repetitions))
            ),
        )
        for width in WIDTHS
    ]


def test_a_line_without_noise_is_found_exactly() -> None:
    places = [Place(x=x, y=(INTERCEPT + SLOPE * x,) * 3) for x in WIDTHS]
    line = fit_line(places)
    assert line.slope == pytest.approx(SLOPE, rel=1e-9)
    assert line.intercept == pytest.approx(INTERCEPT, rel=1e-6)
    assert line.inverse(INTERCEPT + SLOPE * 5e5).value == pytest.approx(5e5, rel=1e-9)
    assert departure(places).value == pytest.approx(1, rel=1e-9)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    rounds = 300
    held = {"slope": 0, "intercept": 0, "inverse": 0, "departure": 0}
    for _ in range(rounds):
        places = measured(rng, repetitions=5, noise=0.05)
        line = fit_line(places)
        for name, bounds, truth in (
            ("slope", line.slope_bounds(), SLOPE),
            ("intercept", line.intercept_bounds(), INTERCEPT),
            ("inverse", line.inverse(3e8), (3e8 - INTERCEPT) / SLOPE),
            ("departure", departure(places), 1.0),
        ):
            assert bounds.low is not None and bounds.high is not None
            held[name] += bounds.low <= truth <= bounds.high
    # 95 % nominal; 300 rounds have a standard error of 1.3 %.
    assert all(count / rounds >= 0.90 for count in held.values()), held
    assert held["slope"] / rounds <= 0.99, "an interval that always holds says nothing"


def test_one_disturbed_execution_bends_nothing() -> None:
    rng = np.random.default_rng(2)
    places = measured(rng, repetitions=5, noise=0.01)
    disturbed = [*places[:-1], Place(x=places[-1].x, y=(*places[-1].y[:-1], places[-1].y[-1] * 20))]
    assert fit_line(disturbed).slope == pytest.approx(SLOPE, rel=0.05)


@pytest.mark.parametrize(("power", "longer"), [(1.15, True), (0.85, False)])
def test_a_bend_shows_in_the_largest_place(power: float, longer: bool) -> None:
    found = departure(measured(np.random.default_rng(3), repetitions=5, noise=0.03, power=power))
    assert found.low is not None and found.high is not None
    assert found.low > 1.1 if longer else found.high < 0.9


def test_a_single_value_has_no_interval() -> None:
    assert mean_bounds([4.0]).low is None
    bounds = mean_bounds([4.0, 6.0])
    assert bounds.value == 5.0 and bounds.low is not None
    # Student with one degree of freedom: 12.706 standard errors of 1.
    assert bounds.low == pytest.approx(5 - 12.706, abs=0.001)


@pytest.mark.parametrize("places", [[Place(x=1, y=(1.0, 2.0, 3.0))], [Place(x=1, y=(1.0,)), Place(x=2, y=(1.0,))]])
def test_too_little_makes_no_line(places: list[Place]) -> None:
    with pytest.raises(ValueError, match="two places"):
        fit_line(places)


def test_a_falling_line_predicts_nothing_beyond_zero() -> None:
    places = [Place(x=1.0, y=(10.0, 10.1)), Place(x=2.0, y=(5.0, 5.1)), Place(x=9.0, y=(4.0, 4.1))]
    assert math.isinf(departure(places).value)


def test_a_departure_of_which_nothing_is_known_has_no_interval() -> None:
    """Two repetitions that differ a thousandfold: half the interval is e^700 and more, which is no number."""
    places = [Place(x=x, y=(1.0, 1e30)) for x in (10.0, 50.0, 90.0)]
    found = departure(places)
    assert found.low is None and found.high is None

import pytest

from brimline.stats.estimate import Estimate, interval_tells


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        # Two digits of the interval's width decide the rounding.
        (Estimate(value=9412.3, low=9104.2, high=9701.7, unit="ops/s"), "9 410 ops/s (95 % CI 9 100–9 700)"),
        (Estimate(value=14320, low=14313, high=14328, unit="ops/s"), "14 320 ops/s (95 % CI 14 313–14 328)"),
        (Estimate(value=1.2345, low=1.2, high=1.3, unit="ms"), "1.23 ms (95 % CI 1.20–1.30)"),
        (Estimate(value=5, low=5, high=5, unit="s", confidence=0.9), "5 s (90 % CI 5–5)"),
    ],
)
def test_printing(estimate: Estimate, text: str) -> None:
    assert str(estimate) == text


@pytest.mark.parametrize(("value", "digits"), [(9412.3, 3), (99.96, 3), (0.0, 1)])
def test_digits_are_those_that_the_interval_leaves(value: float, digits: int) -> None:
    """Of 9 410, 100 and 0: what ends in zeros that say nothing has fewer than it shows."""
    width = 600 if value > 1000 else 10
    assert Estimate(value=value, low=value - width / 2, high=value + width / 2, unit="s").value_text.digits == digits


def test_an_interval_contains_its_value() -> None:
    with pytest.raises(ValueError, match="does not contain"):
        Estimate(value=1, low=2, high=3, unit="s")


def test_relative_width() -> None:
    assert Estimate(value=100, low=95, high=105, unit="s").relative_width == pytest.approx(0.1)
    assert Estimate(value=0, low=-1, high=1, unit="s").relative_width == float("inf")


@pytest.mark.parametrize(
    ("value", "low", "high", "tells"),
    [
        (0.12, 0.02, 0.76, True),
        (1.51, 2.4e-9, 9.3e8, False),
        (60.0, 0.0, 119.0, True),
        (60.0, 0.0, 256.0, True),
        (60.0, 0.0, 6000.0, False),
        (0.0, -1.0, 5.0, True),  # of no size, so that no ratio tells
    ],
)
def test_an_interval_over_decades_tells_nothing(value: float, low: float, high: float, tells: bool) -> None:
    assert interval_tells(value, low, high) is tells

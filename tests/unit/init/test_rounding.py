from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline.init.rounding import date_range, duration_words, length_value, rounded_range, rounded_size


@pytest.mark.parametrize(
    ("low", "high", "rounded"),
    [
        (1, 5, (1, 5)),
        (18, 89, (10, 90)),
        (3.2, 487.33, (0, 500)),
        (-17.3, 4, (-20, 10)),
        (0, 0, (0, 0)),
        (5.5, 5.5, (5, 6)),
        (5000, 5000, (5000, 6000)),
    ],
)
def test_ranges_end_at_round_numbers(low: float, high: float, rounded: tuple[float, float]) -> None:
    assert rounded_range(float(low), float(high)) == rounded


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_a_rounded_range_holds_the_range(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    below, above = rounded_range(low, high)
    slack = 1e-9 * max(abs(low), abs(high))
    assert below <= low + slack
    assert above >= high - slack


def test_sizes_keep_two_digits() -> None:
    assert [rounded_size(size) for size in (0, 7, 19, 24, 123, 98_765)] == [0, 7, 19, 24, 120, 99_000]


def test_lengths_are_one_number_a_range_or_fifths() -> None:
    assert length_value(Counter({24: 10})) == 24
    assert length_value(Counter({11: 1, 14: 1})) == {"kind": "uniform", "min": 11, "max": 14}
    uneven = length_value(Counter({1: 60, 500: 20, 9_000: 20}))
    assert uneven == {"kind": "histogram", "weights": {"1": 60, "500": 20, "9000": 20}}


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ("2019-03-05T10:11:12", "2024-07-08T01:02:03", ("2019-01-01", "2025-01-01")),
        ("2024-03-05T10:11:12", "2024-12-08T01:02:03", ("2024-03-01", "2025-01-01")),
        ("2024-03-05T10:11:12", "2024-03-15T01:02:03", ("2024-03-05", "2024-03-16")),
        ("2024-03-05T10:11:12", "2024-03-05T10:11:12", ("2024-03-01", "2024-04-01")),
        ("2024-03-05T10:11:12", "2024-03-05T10:22:03", ("2024-03-05T10:00:00Z", "2024-03-05T11:00:00Z")),
    ],
)
def test_dates_end_at_round_moments(low: str, high: str, said: tuple[str, str]) -> None:
    ends = [int(datetime.fromisoformat(each).replace(tzinfo=UTC).timestamp() * 1000) for each in (low, high)]
    assert date_range(*ends) == said


def test_durations_have_two_digits_and_a_unit() -> None:
    said = [duration_words(ms) for ms in (7 * 86_400_000, 5_400_000, 61_000, 1_234, 12)]
    assert said == ["7d", "2h", "1m", "1s", "12ms"]

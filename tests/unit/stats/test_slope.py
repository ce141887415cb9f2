"""A line through a series: its rate, and an interval that says what its p-value says."""

import numpy as np
import pytest

from brimline.stats.estimate import CONFIDENCE
from brimline.stats.slope import slope
from brimline.stats.stationarity import VALUE_COUNT_MIN


def test_a_line_without_noise_is_found_exactly() -> None:
    times = [10.0 + at for at in range(90)]  # two to a batch
    found = slope(times, [7.0 - 0.5 * at for at in times])
    assert (found.rate, found.low, found.high) == pytest.approx((-0.5, -0.5, -0.5))
    assert (found.begin, found.end, found.p_value) == (pytest.approx(2.0), pytest.approx(-42.5), 0.0)


def test_the_interval_leaves_out_none_exactly_where_chance_does() -> None:
    """Both are Student's, of the same error: a rate that lies outside at 95 % has a p-value below 5 %."""
    times, sides = np.arange(60.0), {True: 0, False: 0}
    for seed in range(60):
        found = slope(times, np.random.default_rng(seed).normal(size=60) + 0.013 * times)
        is_sure = found.p_value < 1 - CONFIDENCE
        assert is_sure is not (found.low <= 0 <= found.high), seed
        sides[is_sure] += 1
    assert min(sides.values()) > 10, "slopes of both kinds were looked at"


def test_too_few_values_have_no_slope() -> None:
    with pytest.raises(ValueError, match=f"at least {VALUE_COUNT_MIN} values"):
        slope(range(VALUE_COUNT_MIN - 1), range(VALUE_COUNT_MIN - 1))

import pytest

from brimline.stats.quantile_shift import QUANTILES, shift_function

Histogram = list[tuple[int, int]]


def uniform(low: int, high: int) -> Histogram:
    """Every value once."""
    return [(value, 1) for value in range(low, high)]


def test_a_tail_that_grew_shows_where_it_grew_and_nowhere_else() -> None:
    a = [uniform(1000 + run, 11_000 + run) for run in range(5)]
    b = [[(value if value < 9000 else 2 * value, count) for value, count in histogram] for histogram in a]
    shift = {each.quantile: each for each in shift_function(a, b)}
    assert shift.keys() == set(QUANTILES)
    for quantile in (0.1, 0.5, 0.7):
        change = shift[quantile].change
        assert change is not None and change.value == pytest.approx(0.0)
    for quantile in (0.9, 0.99, 0.999):
        change = shift[quantile].change
        assert change is not None and change.value == pytest.approx(1.0)
        assert change.p_value < 1e-6
    # 90 % of 1000 … 10 999 is 9999; all of A lie one apart.
    assert shift[0.9].a_ns == pytest.approx(10_001, abs=2)
    assert shift[0.9].b_ns == pytest.approx(20_002, abs=4)


def test_a_shift_is_the_ratio_of_the_two_values_beside_it() -> None:
    # Most operations of A are of its fast run, most of B of its slow one; the runs of B are faster all the same.
    a = [uniform(200, 10_200), uniform(4000, 5000)]
    b = [uniform(100, 1100), uniform(2000, 12_000)]
    for each in shift_function(a, b):
        assert each.change is not None
        assert each.b_ns / each.a_ns - 1 == pytest.approx(each.change.value, abs=1e-3)
    one_each = shift_function(a[:1], b[:1])
    assert (one_each[0].a_ns, one_each[0].b_ns) == (1199, 199)


def test_quantiles_that_a_run_has_too_few_values_for_are_left_out() -> None:
    many, few = uniform(1, 100_001), uniform(1, 201)
    shown = [each.quantile for each in shift_function([many, many], [many, few])]
    assert max(shown) == 0.95  # 200 · 0.05 = 10
    assert 0.999 in [each.quantile for each in shift_function([many], [many])]


def test_one_run_a_side_shows_the_distributions_and_claims_nothing() -> None:
    shift = shift_function([uniform(1, 1001)], [uniform(1, 1001), uniform(1, 1001)])
    assert shift and all(each.change is None for each in shift)

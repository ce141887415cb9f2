import numpy as np
import pytest

from brimline.stats.multiple import holm


def test_the_smallest_is_multiplied_by_the_number_of_tests_and_order_is_kept() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_no_adjusted_value_exceeds_one_or_falls_below_its_own() -> None:
    values = [0.9, 0.5, 0.2, 0.0]
    adjusted = holm(values)
    assert all(own <= each <= 1.0 for own, each in zip(values, adjusted, strict=True))
    assert holm([]) == [] and holm([0.03]) == [0.03]


def test_a_family_of_true_hypotheses_is_rejected_at_most_in_five_of_a_hundred() -> None:
    rng = np.random.default_rng(3)
    rejected = sum(min(holm(list(rng.random(8)))) < 0.05 for _ in range(2000))
    assert 0.03 * 2000 < rejected < 0.065 * 2000

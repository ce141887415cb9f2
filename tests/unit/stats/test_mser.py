import numpy as np
import pytest

from brimline.stats.mser import BATCH_LENGTH, Truncation, mser5


def transient(length: int, *, warmup: int, height: float, seed: int) -> list[float]:
    """Noise around 10 with standard deviation 1, the first `warmup` values higher."""
    values = np.random.default_rng(seed).normal(10, 1, size=length)
    values[:warmup] += height
    return values.tolist()


def test_the_definition_by_hand() -> None:
    """Batch means 9, 1, 2, 1, 2, 1: the squared errors are 8.22/6, 0.24/5, 0.25/4 and 0.222/3, least for the second."""
    series = [mean for mean in (9.0, 1.0, 2.0, 1.0, 2.0, 1.0) for _ in range(BATCH_LENGTH)]
    assert mser5(series) == Truncation(index=5, at_limit=False)


@pytest.mark.parametrize("warmup", [5, 15, 30, 40])
def test_a_warmup_is_cut_where_it_ends(warmup: int) -> None:
    found = [mser5(transient(100, warmup=warmup, height=8, seed=seed)).index for seed in range(50)]
    assert min(found) >= warmup  # all of it
    assert np.median(found) == warmup  # and seldom more


def test_an_incomplete_batch_of_warmup_is_cut_whole() -> None:
    assert mser5(transient(100, warmup=12, height=50, seed=1)).index == 15


def test_a_warmup_that_ends_after_the_middle_is_told() -> None:
    assert mser5(transient(100, warmup=55, height=8, seed=1)) == Truncation(index=50, at_limit=True)


def test_a_steady_series_keeps_nearly_all_of_it() -> None:
    cut = [mser5(transient(200, warmup=0, height=0, seed=seed)).index for seed in range(200)]
    assert np.mean(cut) < 20
    assert mser5([0.1] * 60) == Truncation(index=0, at_limit=False)  # nor does rounding make a warm-up


def test_what_fills_no_batch_is_not_looked_at() -> None:
    series = transient(60, warmup=10, height=8, seed=3)
    assert mser5([*series, 1e9, 1e9]) == mser5(series)


def test_too_few_values() -> None:
    with pytest.raises(ValueError, match="at least 10"):
        mser5([1.0] * 9)

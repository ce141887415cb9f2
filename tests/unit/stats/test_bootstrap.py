from typing import Literal

import numpy as np
import pytest
from scipy import stats

from brimline.stats.bootstrap import bootstrap_interval


def mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(values.mean())


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_agrees_with_scipy(method: Literal["percentile", "bca"]) -> None:
    values = np.random.default_rng(3).lognormal(0, 0.8, 40)
    ours = bootstrap_interval(values.tolist(), mean, seed=1, method=method, resample_count=5_000)
    scipys = {"percentile": "percentile", "bca": "BCa"}[method]
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        method=scipys,
        n_resamples=5_000,
        rng=np.random.default_rng(1),  # the same resamples
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_bca_follows_the_skew() -> None:
    values = np.random.default_rng(5).lognormal(0, 1.2, 25).tolist()
    percentile = bootstrap_interval(values, mean, seed=1, method="percentile")
    corrected = bootstrap_interval(values, mean, seed=1, method="bca")
    assert corrected[1] > percentile[1]


def test_equal_values_have_no_width() -> None:
    assert bootstrap_interval([2.0] * 5, mean, seed=1) == (2.0, 2.0)


def test_one_value_can_not_be_resampled() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap_interval([1.0], mean, seed=1)

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline.stats import quantile_interval as module
from brimline.stats.quantile_interval import (
    NEVER_NS,
    RESAMPLE_COUNT,
    QuantileInterval,
    ascending,
    binomial_ranks,
    known_quantile,
    merge_buckets,
    quantile_interval,
    quantile_of,
    whole_between,
    with_never,
    without_never,
)


def buckets_of(values: list[int]) -> list[tuple[int, int]]:
    return merge_buckets([[(value, 1) for value in values]])


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 0.99, 0.999]))
def test_quantile_is_the_order_statistic(values: list[int], quantile: float) -> None:
    rank = max(1, math.ceil(round(quantile * len(values), 6)))
    assert quantile_of(buckets_of(values), quantile) == sorted(values)[rank - 1]


def test_quantile_of_nothing() -> None:
    with pytest.raises(ValueError, match="no quantile"):
        quantile_of([], 0.5)


@pytest.mark.parametrize(
    ("count", "quantile", "ranks"),
    [
        (10, 0.5, (2, 9)),  # the textbook's interval for the median: P = 0.979
        (100, 0.5, (40, 61)),
        (5, 0.5, (None, None)),  # 2 · 0.5⁵ > 0.05
        (6, 0.5, (1, 6)),
        (368, 0.99, (360, None)),  # 0.99³⁶⁸ < 0.025, but only just: rank 369 doesn't exist
        (10_000, 0.99, (9880, 9919)),
    ],
)
def test_binomial_ranks(count: int, quantile: float, ranks: tuple[int | None, int | None]) -> None:
    low, high = binomial_ranks(count, quantile)
    assert (low, high) == ranks or _coverage(low, high, count, quantile) >= 0.95


def _coverage(low: int | None, high: int | None, count: int, quantile: float) -> float:
    from scipy.stats import binom

    upper = 1.0 if high is None else float(binom.cdf(high - 1, count, quantile))
    lower = 0.0 if low is None else float(binom.cdf(low - 1, count, quantile))
    return upper - lower


@pytest.mark.parametrize(("count", "quantile"), [(20, 0.5), (500, 0.99), (1000, 0.99), (10_000, 0.999)])
def test_ranks_cover_and_no_closer_pair_does(count: int, quantile: float) -> None:
    low, high = binomial_ranks(count, quantile)
    assert low is not None and high is not None
    assert _coverage(low, high, count, quantile) >= 0.95
    assert _coverage(None, high - 1, count, quantile) < 0.975
    assert 1 - _coverage(low + 1, None, count, quantile) > 0.025


def test_interval_covers_the_truth_of_independent_values() -> None:
    rng = np.random.default_rng(1)
    truth = math.log(100) * 1e6
    covered = 0
    for _ in range(200):
        interval = quantile_interval(buckets_of((rng.exponential(1e6, 2000)).astype(int).tolist()), 0.99)
        assert interval.low_ns is not None and interval.high_ns is not None
        covered += interval.low_ns <= truth <= interval.high_ns
    assert covered >= 180  # 95 % are 190; P(< 180) is below 0.1 %


def test_bursts_widen_the_interval() -> None:
    """1.2 % slow values: spread evenly p99 is slow; all in one batch of 20 it hangs on that batch."""
    fast, slow = 1_000_000, 50_000_000
    spread = [[(fast, 988), (slow, 12)]] * 20
    burst = [[(fast, 1000)]] * 19 + [[(fast, 760), (slow, 240)]]
    merged = merge_buckets(spread)
    assert merged == merge_buckets(burst)
    evenly = quantile_interval(merged, 0.99, batches=spread, seed=1)
    in_one = quantile_interval(merged, 0.99, batches=burst, seed=1)
    assert (evenly.low_ns, evenly.high_ns) == (slow, slow)
    assert (in_one.low_ns, in_one.high_ns) == (fast, slow)


def test_a_burst_that_could_have_come_twice_raises_the_upper_bound() -> None:
    """0.7 % slow values, all in one of 20 batches: counted as independent ones they can't reach p99."""
    fast, slow = 1_000_000, 50_000_000
    burst = [[(fast, 1000)]] * 19 + [[(fast, 860), (slow, 140)]]
    merged = merge_buckets(burst)
    assert quantile_interval(merged, 0.99).high_ns == fast
    assert quantile_interval(merged, 0.99, batches=burst, seed=1).high_ns == slow


def test_few_values_give_a_bound_and_no_figure() -> None:
    few = quantile_interval([(1, 300), (2, 4)], 0.99)
    assert few.high_ns is None and not few.enough
    assert quantile_interval([(1, 9900), (2, 200)], 0.99).enough
    # Batches can't lend a bound that the values themselves don't give.
    assert quantile_interval([(1, 300)], 0.99, batches=[[(1, 15)]] * 20).high_ns is None


def test_the_seed_decides_the_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time anew: in other tests the same batches are resampled once."""
    resample = module._batch_bounds
    monkeypatch.setattr(module, "_batch_bounds", getattr(resample, "__wrapped__", resample))
    rng = np.random.default_rng(2)
    batches = [buckets_of(rng.exponential(1e6, 300).astype(int).tolist()) for _ in range(20)]
    merged = merge_buckets(batches)
    assert quantile_interval(merged, 0.9, batches=batches, seed=7) == quantile_interval(
        merged, 0.9, batches=batches, seed=7
    )


@pytest.mark.parametrize("never", [0, 30])
@pytest.mark.parametrize("quantile", [0.9, 0.97])
def test_the_bootstrap_draws_whole_batches(quantile: float, never: int) -> None:
    """Resamples made by hand: drawn batches merged, what never completed beside them, and the quantile of it."""
    rng = np.random.default_rng(3)
    batches = [buckets_of(rng.lognormal(3, 1 + batch / 4, 150).astype(int).tolist()) for batch in range(12)]
    merged = with_never(merge_buckets(batches), never)
    drawn = np.random.default_rng(5).multinomial(12, np.full(12, 1 / 12), size=RESAMPLE_COUNT)
    made = [
        merge_buckets([batch for batch, times in zip(batches, row, strict=True) for _ in range(times)]) for row in drawn
    ]
    ends = [
        sorted(quantile_of(merge_buckets([one, [(never_ns, never)]]) if never else one, quantile) for one in made)
        for never_ns in (0, NEVER_NS)
    ]
    low, high = (
        np.quantile(one, at, method="closest_observation") for one, at in zip(ends, (0.025, 0.975), strict=True)
    )
    told = quantile_interval(merged, quantile, batches=batches, seed=5)
    alone = quantile_interval(merged, quantile)
    assert told.low_ns == (None if alone.low_ns is None else min(low, alone.low_ns))
    assert (told.high_ns or NEVER_NS) == max(high, alone.high_ns or NEVER_NS)
    assert told.low_ns != alone.low_ns


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.9])
def test_the_interval_of_a_quantile_holds_whatever_became_of_what_never_completed(quantile: float) -> None:
    """A tenth never completed. Whether they would have been the fastest or the slowest, the truth lies within."""
    values = [(value, 10) for value in range(1, 901)]
    seen = quantile_interval(with_never(values, 1_000), quantile)
    fastest = quantile_of(merge_buckets([[(0, 1_000)], values]), quantile)
    slowest = known_quantile(with_never(values, 1_000), quantile)
    assert seen.low_ns is not None and seen.low_ns <= fastest
    assert slowest is None or (seen.high_ns or math.inf) >= slowest
    assert (seen.never, seen.count) == (1_000, 10_000)


def test_batches_of_what_completed_are_taken_at_the_ranks_of_all() -> None:
    """Twenty seconds alike: the interval of a p50 with a third missing spans the p25 and the p75 of the answers."""
    second = [(value, 1) for value in range(1, 101)]
    whole = with_never(merge_buckets([second] * 20), 1_000)
    seen = quantile_interval(whole, 0.5, batches=[second] * 20)
    assert seen.low_ns is not None and seen.high_ns is not None
    assert seen.low_ns <= 25 and seen.high_ns >= 75


def test_what_never_completed_has_no_value() -> None:
    whole = with_never([(1, 50), (2, 40)], 10)
    assert (known_quantile(whole, 0.9), known_quantile(whole, 0.91)) == (2, None)
    assert without_never(whole) == [(1, 50), (2, 40)] == with_never([(1, 50), (2, 40)], 0)


def _interval(value_ns: int, low_ns: int, high_ns: int | None = None, *, quantile: float = 0.99) -> QuantileInterval:
    """With an upper end a figure, without one a bound."""
    return QuantileInterval(quantile=quantile, value_ns=value_ns, low_ns=low_ns, high_ns=high_ns, count=10_000)


@pytest.mark.parametrize(
    ("whole", "parts", "printed"),
    [
        (_interval(20, 5), [_interval(20, 9)], 9),
        (_interval(20, 5), [_interval(20, 9), _interval(12, 8, 14)], 9),
        (_interval(20, 11), [_interval(20, 9), _interval(12, 8, 14)], 11),
        (_interval(7, 5), [_interval(20, 9)], 7),
        (_interval(8, 5, 30), [_interval(20, 9)], 8),
    ],
)
def test_the_whole_is_bound_by_what_its_fastest_part_is_bound_by(
    whole: QuantileInterval, parts: list[QuantileInterval], printed: int
) -> None:
    found = whole_between({0.99: whole}, [{0.99: each} for each in parts])
    assert found[0.99].printed_ns == printed


def test_a_bound_is_no_lower_than_the_figure_of_a_lower_quantile() -> None:
    """Of a primary that was killed: p90 10 779 ms, and p95 ≥ 10 309 and p99 ≥ 8 086 beside it."""
    said = [_interval(10_779, 9_000, 10_900, quantile=0.9), _interval(11_000, 10_309, quantile=0.95)]
    said.append(_interval(11_200, 8_086, quantile=0.99))
    assert [each.printed_ns for each in ascending(said)] == [10_779, 10_779, 10_779]
    assert [each.low_ns for each in ascending(said)] == [9_000, 10_779, 10_779]


def test_what_never_completed_has_waited() -> None:
    """A tenth never completed, evenly up to 10 s before the end: the p99 is one of them, and has waited about 9 s."""
    values = with_never([(1_000, 9_000)], 1_000)
    seen = quantile_interval(values, 0.99, waited=[(10_000 * each, 10) for each in range(1, 101)])
    assert (seen.known_ns, seen.high_ns, seen.never) == (None, None, 1_000)
    assert seen.low_ns is not None and 860_000 <= seen.low_ns <= 900_000
    assert quantile_interval(values, 0.99).low_ns == 1_000


def test_a_bound_of_which_nothing_is_known_is_none() -> None:
    """The value of the lower rank may be any of those that never completed, down to the last of these."""
    rank, _ = binomial_ranks(100, 0.5)
    assert rank is not None
    for never, is_known in ((rank, False), (rank - 1, True)):
        seen = quantile_interval(with_never([(1_000, 100 - never)], never), 0.5)
        assert (seen.low_ns is not None) is is_known

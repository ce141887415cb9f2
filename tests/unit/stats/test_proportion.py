import pytest

from brimline.stats.proportion import events_needed, share_interval


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        # Clopper and Pearson's intervals as printed in tables; the rule of three for none of a thousand.
        (5, 10, 0.1871, 0.8129),
        (1, 20, 0.001265, 0.2487),
        (0, 1000, 0.0, 0.003682),
        (10, 10, 0.6915, 1.0),
    ],
)
def test_exact_intervals(count: int, total: int, low: float, high: float) -> None:
    assert share_interval(count, total) == pytest.approx((low, high), rel=2e-3, abs=1e-9)


@pytest.mark.parametrize(("count", "total"), [(0, 0), (-1, 5), (6, 5)])
def test_no_share(count: int, total: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        share_interval(count, total)


@pytest.mark.parametrize(("share_max", "needed"), [(0.1, 36), (0.01, 368), (0.001, 3688), (0.0001, 36_887)])
def test_so_many_without_one_show_a_limit(share_max: float, needed: int) -> None:
    assert events_needed(share_max) == needed
    assert share_interval(0, needed)[1] <= share_max < share_interval(0, needed - 1)[1]

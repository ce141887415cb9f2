"""Medians, ratios within pairs and rounds, spreads."""

from benchmarks.peers.figures import Spread, over, ratios, spread
from benchmarks.peers.results import Run
from tests.unit.peers.samples import run


def client_us(each: Run) -> float:
    return each.client_us


def ops_per_s(each: Run) -> float:
    return each.ops_per_s


def test_a_spread_is_the_median_between_the_extremes() -> None:
    assert spread([5.0, 1.0, 2.0]) == Spread(2.0, 1.0, 5.0, 3)


def test_what_is_unknown_is_left_out_and_nothing_known_is_no_figure() -> None:
    assert spread([None, 3.0]) == Spread(3.0, 3.0, 3.0, 1)
    assert spread([None]) is None
    assert over([], client_us) is None


def test_figures_of_a_run_are_per_operation() -> None:
    each = run(
        "ycsb", "c", operations=2000, window_ns=4_000_000_000, client_cpu_ns=30_000_000, server_cpu_ns=60_000_000
    )
    assert (each.ops_per_s, each.client_us, each.server_us, each.quotient) == (500, 15, 30, 0.5)


def test_a_ratio_is_taken_within_the_pair() -> None:
    # The machine slows down to a half between the pairs: each pair still says 6.
    theirs = [
        run("ycsb", "c", number=1, client_cpu_ns=60_000_000),
        run("ycsb", "c", number=2, client_cpu_ns=120_000_000),
    ]
    ours = [run("brimline", "c", number=2, client_cpu_ns=20_000_000), run("brimline", "c", number=1)]
    assert ratios(theirs, ours, client_us) == Spread(6.0, 6.0, 6.0, 2)


def test_a_run_without_a_partner_takes_no_part() -> None:
    theirs = [run("ycsb", "c", number=1, client_cpu_ns=30_000_000), run("ycsb", "c", number=7, client_cpu_ns=1)]
    assert ratios(theirs, [run("brimline", "c", number=1)], client_us) == Spread(3.0, 3.0, 3.0, 1)
    assert ratios(theirs, [], client_us) is None


def test_cells_of_one_round_are_compared_through_the_median_of_their_runs() -> None:
    batched = [run("brimline", "batch", number=n, round=1, operations=count) for n, count in ((1, 7000), (2, 9000))]
    batched.append(run("brimline", "batch", number=5, round=2, operations=4000))
    single = [run("ycsb", "load", number=3, round=1), run("ycsb", "load", number=6, round=2)]
    assert ratios(batched, single, ops_per_s, by="round") == Spread(6.0, 4.0, 8.0, 2)


def test_nothing_is_divided_by_nothing() -> None:
    assert ratios([run("ycsb", "c")], [run("brimline", "c", client_cpu_ns=0)], client_us) is None

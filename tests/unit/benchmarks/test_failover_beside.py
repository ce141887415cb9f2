"""What a client beside a failover saw is held to the run's outage over the same time."""

from benchmarks.failover import seen_beside
from brimline.analysis.around_fault import FaultFigures, Gap
from brimline.units import NS_PER_MS, NS_PER_S

BEGUN = 1_000 * NS_PER_S


def figures(gap: Gap) -> FaultFigures:
    return FaultFigures(
        begun_ns=5 * NS_PER_S, undone_ns=None, gap=gap, gaps={}, resolution_ns=0, rate_before_ops_per_s=400.0,
        back_ns=None, p99_ns=None, around=0, around_unanswered=0, due=0, failed=0, unfinished=0, overdue=0,
        repeated=0,
    )  # fmt: skip


def answers(*pieces: tuple[int, int]) -> list[int]:
    """One each millisecond of these, in ms since the fault began."""
    return [BEGUN + each * NS_PER_MS for begin, end in pieces for each in range(begin, end + 1)]


def test_what_comes_after_the_run_is_no_part_of_its_outage() -> None:
    own = figures(Gap(from_ns=5 * NS_PER_S, to_ns=5 * NS_PER_S + 40 * NS_PER_MS))
    seen = answers((-100, 0), (38, 9_000), (9_700, 9_800))
    assert seen_beside(seen, own, begun_unix_ns=BEGUN, watched_s=9.0) == 38 * NS_PER_MS


def test_an_outage_that_outlasts_the_offer_is_watched_to_its_end() -> None:
    own = figures(Gap(from_ns=12 * NS_PER_S, to_ns=17 * NS_PER_S))
    seen = answers((-100, 7_001), (12_003, 12_500))
    assert seen_beside(seen, own, begun_unix_ns=BEGUN, watched_s=9.0) == 4_999 * NS_PER_MS
    late = answers((-100, 7_001), (11_999, 12_500))
    assert seen_beside(late, own, begun_unix_ns=BEGUN, watched_s=9.0) == 4_998 * NS_PER_MS

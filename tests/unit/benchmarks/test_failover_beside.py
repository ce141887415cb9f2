"""What a client beside a failover saw is held to the run's outage over the same time."""

import pytest

from benchmarks.failover import Apart, seen_beside
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
    assert seen_beside(seen, own, begun_unix_ns=BEGUN, watched_s=9.0).length_ns == 38 * NS_PER_MS


def test_an_outage_that_outlasts_the_offer_is_watched_to_its_end() -> None:
    own = figures(Gap(from_ns=12 * NS_PER_S, to_ns=17 * NS_PER_S))
    seen = answers((-100, 7_001), (12_003, 12_500))
    assert seen_beside(seen, own, begun_unix_ns=BEGUN, watched_s=9.0).length_ns == 4_999 * NS_PER_MS
    late = answers((-100, 7_001), (11_999, 12_500))
    assert seen_beside(late, own, begun_unix_ns=BEGUN, watched_s=9.0).length_ns == 4_998 * NS_PER_MS


@pytest.mark.parametrize(
    ("last_ms", "first_ms", "as_long", "by_rounds"),
    [(0, 38, True, True), (-70, 38, False, True), (-130, 38, False, False), (0, 70, False, True),
     (-70, 75, False, True), (0, 90, False, False), (60, 100, True, False)],
)  # fmt: skip
def test_updates_are_answered_in_rounds_so_that_an_outage_is_known_to_a_round(
    last_ms: int, first_ms: int, as_long: bool, by_rounds: bool
) -> None:
    """The client's answers come every 100 ms until `last_ms`, every 20 from `first_ms` on. The run's: 0 and 40."""
    own = figures(Gap(from_ns=5 * NS_PER_S, to_ns=5 * NS_PER_S + 40 * NS_PER_MS))
    before, after = range(last_ms - 1900, last_ms + 1, 100), range(first_ms, first_ms + 1000, 20)
    seen = [BEGUN + each * NS_PER_MS for each in (*before, *after)]
    found = Apart.of(own, Gap(from_ns=seen[19], to_ns=seen[20]), begun_unix_ns=BEGUN, answered=seen)
    assert (found.begin_ns, found.end_ns) == (-last_ms * NS_PER_MS, (40 - first_ms) * NS_PER_MS)
    assert (found.pace_before_ns, found.pace_after_ns) == (100 * NS_PER_MS, 20 * NS_PER_MS)
    assert (found.agrees, found.agrees_by_rounds) == (as_long, by_rounds)

"""What round trips say of another clock: the truth within the stated error, whatever the way there and back takes."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from brimline.execution.cluster.clocks import NodeClock, Reading, read_clock

TRIPS = st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=20, max_size=20)


@given(ahead_ns=st.integers(-(10**13), 10**13), trips=TRIPS)
def test_the_truth_is_within_the_error(ahead_ns: int, trips: list[tuple[int, int]]) -> None:
    now = 10**14
    way = iter([length for trip in trips for length in trip])

    def there() -> int:
        nonlocal now
        now += next(way)
        answer = now + ahead_ns
        now += next(way)
        return answer

    reading = read_clock(there, lambda: now)
    assert abs(reading.ahead_ns - ahead_ns) <= reading.error_ns
    assert reading.error_ns <= min(sum(trip) for trip in trips) // 2 + 1


def test_an_instant_is_told_in_the_nodes_own_time() -> None:
    clock = NodeClock(Reading(at_ns=0, ahead_ns=5_000, error_ns=10))
    assert clock.there(100) == 5_100
    clock.add(Reading(at_ns=10**9, ahead_ns=6_000, error_ns=20))
    assert clock.there(100) == 5_100, "a run keeps the clock that it began by"
    assert clock.latest.ahead_ns == 6_000


def test_a_drift_is_a_line_with_its_error_and_counts_in_the_error_of_every_instant() -> None:
    before, after = Reading(at_ns=0, ahead_ns=1_000, error_ns=100), Reading(at_ns=10**9, ahead_ns=3_000, error_ns=200)
    clock = NodeClock(before)
    assert (clock.facts()["error_ns"], clock.facts()["drift_ppm"]) == (100, None)
    clock.add(after)
    facts = clock.facts()
    assert (facts["drift_ppm"], facts["drift_error_ppm"]) == (2.0, 0.3)
    assert (facts["ahead_ns"], facts["error_ns"], facts["readings"]) == (1_000, 2_200, 2)


def test_what_a_reading_between_proves_counts_in_the_error_and_what_it_leaves_open_does_not() -> None:
    clock = NodeClock(Reading(at_ns=0, ahead_ns=0, error_ns=100))
    clock.add(Reading(at_ns=10**9, ahead_ns=50_000, error_ns=60_000))  # read badly: it may as well be none
    clock.add(Reading(at_ns=2 * 10**9, ahead_ns=-9_000, error_ns=500))
    clock.add(Reading(at_ns=3 * 10**9, ahead_ns=0, error_ns=200))
    assert (clock.facts()["error_ns"], clock.facts()["readings"]) == (8_500, 4)


def test_a_clock_of_a_long_run_takes_no_more_than_that_of_a_short_one() -> None:
    clock = NodeClock(Reading(at_ns=0, ahead_ns=0, error_ns=1))
    tracemalloc.start()
    for second in range(1, 10_001):
        clock.add(Reading(at_ns=second * 10**9, ahead_ns=second, error_ns=1))
    held_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held_bytes < 10_000
    assert clock.facts()["readings"] == 10_001

"""What round trips say of another clock: the truth within the stated error, whatever the way there and back takes."""

from hypothesis import given
from hypothesis import strategies as st

from brimline.execution.cluster.clocks import NodeClock, Reading, clock_facts, read_clock

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
    clock.since.append(Reading(at_ns=10**9, ahead_ns=6_000, error_ns=20))
    assert clock.there(100) == 5_100, "a run keeps the clock that it began by"
    assert clock.latest.ahead_ns == 6_000


def test_a_drift_is_a_line_with_its_error_and_counts_in_the_error_of_every_instant() -> None:
    before, after = Reading(at_ns=0, ahead_ns=1_000, error_ns=100), Reading(at_ns=10**9, ahead_ns=3_000, error_ns=200)
    facts = clock_facts(before, [after])
    assert (facts["drift_ppm"], facts["drift_error_ppm"]) == (2.0, 0.3)
    assert (facts["ahead_ns"], facts["error_ns"], facts["readings"]) == (1_000, 2_200, 2)
    assert clock_facts(before, [])["drift_ppm"] is None

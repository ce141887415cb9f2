"""Another machine's instants on this one's clock: a model of two clocks and of a way that is longer at times."""

import random

import pytest

from brimline.monitor.host.clock import ClockOffset, Exchange

MS = 1_000_000


def test_the_offset_is_found_within_the_error_that_is_stated() -> None:
    """A clock that is 5 s behind; the way there and the way back differ, and now and then a message waits."""
    draws = random.Random(7)
    theirs_behind_ns = 5_000 * MS
    for _ in range(200):
        clock, now_ns = ClockOffset(), 0
        for _ in range(8):
            there_ns, back_ns = (MS // 10 + (draws.random() < 0.5) * draws.randrange(20 * MS) for _ in range(2))
            clock.learn(Exchange(now_ns, now_ns + there_ns - theirs_behind_ns, now_ns + there_ns + back_ns))
            now_ns += 50 * MS
        assert abs(clock.offset_ns - theirs_behind_ns) <= clock.error_ns


def test_the_quickest_round_trip_says_most() -> None:
    clock = ClockOffset()
    clock.learn(Exchange(0, 1_000, 100))
    clock.learn(Exchange(200, 1_205, 210))
    clock.learn(Exchange(300, 1_390, 400))
    assert (clock.offset_ns, clock.error_ns) == (-1_000, 6)  # half of it, and a little for its age


def test_an_instant_lies_between_question_and_answer_whatever_the_clocks_say() -> None:
    clock = ClockOffset()
    clock.learn(Exchange(0, 1_000, 10))
    assert clock.placed(Exchange(10_000, 20_000, 10_100)) == 10_100
    assert clock.placed(Exchange(20_000, 21_000, 20_010)) == 20_005


def test_a_clock_that_drifts_stays_within_the_error_that_is_stated() -> None:
    """40 millionths apart, asked once a second over a way that is slow but now and then."""
    draws = random.Random(3)
    clock, drift = ClockOffset(), 40e-6
    for second in range(300):
        at_ns = second * 1_000 * MS
        there_ns, back_ns = (draws.randrange(MS // 20, 5 * MS) if second % 20 else MS // 40 for _ in range(2))
        answered_ns = at_ns + there_ns
        clock.learn(Exchange(at_ns, round(answered_ns * (1 + drift)), answered_ns + back_ns))
        assert abs(clock.offset_ns + round(answered_ns * drift)) <= clock.error_ns
    assert clock.error_ns < 2 * MS


def test_an_old_exchange_is_worth_less_than_a_new_one() -> None:
    clock = ClockOffset()
    clock.learn(Exchange(0, 500, 100))
    clock.learn(Exchange(60_000 * MS, 60_000 * MS + 3 * MS, 60_000 * MS + MS))
    assert clock.error_ns == MS // 2  # and not 3 ms, by which the quick one may be wrong after a minute


def test_a_clock_that_is_put_right_is_learnt_anew_and_the_error_is_that_of_the_worst_reading() -> None:
    """A thousandth too fast from the third exchange on, of which the first was slow."""
    clock, errors_ns, read_ns = ClockOffset(), [], 0
    for second in range(10):
        at_ns, way_ns = second * 1_000 * MS, 5 * MS if second == 0 else MS // 20
        read_ns += 1_000 * MS if second < 3 else 1_001 * MS
        exchange = Exchange(at_ns - way_ns, read_ns, at_ns + way_ns)
        assert not clock.learn(exchange)
        errors_ns.append(abs(clock.placed(exchange) - at_ns))
        assert errors_ns[-1] <= clock.error_ns
    assert clock.exchange_count == 1 and clock.error_ns == MS // 20
    assert clock.placed_error_ns == 5 * MS, "of the first reading"


@pytest.mark.parametrize("by_ns", [100_000 * MS, -100_000 * MS, 150 * MS, -1_000 * MS])
def test_a_clock_that_jumped_is_told_once(by_ns: int) -> None:
    clock = ClockOffset()
    jumped = [
        clock.learn(Exchange(at_ns, at_ns + 7 + by_ns * (at_ns > 2_000 * MS), at_ns + MS))
        for at_ns in range(0, 6_000 * MS, 1_000 * MS)
    ]
    assert jumped == [False, False, False, True, False, False]


def test_a_clock_that_stands_still_jumps_each_time() -> None:
    """As that of an answer that somebody keeps and gives again."""
    clock = ClockOffset()
    assert [clock.learn(Exchange(at_ns, 7, at_ns + MS)) for at_ns in range(0, 3_000 * MS, 1_000 * MS)] == [
        False,
        True,
        True,
    ]


def test_a_clock_of_whole_milliseconds_is_gainsaid_by_none_of_its_steps() -> None:
    clock = ClockOffset(grain_ns=MS)
    for at_ns in range(0, 100 * MS, 300_007):
        assert not clock.learn(Exchange(at_ns, at_ns // MS * MS + MS // 2, at_ns + 1_000))
    assert clock.exchange_count > 60 and clock.error_ns >= MS // 2

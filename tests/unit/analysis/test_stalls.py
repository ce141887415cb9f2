"""Stalls whose times are known: whether they are found, with their period, and what they come with."""

import numpy as np
import pytest

from brimline.analysis.soak import since_it_began
from brimline.analysis.stalls import Seen, Stalls, find_stalls

COUNT = 3600


def seen_of(
    seed: int, *, period_s: float | None = None, at_random: float = 0.003, with_checkpoints: bool = True
) -> Stalls:
    """An hour in intervals of 1 s: the slowest operation varies, some are far slower by chance, others by period."""
    rng = np.random.default_rng(seed)
    starts = np.arange(COUNT, dtype=float)
    slowest = 1e6 * np.exp(0.3 * rng.normal(size=COUNT))
    slowest[rng.random(COUNT) < at_random] *= 30
    checkpoints = (rng.random(COUNT) < 0.02).astype(float)
    for at_s in np.arange(7.3, COUNT - 2, period_s) if period_s is not None else ():
        place = int(at_s + rng.normal() * 0.5)
        slowest[place] *= 40
        checkpoints[place + 1] = with_checkpoints
    looks = [
        Seen(name="checkpoint", at_s=starts + 1, values=checkpoints, happens=True),
        Seen(name="disk", at_s=starts + 1, values=rng.random(COUNT), happens=False),
    ]
    return find_stalls(starts, starts + 1, slowest, np.full(COUNT, 100.0), looks)


def test_stalls_at_random_have_no_period() -> None:
    found = [seen_of(seed, at_random=share) for seed in range(30) for share in (0.003, 0.02)]
    assert sum(bool(each.periodic) for each in found) <= 1
    assert all(each.others for each in found)
    assert not any(each.others_with for each in found)


@pytest.mark.parametrize(("places", "lengths_s"), [((50, 51), [2.0]), ((50, 52), [3.0]), ((50, 53), [1.0, 1.0])])
def test_a_stall_that_is_answered_in_an_interval_after_it_began_in_another_is_one(
    places: tuple[int, int], lengths_s: list[float]
) -> None:
    starts, slowest = np.arange(100.0), np.full(100, 1e6)
    slowest[list(places)] *= 40
    found = find_stalls(starts, starts + 1, slowest, np.full(100, 100.0), [])
    assert [each.length_s for each in found.others] == lengths_s


def test_a_period_is_found_with_an_interval_that_holds_it() -> None:
    for period_s in (37.0, 60.0, 90.5):
        found = [seen_of(seed, period_s=period_s) for seed in range(20)]
        periods = [each.periodic[0] for each in found if each.periodic]
        assert len(periods) == 20, period_s
        assert sum(each.low_s <= period_s <= each.high_s for each in periods) >= 17
        assert all(abs(each.count - COUNT / period_s) <= 3 for each in periods)


def mixed(seed: int, *, large_at: np.ndarray, small: int = 40) -> Stalls:
    """150 s in intervals of 0.25 s: stalls of 60 ms at these times, and `small` of 2 ms to 3 ms at random."""
    rng = np.random.default_rng(seed)
    starts = np.arange(0, 150, 0.25)
    slowest = 0.7e6 * np.exp(0.1 * rng.normal(size=len(starts)))
    at_random = rng.choice(len(starts), size=small, replace=False)
    slowest[at_random] = rng.uniform(2e6, 3e6, small)
    slowest[(large_at / 0.25).astype(int)] = 60e6 * np.exp(0.3 * rng.normal(size=len(large_at)))
    return find_stalls(starts, starts + 0.25, slowest, np.full(len(starts), 12.0), [])


def test_large_stalls_have_their_period_among_many_small_ones_at_random() -> None:
    """Seen of a mongod that deletes what expired for half a second every 10.5 s: 13 such stalls, and 7 to 40 small."""
    for seed in range(20):
        times = 12 + 10.5 * np.arange(13) + np.random.default_rng(100 + seed).normal(size=13) * 0.3
        found = mixed(seed, large_at=times).periodic
        assert found, seed
        assert found[0].count >= 11 and found[0].period_s == pytest.approx(10.5, abs=0.3)


def test_large_and_small_stalls_at_random_have_no_period() -> None:
    rng = np.random.default_rng(7)
    found = [mixed(seed, large_at=np.sort(rng.uniform(0, 149, count)), small=small)
             for seed in range(25) for count in (8, 20) for small in (0, 40)]  # fmt: skip
    assert sum(bool(each.periodic) for each in found) <= 1


def test_what_stalls_come_with_is_named_and_what_is_there_anyway_is_not() -> None:
    with_them, without = seen_of(1, period_s=60), seen_of(1, period_s=60, with_checkpoints=False)
    (named,) = with_them.periodic[0].comes_with
    assert named.name == "checkpoint" and named.share > 0.9 and named.usual < 0.2
    assert without.periodic[0].comes_with == ()


@pytest.mark.parametrize(("removes_else", "tells"), [(0, True), (50, True), (50, False)])
def test_a_stall_while_documents_expire_comes_with_that_though_they_are_counted_later(
    removes_else: int, tells: bool
) -> None:
    """Once a minute a server deletes for 8 s, stalls in the third of them, and counts at the end of all."""
    rng = np.random.default_rng(5)
    starts = np.arange(COUNT, dtype=float)
    slowest = 1e6 * np.exp(0.3 * rng.normal(size=COUNT))
    expired, removed = np.zeros(COUNT), rng.poisson(removes_else, COUNT).astype(float)
    for begin in range(20, COUNT - 10, 60):
        slowest[begin + 2] *= 40
        removed[begin : begin + 8] += 2_000
        expired[begin + 7] = 8_000
    expired[0] = removed[0] = np.nan  # before the first look nothing is known
    values = since_it_began(expired, removed) if tells else np.nan_to_num(expired)
    looks = [Seen(name="ttl", at_s=starts + 1, values=np.nan_to_num(values), happens=True)]
    (found,) = find_stalls(starts, starts + 1, slowest, np.full(COUNT, 100.0), looks).periodic
    assert found.period_s == pytest.approx(60, abs=0.1)
    assert [each.name for each in found.comes_with] == (["ttl"] if tells else [])
    if tells:
        (ttl,) = found.comes_with
        assert ttl.share == 1 and ttl.usual < 0.2


def test_what_was_removed_before_by_others_did_not_expire() -> None:
    expired = np.array([np.nan, 0, 0, 0, 5, 0, 0, 7])
    removed = np.array([np.nan, 90, 1, 80, 90, 1, 1, 0])
    assert since_it_began(expired, removed)[1:].tolist() == [0, 0, 5, 5, 0, 0, 7]
    nothing = np.full(3, np.nan)
    assert since_it_began(np.array([np.nan, 0, 4]), nothing)[1:].tolist() == [0, 4]


def test_nothing_answered_is_a_stall_too() -> None:
    starts = np.arange(100, dtype=float)
    slowest, answered = np.full(100, 1e6), np.full(100, 50.0)
    slowest[40:44], answered[40:44] = 0, 0
    found = find_stalls(starts, starts + 1, slowest, answered)
    assert [(each.at_s, each.length_s) for each in found.every] == [(40, 4)]
    nothing = find_stalls(starts[:0], starts[:0], slowest[:0], answered[:0])
    assert nothing.every == () and nothing.periodic == ()

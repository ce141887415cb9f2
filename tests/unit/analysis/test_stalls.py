"""Stalls whose times are known: whether they are found, with their period, and what they come with."""

import numpy as np

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


def test_a_period_is_found_with_an_interval_that_holds_it() -> None:
    for period_s in (37.0, 60.0, 90.5):
        found = [seen_of(seed, period_s=period_s) for seed in range(20)]
        periods = [each.periodic[0] for each in found if each.periodic]
        assert len(periods) == 20, period_s
        assert sum(each.low_s <= period_s <= each.high_s for each in periods) >= 17
        assert all(abs(each.count - COUNT / period_s) <= 3 for each in periods)


def test_what_stalls_come_with_is_named_and_what_is_there_anyway_is_not() -> None:
    with_them, without = seen_of(1, period_s=60), seen_of(1, period_s=60, with_checkpoints=False)
    (named,) = with_them.periodic[0].comes_with
    assert named.name == "checkpoint" and named.share > 0.9 and named.usual < 0.2
    assert without.periodic[0].comes_with == ()


def test_nothing_answered_is_a_stall_too() -> None:
    starts = np.arange(100, dtype=float)
    slowest, answered = np.full(100, 1e6), np.full(100, 50.0)
    slowest[40:44], answered[40:44] = 0, 0
    found = find_stalls(starts, starts + 1, slowest, answered)
    assert [(each.at_s, each.length_s) for each in found.every] == [(40, 4)]
    nothing = find_stalls(starts[:0], starts[:0], slowest[:0], answered[:0])
    assert nothing.every == () and nothing.periodic == ()

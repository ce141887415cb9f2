"""Owns the order of runs that are compared in pairs, so that drift of the machine isn't taken for a difference.

Blocks of mirrored order (ABBA or BAAB, drawn from the seed): whatever grows evenly over time meets both arms alike
(Montgomery, "Design and Analysis of Experiments", ch. 4, on blocking and counterbalancing). A pair is one run of each
arm, next to each other in time. Where one of them proves nothing, the pair is made again, a few times at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Arm = Literal["A", "B", "A2"]
"""`A2` is A once more: what differs between the two is what this machine shows by itself."""
ARMS: tuple[Arm, ...] = ("A", "B", "A2")
PAIRS_DEFAULT = 5
SEARCH_PAIRS_DEFAULT = 2
"""A search takes minutes, and its figure has an interval of its own."""
PAIRS_AGAIN_MAX = 2
"""Pairs that are made once more, where some prove nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairProbe:
    """One run that is asked for: an arm of the `pair`-th pair, counted from 1."""

    arm: Arm
    pair: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTrial:
    """A run that was made. `completed`: it went to its end; `problem`: why it doesn't count, None when it does."""

    probe: PairProbe
    completed: bool
    problem: str | None = None
    took_s: float | None = None


class Pairs:
    """Asks for runs of `arms` until `pairs` of each count; pure: the next follows from those made."""

    def __init__(self, arms: Sequence[Arm], pairs: int, seed: int) -> None:
        self._arms = arms
        self._wanted = pairs
        order = arm_order(arms, pairs + PAIRS_AGAIN_MAX, seed)
        self._orders = [order[place : place + len(arms)] for place in range(0, len(order), len(arms))]

    def next_probe(self, trials: Sequence[PairTrial]) -> PairProbe | None:
        """The next run; None when enough pairs count, too many don't, or a run was cut short."""
        if not all(trial.completed for trial in trials):
            return None
        last = max((trial.probe.pair for trial in trials), default=0)
        if left := self._left_of(last, trials):
            return PairProbe(arm=left[0], pair=last)
        if len(counting_pairs(trials, self._arms)) >= self._wanted or last == len(self._orders):
            return None
        return PairProbe(arm=self._orders[last][0], pair=last + 1)

    def _left_of(self, pair: int, trials: Sequence[PairTrial]) -> Sequence[Arm]:
        """Arms of a pair that are still to be run; none once a run of it proves nothing."""
        made = [trial for trial in trials if trial.probe.pair == pair]
        if any(trial.problem is not None for trial in made) or not made:
            return ()
        return [arm for arm in self._orders[pair - 1] if arm not in {trial.probe.arm for trial in made}]


def made_again(failed: int, pairs: int) -> int | None:
    """The number of the pair that is made in place of the `failed`-th one that proves nothing; None: none is."""
    return pairs + failed if failed <= PAIRS_AGAIN_MAX else None


def counting_pairs(trials: Sequence[PairTrial], arms: Sequence[Arm] = ("A", "B")) -> frozenset[int]:
    """The pairs of which the runs of all arms count."""
    made: dict[int, set[Arm]] = {}
    for trial in trials:
        if trial.completed and trial.problem is None:
            made.setdefault(trial.probe.pair, set()).add(trial.probe.arm)
    return frozenset(pair for pair, found in made.items() if found == set(arms))


def arm_order(arms: Sequence[Arm], pairs: int, seed: int) -> tuple[Arm, ...]:
    """The arms of all runs: random orders, each followed by its mirror image."""
    rng = np.random.default_rng(seed)
    order: list[Arm] = []
    for _ in range(0, pairs, 2):
        turn = [arms[int(place)] for place in rng.permutation(len(arms))]
        order += [*turn, *reversed(turn)]
    return tuple(order[: pairs * len(arms)])

"""Owns the order of runs with and without a background workload: pairs in mirrored turns, and pairs made once more.

A pair is one run alone and one with the background, next to each other in time. Where one of the two proves nothing,
the whole pair counts for nothing and is made again, a few times at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.comparison import MARGIN
from brimline.experiments.paired.ab import PAIRS_DEFAULT, ABSettings, arm_order
from brimline.experiments.settings import REPEATS_MAX

INTERFERENCE_KIND = "interfere"
"""What its record says it is."""
BackgroundKind = Literal["import", "scan", "index", "backup"]
Side = Literal["A", "B"]
"""A: alone. B: with the background."""
PAIRS_AGAIN_MAX = 2
"""Pairs that are made once more, where some prove nothing."""
PAIRS_MAX = REPEATS_MAX - PAIRS_AGAIN_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class InterferenceSettings:
    """`pairs`: runs of each side. `rows`: documents of the background. `margin`: share that doesn't matter."""

    background: BackgroundKind = "import"
    pairs: int = PAIRS_DEFAULT
    rows: int = 1_000_000
    margin: float = MARGIN

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ValueError("a comparison needs at least one pair of runs")
        if self.pairs > PAIRS_MAX:
            raise ValueError(f"a comparison has at most {PAIRS_MAX} pairs of runs")
        if self.rows < 1:
            raise ValueError("the background needs at least one document")
        if not 0 < self.margin < 1:
            raise ValueError("the margin is a share between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideProbe:
    """One run that is asked for: a side of the `pair`-th pair, counted from 1."""

    side: Side
    pair: int

    @property
    def label(self) -> str:
        """Fits a file name."""
        return f"{'alone' if self.side == 'A' else 'with'}-{self.pair}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTrial:
    """A run that was made. `completed`: it went to its end; `problem`: why it doesn't count, None when it does."""

    probe: SideProbe
    completed: bool
    problem: str | None = None


class Interference:
    """Asks for runs until enough pairs count; pure: the next follows from those made."""

    def __init__(self, settings: InterferenceSettings, seed: int) -> None:
        self._pairs_wanted = settings.pairs
        order = arm_order(ABSettings(pairs=settings.pairs + PAIRS_AGAIN_MAX), seed)
        self._orders: list[tuple[Side, ...]] = [
            tuple("A" if arm == "A" else "B" for arm in order[place : place + 2]) for place in range(0, len(order), 2)
        ]

    def next_probe(self, trials: Sequence[SideTrial]) -> SideProbe | None:
        """The next run; None when enough pairs count, too many don't, or a run was cut short."""
        if not all(trial.completed for trial in trials):
            return None
        last = max((trial.probe.pair for trial in trials), default=0)
        open_sides = self._left_of(last, trials) if last else ()
        if open_sides:
            return SideProbe(side=open_sides[0], pair=last)
        if len(counting_pairs(trials)) >= self._pairs_wanted or last == len(self._orders):
            return None
        return SideProbe(side=self._orders[last][0], pair=last + 1)

    def _left_of(self, pair: int, trials: Sequence[SideTrial]) -> tuple[Side, ...]:
        """Sides of a pair that are still to be run; none once a run of it proves nothing."""
        made = [trial for trial in trials if trial.probe.pair == pair]
        if any(trial.problem is not None for trial in made):
            return ()
        return tuple(side for side in self._orders[pair - 1] if side not in {trial.probe.side for trial in made})


def counting_pairs(trials: Sequence[SideTrial]) -> frozenset[int]:
    """The pairs of which both runs count."""
    sides: dict[int, set[Side]] = {}
    for trial in trials:
        if trial.completed and trial.problem is None:
            sides.setdefault(trial.probe.pair, set()).add(trial.probe.side)
    return frozenset(pair for pair, made in sides.items() if made == {"A", "B"})

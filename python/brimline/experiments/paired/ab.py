"""Owns the order of an A/B comparison: which arm runs next, so that drift of the machine isn't taken for a difference.

Blocks of mirrored order (ABBA or BAAB, drawn from the seed): whatever grows evenly over time meets both arms alike
(Montgomery, "Design and Analysis of Experiments", ch. 4, on blocking and counterbalancing).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from brimline.analysis.comparison import MARGIN
from brimline.experiments.settings import REPEATS_MAX
from brimline.units import NS_PER_S

Arm = Literal["A", "B", "A2"]
"""`A2` is A once more: what differs between the two is what this machine shows by itself."""
ARMS: tuple[Arm, ...] = ("A", "B", "A2")
AB_KIND = "ab"
"""What its record says it is."""
PAIRS_DEFAULT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ABSettings:
    """`pairs`: runs of each arm. `floor`: also run A against itself. `margin`: share that doesn't matter."""

    pairs: int = PAIRS_DEFAULT
    floor: bool = False
    margin: float = MARGIN

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ValueError("a comparison needs at least one run of each arm")
        if self.pairs > REPEATS_MAX:
            raise ValueError(f"a comparison has at most {REPEATS_MAX} runs of each arm")
        if not 0 < self.margin < 1:
            raise ValueError("the margin is a share between 0 and 1")

    @property
    def arms(self) -> tuple[Arm, ...]:
        """What takes turns."""
        return ARMS if self.floor else ARMS[:2]

    @property
    def run_count(self) -> int:
        """Runs of all arms."""
        return self.pairs * len(self.arms)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmProbe:
    """One run that is asked for: the `number`-th (from 1) of its arm."""

    arm: Arm
    number: int

    @property
    def label(self) -> str:
        """Fits a file name."""
        return f"{self.arm.lower()}-{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTrial:
    """A run that was made, and whether it went to its planned end."""

    probe: ArmProbe
    completed: bool


class AB:
    """Asks for the runs of all arms in turns; pure: the next follows from those made."""

    def __init__(self, settings: ABSettings, seed: int) -> None:
        self._order = arm_order(settings, seed)

    def next_probe(self, trials: Sequence[ArmTrial]) -> ArmProbe | None:
        """The next run, None when all were made or one was cut short."""
        if len(trials) == len(self._order) or not all(trial.completed for trial in trials):
            return None
        arm = self._order[len(trials)]
        return ArmProbe(arm=arm, number=self._order[: len(trials)].count(arm) + 1)


def arm_order(settings: ABSettings, seed: int) -> tuple[Arm, ...]:
    """The arms of all runs: random orders, each followed by its mirror image."""
    rng = np.random.default_rng(seed)
    order: list[Arm] = []
    for _ in range(0, settings.pairs, 2):
        turn = [settings.arms[int(place)] for place in rng.permutation(len(settings.arms))]
        order += [*turn, *reversed(turn)]
    return tuple(order[: settings.pairs * len(settings.arms)])


def ab_time_s(settings: ABSettings, *, a_ns: int | None, b_ns: int | None) -> float | None:
    """Time of all runs, without loading; None where a run ends after a number of operations.

    `a_ns` and `b_ns`: warm-up and measured window of one run.
    """
    if a_ns is None or b_ns is None:
        return None
    runs_of_a = settings.pairs * (2 if settings.floor else 1)
    return (runs_of_a * a_ns + settings.pairs * b_ns) / NS_PER_S

"""Owns what an A/B comparison is asked for: how many pairs, whether A also runs against itself, how long it takes."""

from dataclasses import dataclass

from brimline.analysis.comparison import MARGIN
from brimline.experiments.paired.order import ARMS, PAIRS_DEFAULT, Arm
from brimline.experiments.settings import REPEATS_MAX
from brimline.units import NS_PER_S

AB_KIND = "ab"
"""What its record says it is."""


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
        """Runs of all arms, without pairs that are made again."""
        return self.pairs * len(self.arms)


def ab_time_s(settings: ABSettings, *, a_ns: int | None, b_ns: int | None) -> float | None:
    """Time of all runs, without loading; None where a run ends after a number of operations.

    `a_ns` and `b_ns`: warm-up and measured window of one run.
    """
    if a_ns is None or b_ns is None:
        return None
    runs_of_a = settings.pairs * (2 if settings.floor else 1)
    return (runs_of_a * a_ns + settings.pairs * b_ns) / NS_PER_S

"""Owns what an A/B comparison is asked for: how many pairs, and whether A also runs against itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brimline.analysis.comparison import MARGIN
from brimline.experiments.paired.order import ARMS, PAIRS_DEFAULT, Arm
from brimline.experiments.settings import REPEATS_MAX

AB_KIND = "ab"
"""What its record says it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ABSettings:
    """`pairs`: runs of each arm. `floor`: also run A against itself. `margin`: share that doesn't matter.

    `measure`: the verb that each run is of, such as a search, with what was `said` to it; "" is a run.
    """

    pairs: int = PAIRS_DEFAULT
    floor: bool = False
    margin: float = MARGIN
    measure: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)

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

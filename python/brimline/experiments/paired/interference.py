"""Owns what an interference experiment is asked for: how many pairs, and what goes on beside the runs of B."""

from dataclasses import dataclass
from typing import Literal

from brimline.analysis.comparison import MARGIN
from brimline.experiments.paired.order import PAIRS_AGAIN_MAX, PAIRS_DEFAULT
from brimline.experiments.settings import REPEATS_MAX

INTERFERENCE_KIND = "interfere"
"""What its record says it is."""
BackgroundKind = Literal["import", "scan", "index", "backup"]
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

"""Owns medians, ratios and spreads: pure."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.peers.results import Run

Measure = Callable[[Run], float | None]


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the smallest and the largest of `count` values."""

    median: float
    low: float
    high: float
    count: int


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known), len(known)) if known else None


def over(runs: Sequence[Run], measure: Measure) -> Spread | None:
    """One figure over several runs of a client."""
    return spread(measure(run) for run in runs)


def ratios(
    upper: Sequence[Run], lower: Sequence[Run], measure: Measure, *, by: Literal["number", "round"] = "number"
) -> Spread | None:
    """The figure of `upper` over that of `lower`, for runs that were made beside each other.

    By `number`: pairs within a cell. By `round`: cells of one round, each represented by the median of its runs. What
    has no partner is left out.
    """
    above, below = _grouped(upper, measure, by), _grouped(lower, measure, by)
    return spread(above[key] / below[key] for key in above.keys() & below.keys() if below[key])


def _grouped(runs: Sequence[Run], measure: Measure, by: str) -> dict[int, float]:
    groups: dict[int, list[float]] = {}
    for run in runs:
        if (value := measure(run)) is not None:
            groups.setdefault(getattr(run, by), []).append(value)
    return {key: statistics.median(values) for key, values in groups.items()}

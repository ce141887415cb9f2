"""Owns the bracket: shares of the likely load, of which one is sustained and a higher one is not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from brimline.experiments.axis import Axis
from brimline.experiments.capacity.outcome import Judged, TrialOutcome

ASCENT = (0.5, 0.7, 0.85, 1.0, 1.15, 1.45, 1.8, 2.25)
"""Tried in this order until one is not sustained. Above 1 because a plateau may be seen too low."""
DESCENT = (0.35, 0.25, 0.17, 0.12, 0.08, 0.05)
"""Tried in this order when none of the others was sustained."""
TO_ONE = tuple(DESCENT[-1] / 2**power for power in range(1, 20))
"""Tried after these where loads are whole numbers: whether one connection meets the objective is worth knowing."""
CONFIRM_BELOW = 0.95
"""A failure below this share of the plateau is a surprise and is tried a second time."""


class BracketState(StrEnum):
    """How far the bracket is."""

    OPEN = "open"
    CLOSED = "closed"
    UNREACHABLE = "unreachable"  # even the lowest rate was not sustained
    UNLIMITED = "unlimited"  # even the highest was


@dataclass(frozen=True, slots=True)
class Bracket:
    """State, and in the state `open` the load to try next."""

    state: BracketState
    next_load: float | None = None


def bracket(judged: Sequence[Judged], *, axis: Axis, anchor: float, load_max: float | None = None) -> Bracket:
    """Where the bracket stands after these usable bracket trials.

    `anchor`: the load that the plateau makes likely. `load_max`: the highest that can be tried.
    """
    most = axis.nearest(load_max) if load_max is not None else math.inf

    def load(share: float) -> float:
        return min(axis.nearest(share * anchor), most)

    def ask(share: float) -> Bracket:
        return Bracket(BracketState.OPEN, load(share))

    def outcomes(share: float) -> list[TrialOutcome]:
        return [each.outcome for each in judged if each.load == load(share)]

    sustained = False
    for share in ASCENT:
        seen = outcomes(share)
        if not seen:
            return ask(share)
        if seen[-1] is TrialOutcome.PASS:
            if load(share) == most:
                return Bracket(BracketState.UNLIMITED)
            sustained = True
        elif len(seen) == 1 and share < CONFIRM_BELOW:
            return ask(share)
        else:
            break
    else:
        return Bracket(BracketState.UNLIMITED)
    if sustained:
        return Bracket(BracketState.CLOSED)
    for share in (*DESCENT, *(TO_ONE if axis.whole else ())):
        seen = outcomes(share)
        if not seen:
            return ask(share)
        if seen[-1] is TrialOutcome.PASS:
            return Bracket(BracketState.CLOSED)
        if seen[-1] is not TrialOutcome.FAIL and share <= DESCENT[-1]:
            break  # fewer operations decide even less
    return Bracket(BracketState.UNREACHABLE)

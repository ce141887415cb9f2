"""Owns the bracket: rates, as shares of the plateau, of which one is sustained and a higher one is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from brimline.experiments.outcome import Judged, TrialOutcome
from brimline.units import round_significant

ASCENT = (0.5, 0.7, 0.85, 1.0, 1.15, 1.45, 1.8, 2.25)
"""Tried in this order until one is not sustained. Above 1 because a plateau may be seen too low."""
DESCENT = (0.35, 0.25, 0.17, 0.12, 0.08, 0.05)
"""Tried in this order when none of the others was sustained."""
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
    """State, and in the state `open` the rate to try next."""

    state: BracketState
    next_rate_ops_per_s: float | None = None


def bracket(judged: Sequence[Judged], plateau_ops_per_s: float) -> Bracket:
    """Where the bracket stands after these usable bracket trials."""

    def ask(share: float) -> Bracket:
        return Bracket(BracketState.OPEN, probe_rate(share * plateau_ops_per_s))

    def outcomes(share: float) -> list[TrialOutcome]:
        rate = probe_rate(share * plateau_ops_per_s)
        return [each.outcome for each in judged if each.rate == rate]

    sustained = False
    for share in ASCENT:
        seen = outcomes(share)
        if not seen:
            return ask(share)
        if seen[-1] is TrialOutcome.PASS:
            sustained = True
        elif len(seen) == 1 and share < CONFIRM_BELOW:
            return ask(share)
        else:
            break
    else:
        return Bracket(BracketState.UNLIMITED)
    if sustained:
        return Bracket(BracketState.CLOSED)
    for share in DESCENT:
        seen = outcomes(share)
        if not seen:
            return ask(share)
        if seen[-1] is TrialOutcome.PASS:
            return Bracket(BracketState.CLOSED)
    return Bracket(BracketState.UNREACHABLE)


def probe_rate(rate_ops_per_s: float) -> float:
    """The rate in four significant digits: what is offered is what is printed."""
    return float(round_significant(rate_ops_per_s, 4))

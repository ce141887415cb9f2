"""Owns the measure that candidates which make operations wait have in common: which part of them waits at once."""

from brimline.analysis.observation import Observation

WAITING_SHARE_FULL = 0.5
"""Part of the operations in flight from which a wait is where most of the time goes."""
WAITING_SHARE_NEAR = 0.25
"""Part from which it is noticeable: removing it would make operations a third faster, no more."""


def waiting_share(observation: Observation, waiting: float | None) -> float | None:
    """`waiting` operations as a part of those in flight; None where either isn't known.

    Both are means over time, so that by Little's law their quotient is the part of an operation's time that it waits.
    """
    if waiting is None or observation.mean_in_flight <= 0:
        return None
    return waiting / observation.mean_in_flight

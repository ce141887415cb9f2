"""Owns what is said of a change: its p value among those of its family, and whether it is one.

A family is all that is tested for one answer. Its p values are adjusted together and once, by Holm; a figure belongs to
one family only, so that it has one p wherever it stands.
"""

from collections.abc import Sequence
from enum import StrEnum

from brimline.stats.change import Change
from brimline.stats.multiple import holm

ALPHA = 0.05
"""Of a family together, by Holm."""


class ChangeVerdict(StrEnum):
    """What a comparison says of a metric, or of all. `mixed`, of all: better in one, worse in another.

    `not judged`: it follows from the load, which isn't the same on both sides.
    """

    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    MIXED = "mixed"
    NO_CLAIM = "no claim"
    NOT_JUDGED = "not judged"


CLAIMS = (ChangeVerdict.IMPROVED, ChangeVerdict.REGRESSED)
"""What says that something is different."""


def adjusted_p_values(family: Sequence[Change | None]) -> list[float | None]:
    """The p value of each, adjusted for all of them; None where there is no change to test.

    What is the same in all runs, such as no error in any, is no test and takes no part of α.
    """
    adjusted = [None if each is None else 1.0 for each in family]
    tests = [
        (place, each.p_value)
        for place, each in enumerate(family)
        if each is not None and not (each.value == 0 and each.p_value == 1)
    ]
    for (place, _), p_value in zip(tests, holm([p_value for _, p_value in tests]), strict=True):
        adjusted[place] = p_value
    return adjusted


def change_verdict(
    change: Change | None, adjusted_p: float | None, *, higher_is_better: bool, margin: float, floor: float = 0.0
) -> ChangeVerdict:
    """What is said of one change whose p value was adjusted for its family."""
    if change is None or adjusted_p is None:
        return ChangeVerdict.NO_CLAIM
    if change.within(margin):
        return ChangeVerdict.EQUIVALENT
    if adjusted_p >= ALPHA or abs(change.value) <= floor:
        return ChangeVerdict.INCONCLUSIVE
    return ChangeVerdict.IMPROVED if (change.value > 0) is higher_is_better else ChangeVerdict.REGRESSED

"""Owns which cases of a family of tests are repetitions: they show what a quick twin shows, once more.

`make test` leaves them to `make test-all`. What they are twins of is said beside them.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest


def repetitions(*cases: Any) -> list[Any]:
    """Cases for `parametrize` behind the quick ones: `[*quick, *repetitions(*others)]`.

    One of several values is a tuple of them.
    """
    return [pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=pytest.mark.long) for each in cases]


def each_once(*values: Sequence[Any]) -> list[Any]:
    """All combinations for `parametrize`, of which the quick ones have each value once, and no more than that needs.

    So a fault of one value is found by `make test`, and one of a combination alone by `make test-all`.
    """
    longest = max(map(len, values))
    quick = {tuple(each[place % len(each)] for each in values) for place in range(longest)}
    return [pytest.param(*case, marks=[] if case in quick else pytest.mark.long) for case in product(*values)]

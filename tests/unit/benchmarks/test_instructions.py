"""When an operation counts as too dear."""

import json

import pytest

from benchmarks.instructions import ACCEPTED, LIMITS, too_dear

LIMIT = LIMITS["find"]


@pytest.mark.parametrize(
    ("count", "accepted", "dear"),
    [
        (2_000, 2_000, False),
        (1_500, 2_000, False),
        (2_200, 2_000, False),  # a tenth
        (2_201, 2_000, True),
        (LIMIT, LIMIT, False),
        (LIMIT + 1, LIMIT, True),  # no tenth above what was accepted
        (LIMIT + 1, 2 * LIMIT, True),  # cheaper than what was accepted
    ],
)
def test_an_operation_is_too_dear_a_tenth_above_what_was_accepted_or_above_its_limit(
    count: int, accepted: int, dear: bool
) -> None:
    assert too_dear({"find": count}, {"find": accepted}) == (["find"] if dear else [])


def test_each_kind_has_its_own_limit() -> None:
    counts = {"find": 3_100, "insert": 3_100, "update": 10}
    assert too_dear(counts, counts) == ["find"]


def test_what_was_accepted_is_within_the_limits() -> None:
    accepted = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    assert accepted.keys() == LIMITS.keys()
    assert too_dear(accepted, accepted) == []

"""Which cases of a family of tests are quick, and that none of them is lost."""

from itertools import product
from typing import Any

import pytest

from tests.support.repetitions import each_once, repetitions


def quick(cases: list[Any]) -> list[tuple[Any, ...]]:
    return [case.values for case in cases if not case.marks]


@pytest.mark.parametrize("lengths", [(1,), (3,), (2, 3), (6, 15), (22, 3, 2)])
def test_each_value_is_once_among_the_quick_ones_and_all_combinations_are_there(lengths: tuple[int, ...]) -> None:
    values = [[f"{place}{number}" for number in range(length)] for place, length in enumerate(lengths)]
    cases = each_once(*values)
    assert sorted(case.values for case in cases) == sorted(product(*values))
    assert len(quick(cases)) == max(lengths)
    assert {value for case in quick(cases) for value in case} == {value for each in values for value in each}
    assert {mark.name for case in cases for mark in case.marks} <= {"long"}


def test_a_repetition_has_one_value_or_those_of_a_tuple() -> None:
    cases = repetitions("a", ("b", 1), (("words", "of", "one"),))
    assert [case.values for case in cases] == [("a",), ("b", 1), (("words", "of", "one"),)]
    assert quick(cases) == []

"""Which cases of a family of tests are quick, and that none of them is lost."""

import ast
import re
from itertools import product
from pathlib import Path
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


TESTS = Path(__file__).parents[1]


def test_each_long_test_names_a_quick_twin_that_is_there() -> None:
    """In its docstring, its markers or a comment; `test_what_it_…` is one whose name begins so."""
    quick, long = set[str](), dict[str, str]()
    for file in TESTS.rglob("test_*.py"):
        text = file.read_text(encoding="utf-8")
        found = _long_ones(text) if "mark.long" in text else {}
        long |= found
        quick |= set(re.findall(r"^def (test_\w+)", text, re.MULTILINE)) - found.keys()
    assert long
    without = [
        name
        for name, text in long.items()
        if not any(
            twin in quick or (twin.endswith("_") and any(each.startswith(twin) for each in quick))
            for twin in re.findall(r"\btest_\w+", text)
        )
    ]
    assert without == []


def _long_ones(text: str) -> dict[str, str]:
    """The tests of a file of which no case is quick: their names, and what stands before their first statements."""
    whole_file = re.search(r"^pytestmark = .*\blong\b", text, re.MULTILINE) is not None
    lines, found = text.splitlines(), {}
    for each in ast.parse(text).body:
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
            begin = min(part.lineno for part in (each, *each.decorator_list)) - 1
            if whole_file or any(ast.unparse(mark) == "pytest.mark.long" for mark in each.decorator_list):
                found[each.name] = "\n".join(lines[begin : each.body[0].end_lineno])
    return found

"""Which regular expressions are taken. What is refused is in the tables of slips."""

import re

import pytest

from brimline.spec.own.patterns import read_pattern
from brimline.spec.own.problems import Problem

TAKEN = [
    "id",
    'name="t" value="(.*?)"',
    r"\d+\.\d{2}",
    "a{2,}b{1,3}?",
    "[a-z0-9_]+",
    r"[^\]\[\\]",
    "[a-]",
    "(?:a|b)(?P<name>c)(?<other>d)",
    "(?i)abc",
    "(?s:.)",
    r"\bword\b",
    r"\A^a$\z",
    r"\x41\u4e2d",
    r"\{\"id\":(\d+)",
    "}]",
    "订单号：(\\d+)",
    "a||b",
    r"\/\-\#\ ",
]


@pytest.mark.parametrize("pattern", TAKEN)
def test_it_is_taken_as_it_is(pattern: str) -> None:
    assert read_pattern(pattern, ()) == pattern


@pytest.mark.parametrize(
    "pattern",
    [
        r"\Z", r"\Ga", r"\p{L}", r"\<a", r"a\é", "a*+", "a?+", "a{1}{2}", "[]a]", "[^]a]", "[a[b]", "[a~~b]", "[a--b]",
        "(?'n'a)", "(?<n", "(?P>n)", "(?&n)", "(?R)", "(?(1)a)", "(?#a)", "(?-i)a", "a)", "(a", "\\", "[\\", "x{",
        "{1}", "a{1001}", "a{1,1001}", "(?i", "+", "(?:*)", "[\\b]", r"\u12", r"\k<n>", r"\8", "(?u)a", "a" * 1001,
    ],
)  # fmt: skip
def test_what_means_something_else_elsewhere_is_refused(pattern: str) -> None:
    with pytest.raises(Problem):
        read_pattern(pattern, ())


def test_a_group_is_one_that_captures() -> None:
    assert read_pattern("a(b)", (), needs_group=True)
    for pattern in ("ab", "(?:ab)", "a[(]b[)]", r"a\(b\)"):
        with pytest.raises(Problem, match="has no group"):
            read_pattern(pattern, (), needs_group=True)


@pytest.mark.parametrize("pattern", [each for each in TAKEN if r"\z" not in each and "(?<o" not in each])
def test_what_is_taken_means_the_same_to_python(pattern: str) -> None:
    assert re.compile(pattern)

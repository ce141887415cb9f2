"""A count agrees with its noun wherever one is printed: texts without a translation take both from `counted`."""

import ast
import re
from pathlib import Path

import pytest

from brimline.units import counted

SOURCES = Path(__file__).parents[2] / "python" / "brimline"
NOUNS = (
    "batches|cells|claims|collections|commands|connections|cores|documents|faults|fields|files|groups|guesses|indexes|"
    "keys|labs|levels|lines|looks|members|nodes|operations|pairs|points|probes|processors|programs|records|replies|"
    "requests|rounds|rows|samples|seconds|servers|shards|steps|strings|threads|times|values|workers"
)
_FOLLOWS = re.compile(rf"^ (?:{NOUNS})\b")
ITS_OWN_WORDS = {"compat/ycsb/status.py", "compat/mongostat/lines.py"}
"""What is printed as another tool prints it."""
MORE_THAN_ONE = {
    "cli/ab.py: connections",
    "execution/data_events.py: times",
    "experiments/vary/factors.py: levels",
    "init/operations.py: times",
    "servers/lab/spec.py: members",
    "servers/lab/spec.py: shards",
    "spec/data.py: documents",
    "spec/own/kinds.py: documents",
    "spec/own/sql_steps.py: rows",
}
"""What is told only of more than one, and an example."""


@pytest.mark.parametrize(
    ("count", "nouns", "text"),
    [
        (0, ("document",), "0 documents"),
        (1, ("document",), "1 document"),
        (2500, ("document",), "2 500 documents"),
        (1, ("guess", "guesses"), "1 guess"),
        (2, ("guess", "guesses"), "2 guesses"),
    ],
)
def test_a_count_and_its_noun(count: int, nouns: tuple[str, ...], text: str) -> None:
    assert counted(count, *nouns) == text


def test_no_text_puts_a_plural_behind_whatever_the_count_is() -> None:
    found = {
        f"{path.relative_to(SOURCES)}:{noun}"
        for path in sorted(SOURCES.rglob("*.py"))
        if str(path.relative_to(SOURCES)) not in ITS_OWN_WORDS
        for text in ast.walk(ast.parse(path.read_text()))
        if isinstance(text, ast.JoinedStr)
        for noun in _plurals(text)
    }
    assert found == MORE_THAN_ONE


def _is_limit(value: ast.expr) -> bool:
    """Whether it is a constant of the program."""
    names = [each for each in ast.walk(value) if isinstance(each, ast.Name | ast.Attribute)]
    return all((each.id if isinstance(each, ast.Name) else each.attr).strip("_").isupper() for each in names[:1])


def _plurals(text: ast.JoinedStr) -> list[str]:
    """The nouns that stand behind a value, each behind a blank."""
    return [
        noun[0]
        for before, after in zip(text.values, text.values[1:], strict=False)
        if isinstance(before, ast.FormattedValue) and not _is_limit(before.value) and isinstance(after, ast.Constant)
        if (noun := _FOLLOWS.match(str(after.value)))
    ]

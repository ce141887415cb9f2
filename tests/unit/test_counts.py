"""A count agrees with its noun wherever one is printed: texts without a translation take both from `counted`."""

import ast
import json
import re
from pathlib import Path

import pytest

from brimline.units import counted
from brimline.wording import COUNTED_NOUNS, message

SOURCES = Path(__file__).parents[2] / "python" / "brimline"
_VERBS_AS_WELL = {"runs", "writes", "counts", "queries"}
"""Words that stand behind a name as often as behind a count."""
_FOLLOWS = re.compile(rf"^ (?:{'|'.join(set(COUNTED_NOUNS.split('|')) - _VERBS_AS_WELL)})\b")
ITS_OWN_WORDS = {"compat/ycsb/status.py", "compat/mongostat/lines.py"}
"""What is printed as another tool prints it."""
MORE_THAN_ONE = {
    "cli/ab.py: connections",
    "compat/simrunner/workloads.py: statements",
    "experiments/scan/setting.py: entries",
    "experiments/vary/factors.py: levels",
    "experiments/vary/order.py: combinations",
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


TRANSLATED = sorted((SOURCES / "report" / "language" / "zh").glob("*.json"))
_PLACES = re.compile(r"\{(\w+)(?:![rs])?(?::[^}]*)?\}")


def test_no_sentence_of_a_report_has_a_plural_behind_a_one() -> None:
    templates = [each for file in TRANSLATED for each in json.loads(file.read_text()) if "{" in each]
    assert len(templates) > 900
    wrong_number = re.compile(rf"(?<! and )\b1 (?:(?!of|in|wrote)\w+ )?(?:{COUNTED_NOUNS})\b(?! as )")
    wrong = []
    for template in templates:
        text = message(template, **dict.fromkeys(_PLACES.findall(template), 1))
        wrong += [text] if wrong_number.search(text) else []
    assert wrong == [], wrong


def test_the_verb_agrees_too() -> None:
    template = "only {tail} operations lie above the p99, {needed} are needed"
    assert message(template, tail="1", needed="10").startswith("only 1 operation lies above")
    assert message(template, tail="2", needed="10").startswith("only 2 operations lie above")
    assert message(template, tail="1", needed="10").template == template

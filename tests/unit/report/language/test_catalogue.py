"""The Chinese sentences against the sources: nothing is missing, nothing is left over, every value has its place."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import brimline
from brimline.report.language.translator import catalogue, error_pattern, words_of

PACKAGE = Path(brimline.__file__).parent
SENTENCES = catalogue("zh")
MAKERS = {"message", "Message"}
NOT_SHOWN_IN_REPORTS = {"wording.py"}
COMPOSED = re.compile(
    r"(p99|Mean|Median|response|service) (response|service|p50|p95|p99|time)[^{]*|(Response|Service) time, ms"
)
"""Put together from a handful of words, so that they stand nowhere in one piece."""
OF_THE_ENGINE = {
    *("bad reply", "connection lost", "server error", "server selection", "write concern error", "write error"),
    "aborted",
}
"""Outcomes and endings that only the engine's sources name."""


@cache
def _trees() -> Sequence[tuple[str, ast.Module]]:
    return [
        (str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def _strings(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _templates() -> set[str]:
    """Every template of a message in the sources."""
    return {
        text
        for name, tree in _trees()
        if name not in NOT_SHOWN_IN_REPORTS
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MAKERS and call.args
        for text in _strings(call.args[0])
    }


def _has_words(template: str) -> bool:
    bare = "".join(literal for literal, *_ in Formatter().parse(template))
    return re.search(r"[A-Za-z]{2}", re.sub(r"<[^>]*>|p99|ms\b", "", bare)) is not None


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.slow("reads all sources")
def test_every_sentence_of_the_sources_has_its_translation() -> None:
    missing = sorted(each for each in _templates() if _has_words(each) and each not in SENTENCES)
    assert not missing, "add to python/brimline/report/language/zh/: " + json.dumps(missing, indent=1)


def test_no_translation_is_left_over() -> None:
    templates = [*PACKAGE.glob("report/templates/*.j2"), *PACKAGE.glob("ui/templates/*.j2")]
    said = " ".join(path.read_text(encoding="utf-8") for path in templates)
    known = {text for _, tree in _trees() for text in _strings(tree)}
    known |= {text.replace("_", " ") for text in known} | OF_THE_ENGINE
    left_over = [
        each
        for each in SENTENCES
        if each not in known and f'said("{each}")' not in said and not COMPOSED.fullmatch(each)
    ]
    assert left_over == [], left_over


def test_words_of_tables_stand_for_sentences_that_there_are() -> None:
    english, chinese = words_of("tables", "en"), words_of("tables", "zh")
    assert english.keys() == chinese.keys() <= SENTENCES.keys()
    assert all(_fields(each) == _fields(english[each]) == _fields(chinese[each]) for each in english)
    assert not [each for each in english.values() if re.search("document|command|collection", each.lower())]


def test_errors_that_are_known_again_are_those_that_are_raised() -> None:
    """Each stands in the sources, Python's or the engine's; values are taken for an x."""
    engine = "\n".join(path.read_text() for path in (PACKAGE.parents[1] / "crates" / "engine" / "src").rglob("*.rs"))
    said = {re.sub(r"\{[^{}]*\}", "x", text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', engine)}
    said |= {text.removesuffix("x") + ": x" for text in said if text.endswith("x")}
    said |= {text.removesuffix("x") for text in said if text.endswith("msx")}
    for _, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                said.add("".join(str(each.value) if isinstance(each, ast.Constant) else "x" for each in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                said.add(node.value)
    chinese = words_of("errors", "zh")
    assert all(_fields(english) == _fields(translation) for english, translation in chinese.items())
    longest = {each: max((literal for literal, *_ in Formatter().parse(each)), key=len) for each in chinese}
    unknown = [
        each
        for each in chinese
        if not any(longest[each] in text and error_pattern(each).fullmatch(text) for text in said)
    ]
    assert unknown == []


def test_translations_have_the_values_of_their_originals() -> None:
    wrong = {
        english: chinese
        for english, chinese in SENTENCES.items()
        if "{" in english and _fields(english) != _fields(chinese)
    }
    assert wrong == {}


def test_no_sentence_is_translated_twice() -> None:
    seen: set[str] = set()
    for path in sorted((PACKAGE / "report" / "language" / "zh").glob("*.json")):
        pairs = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=list)
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), path
        assert not seen & set(names), path
        seen |= set(names)


def test_every_word_of_the_page_has_its_translation() -> None:
    pages = " ".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("ui/templates/*.j2"))
    missing = sorted({each for each in re.findall(r'said\("([^"]+)"\)', pages) if each not in SENTENCES})
    assert not missing, missing

from pathlib import Path
from typing import Any

import pytest

from tests.unit.compat.simrunner_cases import ALONE, EXPRESSIONS, template_of, translation, values_of


def _inserted(directory: Path, expression: Any, **more: Any) -> Any:
    """What an expression becomes in an inserted document."""
    translated = translation(
        directory, [template_of({"a": expression}, **more)], [{"name": "one", "template": "person", "op": "insert"}]
    )
    return values_of(translated)["operations"]["one"]["insert"]["document"]["a"]


@pytest.mark.parametrize(("expression", "made"), EXPRESSIONS)
def test_each_expression_has_its_value(tmp_path: Path, expression: Any, made: Any) -> None:
    assert _inserted(tmp_path, expression) == {"$value": made}


@pytest.mark.parametrize(("expression", "made"), ALONE)
def test_each_expression_that_stands_by_itself(tmp_path: Path, expression: Any, made: Any) -> None:
    assert _inserted(tmp_path, expression) == made


def test_a_constant_of_as_many_bounds_as_vary_reaches_loaded_documents(tmp_path: Path) -> None:
    template = template_of(
        {
            "n": {"%number": {"min": "#low", "max": 200}},
            "d": {"%date": {"min": "#since", "max": {"$date": "2024-02-01"}}},
            "list": {"%array": {"min": "#low", "max": "#low", "of": "%now"}},
            "parts": {"%ngram": {"of": "#word"}},
        },
        variables={
            "low": {"%number": {"min": 1, "max": 6}},
            "since": {"%date": {"min": {"$date": "2024-01-01"}, "max": {"$date": "2024-01-09"}}},
            "word": "%lorem.word",
        },
    )
    found = values_of(translation(tmp_path, [template], [{"name": "one", "template": "person", "op": "insert"}]))
    assert found["collections"]["people"]["fields"] == {
        "n": {"kind": "int", "min": 1, "max": 199},
        "d": {"kind": "date", "from": "2024-01-01T00:00:00.000Z", "to": "2024-02-01T00:00:00.000Z"},
        "list": {
            "kind": "array",
            "length": {"kind": "uniform", "min": 1, "max": 5},
            "of": {"kind": "clock", "start": "2025-01-01", "every": "1s"},
        },
        "parts": {"kind": "array", "length": 10, "of": {"kind": "fake", "what": "word"}},
    }
    assert found["operations"]["one"]["insert"]["document"] == {
        "n": {"$value": {"between": ["$person_low", {"max": ["$person_low", {"subtract": [200, 1]}]}]}},
        "d": {"$value": {"between": ["$person_since", {"$date": "2024-02-01T00:00:00Z"}]}},
        "list": {
            "$value": {
                "repeat": {
                    "of": "$now",
                    "count": {"between": ["$person_low", {"max": ["$person_low", "$person_low"]}]},
                    "max": 5,
                }
            }
        },
        "parts": {"$value": {"ngrams": {"of": {"lower": {"text": "$person_word"}}, "min": 3}}},
    }


def test_entries_of_dictionaries_are_joined_and_picked(tmp_path: Path) -> None:
    words = {"dictionaries": {"words": ["a", "b", "c"]}}
    joined = {"%dictionaryConcat": {"from": "words", "length": {"%natural": {"max": 4}}, "sep": " "}}
    assert _inserted(tmp_path, joined, **words)["$value"]["join"] == {
        "of": {
            "repeat": {
                "of": {"kind": "choice", "of": ["a", "b", "c"]},
                "count": {"kind": "int", "min": 0, "max": 3},
            }
        },
        "by": " ",
    }
    picked = _inserted(tmp_path, {"%dictionaryAt": {"from": "words", "at": "%threadNumber"}}, **words)
    assert picked == {"$value": {"element": {"of": {"list": ["a", "b", "c"]}, "at": {"modulo": ["$worker", 3]}}}}

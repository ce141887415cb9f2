import json
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


def test_a_normal_law_keeps_mean_and_deviation(tmp_path: Path) -> None:
    [draw] = {json.dumps(each) for each in _inserted(tmp_path, {"%gaussian": {"mean": 10, "sd": 2}})["$value"]["add"]}
    low, high = json.loads(draw)["min"], json.loads(draw)["max"]
    assert 4 * (low + high) / 2 == pytest.approx(10)
    assert (4 * (high - low) ** 2 / 12) ** 0.5 == pytest.approx(2)

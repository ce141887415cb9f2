"""What is told of an operation that a service answers otherwise than is expected, before a run."""

from typing import Any

import pytest

from brimline.execution.keeper.service import _failure

MISSING = "json.a is in the reply"


@pytest.mark.parametrize(
    ("label", "example", "words"),
    [
        (MISSING, f"expected that {MISSING}, but it is not there", f"expected that {MISSING}, but it is not there"),
        ("404 Not Found", "GET /a", "404 Not Found GET /a"),
        ("", "no reply within 2000 ms", "no reply within 2000 ms"),
    ],
)
def test_what_was_expected_is_said_once(label: str, example: str, words: str) -> None:
    summary: Any = {"errors": [{"code": 0, "outcome": "unexpected", "label": label, "example": example}], "failed": 1}
    assert _failure(summary, 1, all_of_them=True) == (0, words, "unexpected")

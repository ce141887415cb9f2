"""What a step's refusal is told with: a slip is to be corrected, a missing right to be granted."""

from types import SimpleNamespace
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.execution import step_trials


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        ("not authorized on shop to execute the command explain", "the user lacks a role for it"),
        ("Document failed validation", "correct it; no operation was sent"),
    ],
)
def test_the_hint_is_about_what_is_missing(refusal: str, hint: str) -> None:
    asked: Any = SimpleNamespace(path="operations.one: the step insert a")
    with pytest.raises(UsageError, match="the server refuses it") as refused:
        step_trials._raise_if_refused(asked, refusal)
    assert hint in str(refused.value.hint)

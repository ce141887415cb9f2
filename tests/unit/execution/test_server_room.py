"""Whether a server's disk may hold what is to be loaded is said before anything is replaced."""

from typing import Any, cast

import pytest
from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase
from brimline.execution import RunContext, Silence, StopToken
from brimline.execution.server_room import warn_of_little_room
from brimline.plan import NullTarget, load_plan
from brimline.spec import load_spec

PLAN = load_plan(load_spec("ycsb-c", overrides={"data": {"records": 10_000}}).spec, target=NullTarget())
"""About 11 MB."""
MB = 10**6


class Said(Silence):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def warning(self, text: str) -> None:
        self.texts.append(text)


class Database:
    name = "ycsb"

    def __init__(self, answer: dict[str, Any] | None) -> None:
        self.answer = answer

    def command(self, _name: str) -> dict[str, Any]:
        if self.answer is None:
            raise OperationFailure("not allowed")
        return self.answer


def _stats(total: object, used: object, stored: object) -> dict[str, Any]:
    return {"fsTotalSize": total, "fsUsedSize": used, "storageSize": stored}


@pytest.mark.parametrize(
    ("answer", "is_said"),
    [
        (_stats(100.0 * MB, 95.0 * MB, 0), True),
        (_stats(100 * MB, 95 * MB, 10 * MB), False),
        (_stats(100 * MB, 10 * MB, 0), False),
        (_stats(100 * MB, 10**30, 0), False),
        (_stats(-1, "x", None), False),
        (_stats(0, 0, 0), False),
        ({}, False),
        (None, False),
    ],
)
def test_little_room_is_said(answer: dict[str, Any] | None, is_said: bool) -> None:
    said = Said()
    context = RunContext(deployment=None, spec_text="", environment={}, progress=said, stop=StopToken())
    warn_of_little_room([PLAN], cast(DataDatabase, Database(answer)), context)
    assert bool(said.texts) == is_said
    if is_said:
        assert "may be too small: 5.00 MB free" in said.texts[0].replace("\u202f", " ")

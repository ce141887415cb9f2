"""What a lab says while it waits for its members."""

import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import cast

import pytest
from pymongo.errors import OperationFailure

from brimline.errors import TargetError
from brimline.servers.lab import replica_sets
from brimline.servers.lab.replica_sets import out_of_step
from brimline.servers.lab.state import Lab
from brimline.servers.lab.waiting import wait_until


def test_a_long_wait_says_each_reason_once() -> None:
    reasons = iter(["b is STARTUP2", "b is STARTUP2", "c is RECOVERING", ""])
    now = [""]

    def condition() -> bool:
        now[0] = next(reasons)
        return not now[0]

    said: list[str] = []
    wait_until(
        condition,
        until=time.monotonic() + 10,
        meanwhile=lambda: None,
        why=lambda: now[0],
        say=said.append,
        say_every_s=0.0,
    )
    assert said == ["still waiting: b is STARTUP2", "still waiting: c is RECOVERING"]


def test_a_short_wait_says_nothing() -> None:
    answers = iter([False, True])
    wait_until(
        lambda: next(answers),
        until=time.monotonic() + 10,
        meanwhile=lambda: None,
        why=lambda: "slow",
        say=lambda text: pytest.fail(text),
    )


def test_the_deadline_says_what_was_missing() -> None:
    with pytest.raises(TargetError, match="not complete in time: b is late"):
        wait_until(
            lambda: False,
            until=0.0,
            meanwhile=lambda: None,
            why=lambda: "b is late",
            say=lambda text: pytest.fail(text),
        )


def test_members_are_named_that_are_not_what_they_should_be() -> None:
    wanted = {"a": "PRIMARY", "b": "SECONDARY", "c": "ARBITER"}
    text = out_of_step(wanted, {"a": "PRIMARY", "b": "STARTUP2"})
    assert text == "b is STARTUP2, not SECONDARY yet; c is not seen, not ARBITER yet"
    assert out_of_step(wanted, {}) == "the primary doesn't say what the members are"


def test_a_member_that_is_no_primary_stands_for_election_whether_or_not_its_time_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By itself it waits for an election timeout, of 10 s where none is given."""
    asked: list[str] = []

    class Admin:
        def command(self, name: str) -> dict[str, object]:
            asked.append(name)
            if name == "replSetStepUp" and asked.count(name) == 1:
                raise OperationFailure("Election failed.", 125)
            return {"isWritablePrimary": asked.count("replSetStepUp") == 2}

    monkeypatch.setattr(replica_sets, "lab_client", lambda *_, **__: nullcontext(SimpleNamespace(admin=Admin())))
    while not replica_sets._is_elected(cast(Lab, None), "a:1"):
        assert len(asked) < 5
    assert asked == ["hello", "replSetStepUp"] * 2 + ["hello"]

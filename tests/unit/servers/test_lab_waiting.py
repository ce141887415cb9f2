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


class Admin:
    """A leader that hears of its members at the second try, and is elected at the second one after that."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def command(self, command: str | dict[str, object]) -> dict[str, object]:
        name = command if isinstance(command, str) else next(iter(command))
        self.asked.append(name)
        count = self.asked.count(name)
        if name == "replSetInitiate" and count == 1:
            raise OperationFailure("", 74, {"errmsg": "quorum check failed: b:1 failed with no time left"})
        if name == "replSetInitiate" and count > 2:
            raise OperationFailure("already initialized", 23)
        if name == "replSetStepUp" and count == 1:
            raise OperationFailure("Election failed.", 125)
        return {"isWritablePrimary": self.asked.count("replSetStepUp") == 2}


def making(monkeypatch: pytest.MonkeyPatch, admin: object) -> replica_sets._Making:
    monkeypatch.setattr(replica_sets, "lab_client", lambda *_, **__: nullcontext(SimpleNamespace(admin=admin)))
    return replica_sets._Making(cast(Lab, None), "a:1", {})


def test_a_set_is_asked_for_until_its_members_answer_and_its_leader_is_elected(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine members answer late, and a leader by itself waits for an election timeout, 10 s by default."""
    admin = Admin()
    made = making(monkeypatch, admin)
    reasons = []
    while not made.is_done():
        assert len(admin.asked) < 12
        reasons.append(made.why)
    assert admin.asked == [
        *("hello", "replSetInitiate"),
        *("hello", "replSetInitiate", "replSetStepUp"),
        *("hello", "replSetInitiate", "replSetStepUp"),
        "hello",
    ]
    assert reasons == [
        "a:1 does not hear of all members: quorum check failed: b:1 failed with no time left",
        *["a:1 is not primary yet"] * 2,
    ]


def test_a_set_that_can_never_be_made_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Foreign:
        def command(self, command: str | dict[str, object]) -> dict[str, object]:
            if command == "hello":
                return {}
            raise OperationFailure("", 93, {"errmsg": "No host maps to this node"})

    with pytest.raises(TargetError, match="the replica set can't be made: No host maps to this node"):
        making(monkeypatch, Foreign()).is_done()

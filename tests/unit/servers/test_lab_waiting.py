"""What a lab says while it waits for its members."""

import time

import pytest

from brimline.errors import TargetError
from brimline.servers.lab.replica_sets import out_of_step
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

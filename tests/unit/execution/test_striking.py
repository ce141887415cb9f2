"""A fault comes on the run's clock, and the servers are put back however the run ends."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from brimline import leaving
from brimline.errors import TargetError
from brimline.execution.striking import Striking
from brimline.record.fault import FaultFacts
from brimline.record.model import Samples
from brimline.servers.faults.fault import Fault
from tests.support.waiting import eventually

FACTS = FaultFacts(name="kill", what="the server is killed", at="127.0.0.1:5001", by_hand="start it")


class Noted:
    """A fault that notes what was done."""

    what, at, by_hand = "it is noted", "127.0.0.1:5001", "start it"

    def __init__(self, *, fails: str = "") -> None:
        self.acts: list[str] = []
        self._fails = fails

    def do(self) -> None:
        self._act("do")

    def undo(self) -> None:
        self._act("undo")

    def _act(self, name: str) -> None:
        self.acts.append(name)
        if name == self._fails:
            raise TargetError(f"{name} failed", hint="")


def _started(fault: Noted, *, hold_s: float = 3600.0, runs: bool = True) -> Striking:
    striking = Striking(cast("Fault", fault), FACTS, at_s=1.0, hold_s=hold_s)
    striking.start()
    if runs:
        interval: Any = {"end_ns": 5_000_000_000}
        striking.on_samples(cast("Samples", {"operations": [], "intervals": [interval]}))
    return striking


def test_it_comes_so_long_after_the_run_began() -> None:
    fault, waits = Noted(), []
    striking = Striking(cast("Fault", fault), FACTS, at_s=10.0, hold_s=0.0)
    striking.on_samples(cast("Samples", {"operations": [], "intervals": [{"end_ns": 4_000_000_000}]}))
    over: Any = SimpleNamespace(wait=lambda timeout_s: waits.append(timeout_s) or True)
    striking._over = over
    striking._strike()
    assert waits == [pytest.approx(6.0, abs=1.0)] and fault.acts == [], "the run was over before"


def test_it_is_undone_when_it_has_lasted() -> None:
    fault = Noted()
    striking = _started(fault, hold_s=0.0)
    assert eventually(lambda: fault.acts == ["do", "undo"])
    facts = striking.end()
    assert facts.begun_unix_ns and facts.done_unix_ns and facts.undone_unix_ns and not facts.trouble
    assert facts.begun_unix_ns <= facts.done_unix_ns <= facts.undone_unix_ns


def test_it_is_undone_when_the_run_ends_before() -> None:
    fault = Noted()
    striking = _started(fault)
    assert eventually(lambda: fault.acts == ["do"])
    assert striking.end().undone_unix_ns is not None
    assert fault.acts == ["do", "undo"]


def test_what_failed_is_undone_as_well() -> None:
    fault = Noted(fails="do")
    striking = _started(fault)
    assert eventually(lambda: fault.acts == ["do", "undo"])
    facts = striking.end()
    assert (facts.trouble, facts.undo_trouble, facts.done_unix_ns) == ("do failed", "", None)


def test_an_undo_that_fails_is_told() -> None:
    fault = Noted(fails="undo")
    striking = _started(fault, hold_s=0.0)
    assert eventually(lambda: fault.acts == ["do", "undo"])
    facts = striking.end()
    assert (facts.undo_trouble, facts.undone_unix_ns, facts.by_hand) == ("undo failed", None, "start it")


@pytest.mark.parametrize("fails", ["", "do", "undo"])
def test_a_process_that_ends_at_once_says_what_is_left_to_do(fails: str) -> None:
    """As long as the fault is on; the end itself says it of one whose undoing failed."""
    fault = Noted(fails=fails)
    striking = _started(fault, hold_s=0.0 if fails else 3600.0)
    assert eventually(lambda: len(fault.acts) == (2 if fails else 1))
    if fails != "do":
        (said,) = leaving.last_words.values()
        assert "kill was not undone" in said and "do it by hand: start it" in said
    striking.end()
    assert not leaving.last_words


def test_the_last_words_are_written_where_the_process_ends(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ended: list[int] = []
    monkeypatch.setattr("os._exit", ended.append)
    monkeypatch.setitem(leaving.last_words, "here", "start it again")
    leaving.leave(2)
    assert capfd.readouterr().err == "error: interrupted by SIGINT\nhint: start it again\n"
    assert ended == [130]


def test_nothing_is_done_in_a_run_that_never_began() -> None:
    fault = Noted()
    assert _started(fault, runs=False).end() == FACTS
    assert fault.acts == []

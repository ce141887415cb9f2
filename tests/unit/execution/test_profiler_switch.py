"""The server's profiler is switched on for a run, asked only by who wants to know, and set back or told to be on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from pymongo import _csot
from pymongo.errors import AutoReconnect, OperationFailure

from brimline.errors import TargetError, UsageError
from brimline.execution import step_profile
from brimline.execution.database import ANSWERS_WITHIN_S
from brimline.execution.step_profile import profiling
from tests.support.own_work import constant, own_plan, step
from tests.unit.execution.test_around import SOMEBODY

FIND = {"find": "orders", "filter": {"customer": 5}}
PLAN = own_plan(
    {"latest": [step("find", body=constant(FIND))], "other": [step("find", body=constant(FIND), database="club")]}
)
BEGAN = datetime(2026, 11, 1)
BEFORE = {"was": 0, "slowms": 100, "sampleRate": 1.0}


class Server:
    """Answers `profile` and `system.profile`. `fails`: what it raises, by the command's level."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.fails: dict[int, Exception] = {}
        self.left_s: list[float] = []
        self.set = BEFORE
        self.seconds = {"shop": [9.0, 1.5], "club": [8.0]}

    def database(self, name: str) -> Any:
        def command(asked: Any) -> Any:
            if asked == "hello":
                return {"localTime": BEGAN}
            self.asked.append((name, asked))
            self.left_s.append(_csot.remaining() or 0.0)
            if asked["profile"] in self.fails:
                raise self.fails[asked["profile"]]
            before = {**self.set}
            if asked["profile"] != -1:
                self.set = {**self.set, "slowms": asked["slowms"], "sampleRate": asked["sampleRate"]}
            return before

        def find(*_: Any, **__: Any) -> Any:
            self.asked.append((name, "entries"))
            if 2 in self.fails:
                raise self.fails[2]
            found = {"op": "query", "ns": f"{name}.orders", "command": FIND, "millis": 2}
            return [{**found, "ts": BEGAN + timedelta(seconds=seconds)} for seconds in self.seconds[name]]

        collection = SimpleNamespace(find=find)
        return SimpleNamespace(
            name=name,
            command=command,
            client=SimpleNamespace(address=("db.example", 27017)),
            get_collection=lambda *_, **__: collection,
        )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()

    @contextmanager
    def named(name: str, _: Any) -> Iterator[Any]:
        yield server.database(name)

    monkeypatch.setattr(step_profile, "database_named", named)
    return server


def test_both_databases_are_set_back_to_what_the_server_had_before_the_first(server: Server) -> None:
    told: list[str] = []
    with profiling(PLAN, SOMEBODY, 0.5, told.append) as profiled:
        found = profiled.told()
    assert [(each["operation"], each["commands"]) for each in found["profile"]] == [("latest", 2), ("other", 1)]
    assert found["profile_begins_s"] == 8.0
    on = {"profile": 1, "slowms": -1, "sampleRate": 0.5}
    off = {"profile": 0, "slowms": 100, "sampleRate": 1.0}
    assert [each for each in server.asked if each[1] not in ("entries", {"profile": -1})] == [
        *(("shop", on), ("club", on)),
        *(("shop", off), ("club", off)),
    ]
    assert told == []


def test_who_is_not_asked_reads_nothing_and_waits_for_no_server_that_went_away(server: Server) -> None:
    told: list[str] = []
    with profiling(PLAN, SOMEBODY, 0.5, told.append):
        server.fails[0] = AutoReconnect("gone")
    assert ("shop", "entries") not in server.asked
    assert all(0 < left_s <= ANSWERS_WITHIN_S for left_s in server.left_s[-2:])
    assert len(told) == 2
    assert 'db.getSiblingDB("club").runCommand({"profile": 0, "slowms": 100, "sampleRate": 1.0})' in told[1]
    assert "db.example:27017" in told[1]


def test_entries_that_cannot_be_read_are_told(server: Server) -> None:
    told: list[str] = []
    with profiling(PLAN, SOMEBODY, 0.5, told.append) as profiled:
        server.fails[2] = AutoReconnect("gone")
        assert profiled.told() == {"profile": []}
    assert told == ["reading what the profiler recorded: the server doesn't answer"]


@pytest.mark.parametrize(
    ("failure", "hint"),
    [(OperationFailure("no", 13), "dbAdmin"), (OperationFailure("no", 59), ""), (AutoReconnect(), "")],
)
def test_only_a_user_who_may_not_is_told_of_a_role(server: Server, failure: Exception, hint: str) -> None:
    server.fails[1] = failure
    with pytest.raises(TargetError) as raised, profiling(PLAN, SOMEBODY, 0.5, pytest.fail):
        pass
    assert ("dbAdmin" in str(raised.value.hint)) == bool(hint)
    was_set = ("shop", {"profile": 0, "slowms": 100, "sampleRate": 1.0}) in server.asked
    assert was_set == isinstance(failure, AutoReconnect)  # which may have come after it was set


def test_a_profiler_that_is_on_stays_as_it_is(server: Server) -> None:
    server.set = {**BEFORE, "was": 1}
    with profiling(PLAN, SOMEBODY, 0.5, pytest.fail):
        pass
    assert [each for _, each in server.asked] == [{"profile": -1}, {"profile": -1}]


@pytest.mark.parametrize(
    "changes", [{"kind": "mongos"}, {"shards": ("127.0.0.1:2",)}, {"protocol": "http"}, {"protocol": "mysql"}]
)
def test_what_has_no_profiler_of_its_own_is_refused(server: Server, changes: Any) -> None:
    elsewhere = replace(SOMEBODY, **changes)
    with pytest.raises(UsageError, match="--profiler") as raised, profiling(PLAN, elsewhere, 0.5, pytest.fail):
        pass
    assert raised.value.hint
    assert server.asked == []

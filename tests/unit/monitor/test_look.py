"""What is asked of a server for a row, and what happens when it refuses: a scripted client, no server."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pymongo.errors import AutoReconnect, OperationFailure

from brimline.monitor import server_status
from brimline.monitor.absence import NO_SET, NOT_ANSWERED, NOT_HERE, NOT_IN_ANSWER
from brimline.monitor.look import REPLICATION_LOOKS_MAX, ServerLook, looks_between
from brimline.monitor.row import ServerRow
from brimline.servers.deployment import Client, Deployment, Kind

Answer = Mapping[str, Any] | Exception
_STATUS = {"uptimeMillis": 5, "opcounters": {"insert": 1}}
_NOT_ALLOWED = OperationFailure("not authorized on admin", code=13)


class _Admin:
    """Answers each command, by its name, with a document, an error, or what a function makes of the command."""

    def __init__(self, script: Mapping[str, Answer | Callable[[Mapping[str, Any]], Answer]]) -> None:
        self.script = dict(script)
        self.asked: list[str] = []

    def command(self, command: str | Mapping[str, Any]) -> Mapping[str, Any]:
        document = {command: 1} if isinstance(command, str) else command
        name = next(iter(document))
        self.asked.append(name)
        answer = self.script.get(name, OperationFailure("no such command", code=59))
        if callable(answer):
            answer = answer(document)
        if isinstance(answer, Exception):
            raise answer
        return answer


class _Client:
    def __init__(self, script: Mapping[str, Any]) -> None:
        self.admin = _Admin(script)


def _deployment(kind: Kind = "standalone") -> Deployment:
    return Deployment(
        address="db.example:27017",
        uri_redacted="mongodb://db.example:27017",
        kind=kind,
        engine="MongoDB",
        version="6.0.5",
        git_version="",
        local=False,
        pid=None,
        cpu_count=8,
    )


def _look(script: Mapping[str, Any], *, kind: Kind = "standalone") -> tuple[ServerLook, _Admin]:
    client = _Client(script)
    return ServerLook(cast(Client, client), _deployment(kind)), client.admin


def _reason(look: ServerLook, column: str) -> str:
    (reason,) = [each.reason for each in look.absent() if column in each.metrics]
    return reason


def test_a_look_makes_a_row() -> None:
    look, _ = _look({"serverStatus": _STATUS})
    row = ServerRow(**look.take())
    assert (row.gap, row.uptime_ms, row.insert, row.query) == ("", 5, 1, None)
    assert (row.server_cpu_count, row.shared_host) == (8, False)
    assert row.host_busy_ns is None


def test_what_the_user_may_not_run_is_asked_once_and_named_with_its_reason() -> None:
    look, admin = _look({"serverStatus": _NOT_ALLOWED})
    rows = [ServerRow(**look.take()) for _ in range(3)]
    assert [row.gap for row in rows] == ["", "", ""]
    assert [row.insert for row in rows] == [None, None, None]
    assert admin.asked.count("serverStatus") == 1
    assert "clusterMonitor" in _reason(look, "insert")
    assert "serverStatus" in _reason(look, "insert")


def test_one_refused_command_leaves_the_other_its_columns() -> None:
    look, admin = _look({"serverStatus": _STATUS, "replSetGetStatus": _NOT_ALLOWED}, kind="replica-set member")
    rows = [ServerRow(**look.take()) for _ in range(3)]
    assert [row.insert for row in rows] == [1, 1, 1]
    assert [row.members_primary for row in rows] == [None, None, None]
    assert admin.asked.count("replSetGetStatus") == 1
    assert "replSetGetStatus" in _reason(look, "members_primary")


def test_each_reason_is_the_right_one() -> None:
    look, _ = _look({"serverStatus": _STATUS})
    look.take()
    assert _reason(look, "query") == NOT_IN_ANSWER
    assert _reason(look, "replication_lag_slowest_ms") == NO_SET
    assert _reason(look, "disk_busy_ms") == NOT_HERE
    assert not [each for each in look.absent() if "insert" in each.metrics]


def test_a_server_that_is_gone_makes_gaps_and_is_asked_again() -> None:
    look, admin = _look({"serverStatus": AutoReconnect("connection refused")})
    assert look.take()["gap"] == "AutoReconnect"
    assert _reason(look, "insert") == NOT_ANSWERED
    admin.script["serverStatus"] = _STATUS
    assert look.take()["insert"] == 1


def test_a_server_that_ends_after_its_answer_takes_nothing_back() -> None:
    """It was killed between `serverStatus` and the look at its process."""
    used = {"extra_info": {"user_time_us": 5, "system_time_us": 2}}
    with subprocess.Popen(["sleep", "60"]) as process:

        def killed(_: Mapping[str, Any]) -> Answer:
            process.kill()
            process.wait()
            return {**_STATUS, **used}

        client = _Client({"serverStatus": killed, "hello": {"connectionId": 7}})
        look = ServerLook(cast(Client, client), replace(_deployment(), local=True, pid=process.pid))
        row = ServerRow(**look.take())
    assert (row.gap, row.server_cpu_ns, look.process_ended) == ("", 7000, True)


def test_a_thread_that_has_ended_is_counted_as_far_as_it_was_seen() -> None:
    """As where the connection of the monitor breaks, and is made anew by the next command."""
    named, end = threading.Event(), threading.Event()

    def serve() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("conn7")
        sum(range(300_000))
        named.set()
        end.wait()

    thread = threading.Thread(target=serve)
    thread.start()
    named.wait()
    client = _Client({"serverStatus": _STATUS, "hello": {"connectionId": 7}})
    look = ServerLook(cast(Client, client), replace(_deployment(), local=True, pid=os.getpid()))
    seen = look.take()["monitor_server_cpu_ns"]
    end.set()
    thread.join()
    while Path(f"/proc/self/task/{thread.native_id}").exists():  # for a moment longer than Python knows of it
        time.sleep(0.001)
    assert seen > 0
    assert look.take()["monitor_server_cpu_ns"] == seen


def test_an_answer_of_an_unforeseen_shape_is_a_gap() -> None:
    look, _ = _look({"serverStatus": cast(Any, [])})
    assert "unreadable answer" in look.take()["gap"]


def test_a_server_that_refuses_nested_exclusions_is_asked_the_plain_way() -> None:
    def answer(command: Mapping[str, Any]) -> Answer:
        if isinstance(command.get("metrics"), Mapping):
            return OperationFailure("Exclusion value must be a boolean", code=357)
        return _STATUS

    look, admin = _look({"serverStatus": answer})
    assert [look.take()["insert"] for _ in range(2)] == [1, 1]
    assert admin.asked.count("serverStatus") == 3  # the first look asked twice


def test_a_server_that_refuses_both_ways_makes_gaps() -> None:
    look, _ = _look({"serverStatus": OperationFailure("interrupted", code=11601)})
    assert look.take()["gap"] == "OperationFailure"


def test_the_plain_command_is_understood_by_every_version() -> None:
    assert set(server_status.COMMAND_PLAIN.values()) == {0, 1}


def test_only_a_replica_set_is_asked_for_its_members() -> None:
    look, admin = _look({"serverStatus": _STATUS})
    look.take()
    assert "replSetGetStatus" not in admin.asked


@pytest.mark.parametrize(
    ("status_ns", "replication_ns", "looks"),
    [(1_000, 10, 1), (1_000, 1_000, 1), (1_000, 1_001, 2), (1_000, 7_500, 8), (0, 10**9, REPLICATION_LOOKS_MAX)],
)
def test_the_members_are_asked_for_less_often_when_that_costs_more(
    status_ns: int, replication_ns: int, looks: int
) -> None:
    assert looks_between(status_ns, replication_ns) == looks


def test_between_two_questions_for_the_members_their_columns_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brimline.monitor.look.looks_between", lambda _status_ns, _replication_ns: 3)
    members = {"members": [{"state": 1, "health": 1.0}]}
    look, _ = _look({"serverStatus": _STATUS, "replSetGetStatus": members}, kind="replica-set member")
    rows = [ServerRow(**look.take()) for _ in range(7)]
    assert [row.members_primary for row in rows] == [1, None, None, 1, None, None, 1]

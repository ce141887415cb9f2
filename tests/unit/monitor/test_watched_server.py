"""Who is watched when a followed set gets another primary: scripted members, no server."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from pymongo.errors import AutoReconnect, OperationFailure

from brimline.errors import TargetError
from brimline.monitor.row import ServerRow
from brimline.monitor.server_status import ROLE
from brimline.monitor.watched_server import NO_PRIMARY, WatchedServer
from brimline.plan.model import ReplicaSet
from brimline.servers.deployment import Client, Deployment

A, B = "a.example:27017", "b.example:27017"
_GONE = AutoReconnect("connection refused")
_NOT_ALLOWED = OperationFailure("not authorized on admin", code=13)


class _Member:
    """A member that counts the commands it is sent; also its own client, whose `admin` it is."""

    def __init__(self, address: str, *, primary: bool, insert: int) -> None:
        self.address = address
        self.primary = primary
        self.insert = insert
        self.gone = False
        self.may_watch = True
        self.asked: list[Mapping[str, Any]] = []
        self.admin = self
        self.is_open = False

    def command(self, command: str | Mapping[str, Any]) -> Mapping[str, Any]:
        document = {command: 1} if isinstance(command, str) else command
        self.asked.append(document)
        if self.gone:
            raise _GONE
        role = {"isWritablePrimary": self.primary, "setName": "rs"}
        if "hello" in document:
            return role
        if "serverStatus" in document and self.may_watch:
            told = {} if document.get(ROLE) == 0 else {ROLE: role}
            return {"uptimeMillis": 5, "opcounters": {"insert": self.insert}} | told
        if "replSetGetStatus" in document and self.may_watch:
            return {"members": []}
        raise _NOT_ALLOWED

    def names_asked(self) -> list[str]:
        return [next(iter(each)) for each in self.asked]

    def close(self) -> None:
        self.is_open = False


class _Set:
    """Two members, and how often somebody asked for the primary."""

    def __init__(self, *, followed: bool = True) -> None:
        self.members = {A: _Member(A, primary=True, insert=1000), B: _Member(B, primary=False, insert=7)}
        self.searches = 0
        self.searched_s: list[float] = []
        self.unreachable: set[str] = set()
        members = ReplicaSet(name="rs", members=(A, B), selection_timeout_ns=1)
        self.deployment = Deployment(
            address=A,
            uri_redacted=f"mongodb://{A}",
            kind="replica-set member",
            engine="MongoDB",
            version="6.0.5",
            git_version="",
            local=False,
            pid=None,
            cpu_count=8,
            replica_set=members if followed else None,
        )
        self.pid: int | None = None
        self.watch()

    def watch(self) -> None:
        self.watched = WatchedServer(self.deployment, find_primary=self._find_primary, connect=self._connect)

    def _find_primary(self, deployment: Deployment, timeout_s: float) -> Deployment:
        self.searches += 1
        self.searched_s.append(timeout_s)
        for member in self.members.values():
            if member.primary and not member.gone:
                return replace(deployment, address=member.address, pid=self.pid)
        raise TargetError("the replica set rs has no primary")

    def _connect(self, deployment: Deployment) -> Client:
        if deployment.address in self.unreachable:
            raise OSError("the certificate's file is gone")
        self.members[deployment.address].is_open = True
        return cast(Client, self.members[deployment.address])

    def elect(self, address: str | None) -> None:
        for member in self.members.values():
            member.primary = member.address == address

    def look(self, *, may_search: bool = True) -> ServerRow:
        return ServerRow(**self.watched.take(may_search=may_search))


def test_after_a_step_down_the_row_is_the_new_primarys_in_the_same_look() -> None:
    members = _Set()
    assert (members.look().server, members.look().insert) == (A, 1000)
    members.elect(B)
    row = members.look()
    assert (row.server, row.insert, row.gap) == (B, 7, "")
    assert [members.members[each].is_open for each in (A, B)] == [False, True]
    members.elect(A)
    assert members.look().server == A


def test_a_primary_that_no_client_can_be_made_for_does_not_end_the_watching() -> None:
    members = _Set()
    members.look()
    members.elect(B)
    members.unreachable = {B}
    assert (members.look().server, members.look().gap) == ("", NO_PRIMARY)
    members.unreachable = set()
    assert members.look().server == B


def test_after_a_death_the_row_is_the_new_primarys() -> None:
    members = _Set()
    members.look()
    members.members[A].gone = True
    members.elect(B)
    row = members.look()
    assert (row.server, row.insert, row.gap) == (B, 7, "")


def test_a_process_that_has_ended_is_no_row_of_who_answers_at_its_address() -> None:
    """A primary that was killed, started again and elected between two looks: nobody fails to answer."""
    members = _Set()
    with subprocess.Popen(["sleep", "60"]) as process:
        process.kill()
        process.wait()
    members.deployment = replace(members.deployment, local=True, pid=process.pid)
    members.watch()
    members.pid = os.getpid()
    row = members.look()
    assert (row.server, row.gap, members.searches) == (A, "", 1)
    assert row.server_cpu_ns is not None
    members.look()
    assert members.searches == 1, "the process of now is known"


def test_without_a_primary_rows_are_of_nobody_until_there_is_one() -> None:
    members = _Set()
    members.look()
    members.elect(None)
    rows = [members.look() for _ in range(3)]
    assert [(row.server, row.gap, row.insert) for row in rows] == [("", NO_PRIMARY, None)] * 3
    members.members[A].gone = True
    assert members.look().gap == NO_PRIMARY
    members.elect(B)
    assert (members.look().server, members.look().gap) == (B, "")


def test_while_nothing_happens_nobody_else_is_asked_and_nothing_more() -> None:
    followed, unfollowed = _Set(), _Set(followed=False)
    for each in (followed, unfollowed):
        for _ in range(5):
            each.look()
    assert followed.members[A].names_asked().count("serverStatus") == 5
    # How often replSetGetStatus is asked depends on how long it takes; everything else is the same.
    asked = [
        [name for name in each.members[A].names_asked() if name != "replSetGetStatus"]
        for each in (followed, unfollowed)
    ]
    assert asked[0] == asked[1]
    assert followed.searches == 0 and followed.members[B].asked == []
    assert [each[ROLE] for each in unfollowed.members[A].asked if "serverStatus" in each] == [0] * 5


def test_a_server_that_is_meant_itself_is_never_replaced() -> None:
    members = _Set(followed=False)
    members.look()
    members.elect(B)
    assert (members.look().server, members.look().insert) == (A, 1000)
    members.members[A].gone = True
    row = members.look()
    assert (row.server, row.gap, members.searches) == (A, "AutoReconnect", 0)


def test_once_the_run_is_over_nobody_is_searched() -> None:
    members = _Set()
    members.elect(B)
    row = members.look(may_search=False)
    assert (row.server, row.gap, row.insert, members.searches) == ("", NO_PRIMARY, None, 0)


def test_a_primary_that_fails_once_stays_the_server_watched() -> None:
    members = _Set()
    members.look()
    members.members[A].gone = True
    asked = members.watched.take(may_search=False)
    assert (asked["gap"], asked["server"]) == ("AutoReconnect", A)
    members.members[A].gone = False
    assert (members.look().server, members.searches) == (A, 0)


def test_a_user_who_may_see_nothing_is_followed_by_hello() -> None:
    members = _Set()
    for member in members.members.values():
        member.may_watch = False
    members.look()
    members.elect(B)
    assert [members.look().server for _ in range(3)][-1] == B


def test_what_another_server_had_is_not_absent() -> None:
    members = _Set()
    members.look()
    members.members[B].may_watch = False
    members.elect(B)
    members.look()
    assert not [each for each in members.watched.absent() if "insert" in each.metrics]


def test_an_unforeseen_error_of_a_search_ends_nothing() -> None:
    members = _Set()

    def trip(_: Deployment, timeout_s: float) -> Deployment:
        raise ValueError("an answer of an odd shape")

    watched = WatchedServer(members.deployment, find_primary=trip, connect=members._connect)
    members.elect(None)
    assert watched.take()["gap"] == NO_PRIMARY


def test_a_search_takes_longer_each_time_that_it_finds_nobody() -> None:
    """Servers with little of a processor, of which none gets through a login in a second."""
    members = _Set()
    members.elect(None)
    for _ in range(5):
        members.look()
    assert members.searched_s == [1.0, 2.0, 4.0, 5.0, 5.0]
    members.elect(B)
    assert members.look().server == B
    members.elect(None)
    members.look()
    assert members.searched_s[-1] == 1.0


@pytest.mark.parametrize("commands", [3])
def test_commands_are_added_up_over_servers(commands: int) -> None:
    members = _Set()
    members.look()
    before = members.watched.command_count
    members.elect(B)
    members.look()
    assert members.watched.command_count >= before + commands

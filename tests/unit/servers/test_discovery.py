"""Who the servers behind a connection string are: cases of the drivers' discovery specification, on answers made up."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from pymongo.errors import AutoReconnect, OperationFailure

from brimline.errors import TargetError
from brimline.servers.discovery import Topology, discover

Hello = Mapping[str, Any]
HOSTS = ["a:1", "b:1", "c:1"]


def primary(address: str, *, written_s: float = 100.0, **more: Any) -> dict[str, Any]:
    return {**_in_set(address, **more), "isWritablePrimary": True, "lastWrite": _at(written_s)}


def secondary(address: str, *, written_s: float = 100.0, **more: Any) -> dict[str, Any]:
    return {**_in_set(address, **more), "secondary": True, "lastWrite": _at(written_s)}


def _in_set(address: str, **more: Any) -> dict[str, Any]:
    return {"setName": "rs", "hosts": HOSTS, "me": address, "isWritablePrimary": False, **more}


def _at(second: float) -> dict[str, Any]:
    return {"lastWriteDate": datetime.fromtimestamp(second, UTC)}


MONGOS = {"msg": "isdbgrid", "isWritablePrimary": True}
STANDALONE = {"isWritablePrimary": True}
STARTING = {"isWritablePrimary": False, "isreplicaset": True}


class Servers:
    """Answers by address; a rest moves the time, and then what is in `later` holds."""

    def __init__(self, answers: Mapping[str, Hello], later: Mapping[str, Hello] | None = None) -> None:
        self.answers, self.later = dict(answers), later
        self.time_s = 0.0
        self.asked: list[str] = []

    def ask(self, address: str) -> Hello:
        self.asked.append(address)
        if address not in self.answers:
            raise AutoReconnect("connection refused")
        return self.answers[address]

    def rest(self, length_s: float) -> None:
        self.time_s += length_s
        if self.later is not None:
            self.answers = dict(self.later)

    def found(self, *seeds: str, set_name: str | None = None) -> Topology:
        return discover(seeds, self.ask, set_name=set_name, timeout_s=5, now=lambda: self.time_s, rest=self.rest)


SET = {"a:1": primary("a:1"), "b:1": secondary("b:1"), "c:1": secondary("c:1")}


@pytest.mark.parametrize("seeds", [("a:1",), ("b:1",), ("c:1", "a:1"), ("x:1", "b:1")])
def test_the_primary_is_found_from_every_member(seeds: tuple[str, ...]) -> None:
    topology = Servers(SET).found(*seeds, set_name="rs")
    assert topology.primary.address == "a:1"
    assert {member.address for member in topology.secondaries} == {"b:1", "c:1"}
    assert topology.members == ("a:1", "b:1", "c:1")


def test_nobody_is_asked_twice_in_a_round() -> None:
    servers = Servers(SET)
    servers.found("b:1", "b:1")
    assert sorted(servers.asked) in (["a:1", "b:1", "c:1"], ["a:1", "b:1", "b:1", "c:1"])


def test_a_member_is_called_as_its_set_calls_it() -> None:
    topology = Servers({**SET, "localhost:1": primary("a:1")}).found("localhost:1")
    assert [member.address for member in topology.writable] == ["a:1"]


def test_an_election_is_waited_for() -> None:
    servers = Servers({"a:1": secondary("a:1"), "b:1": secondary("b:1")}, later=SET)
    assert servers.found("a:1").primary.address == "a:1"
    assert 0 < servers.time_s < 5


def test_members_that_take_no_reads_are_left_out() -> None:
    servers = Servers({**SET, "b:1": secondary("b:1", hidden=True), "c:1": _in_set("c:1", arbiterOnly=True)})
    assert servers.found("a:1").secondaries == ()


def test_an_old_primary_is_not_believed() -> None:
    topology = Servers({**SET, "b:1": primary("b:1", written_s=200.0)}).found("a:1")
    assert [member.address for member in topology.writable] == ["b:1"]


def test_every_router_takes_writes() -> None:
    topology = Servers({"a:1": MONGOS, "b:1": MONGOS}).found("a:1", "b:1", "x:1")
    assert [member.address for member in topology.writable] == ["a:1", "b:1"]


def test_tags_and_age_are_known() -> None:
    servers = Servers({**SET, "b:1": secondary("b:1", written_s=40.0, tags={"dc": "east"})})
    (member,) = (each for each in servers.found("a:1").secondaries if each.address == "b:1")
    assert member.tags == {"dc": "east"}
    assert member.last_write_s == 40.0


@pytest.mark.parametrize(
    ("answers", "set_name", "words"),
    [
        (SET, "other", 'replica set "rs", not "other"'),
        ({"a:1": STANDALONE}, "rs", "a:1 is no member of a replica set"),
        ({"a:1": MONGOS}, "rs", "routers of a sharded cluster"),
        ({"a:1": secondary("a:1")}, "rs", "has no primary: a:1 is secondary, b:1 does not answer, c:1 does not answer"),
        ({"a:1": STARTING}, None, "has no primary: a:1 is neither primary nor secondary"),
        (
            {"a:1": {**primary("a:1"), "hosts": ["a:1", "b:1"]}, "b:1": {**SET["b:1"], "setName": "z"}},
            None,
            "different replica sets: rs, z",
        ),
    ],
)
def test_what_is_wrong_is_said(answers: Mapping[str, Hello], set_name: str | None, words: str) -> None:
    with pytest.raises(TargetError) as raised:
        Servers(answers).found("a:1", set_name=set_name)
    assert words in raised.value.message
    assert raised.value.hint
    assert raised.value.exit_code == 5


def test_that_nobody_answers_is_told_as_it_was() -> None:
    with pytest.raises(AutoReconnect, match="connection refused"):
        Servers({}).found("a:1", "b:1")


def test_a_refusal_ends_the_search_at_once() -> None:
    """A wrong password is not sent to every member."""
    asked = []

    def ask(address: str) -> Hello:
        asked.append(address)
        raise OperationFailure("Authentication failed.", code=18)

    with pytest.raises(OperationFailure):
        discover(["a:1", "b:1"], ask, set_name="rs", timeout_s=5)
    assert asked == ["a:1"]


# Servers that lie


ODD = (5, "x", None, [], {}, {"a": {}}, -1.5, b"x" * 10)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("field", ["setName", "hosts", "passives", "me", "tags", "lastWrite", "hidden"])
def test_a_field_of_another_type_is_no_crash(field: str, odd: object) -> None:
    servers = Servers({each: {**primary(each), field: odd} for each in HOSTS})
    assert servers.found("a:1").primary.role == "primary"


@pytest.mark.parametrize(
    "odd", ["", "a", ":1", "a:", "a:x", "a:1\n", "a:123456", "\x1b[31m:1", "b:1/x", 7, None, "a" * 300 + ":1"]
)
def test_what_is_no_address_is_not_asked(odd: object) -> None:
    servers = Servers({"a:1": {**primary("a:1"), "hosts": [odd], "me": odd}})
    assert servers.found("a:1").primary.address == "a:1"
    assert servers.asked == ["a:1"]


def test_a_set_without_an_end_is_told_from_one() -> None:
    servers = Servers({})
    servers.ask = lambda address: {**secondary(address), "hosts": [f"a:{int(address[2:]) * 5 + n}" for n in range(5)]}
    with pytest.raises(TargetError, match="more than 50 members"):
        servers.found("a:1")


def test_the_members_that_a_server_names_are_not_asked_longer_than_the_time() -> None:
    hosts = [f"a:{number}" for number in range(1, 41)]
    servers = Servers({})

    def ask(address: str) -> Hello:
        servers.asked.append(address)
        servers.time_s += 1.0
        return {**secondary(address), "hosts": hosts}

    servers.ask = ask
    with pytest.raises(TargetError, match="no primary"):
        servers.found("a:1")
    assert len(servers.asked) <= 6

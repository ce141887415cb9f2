"""Which servers hold the data: of one server, of shards that the client routes to, of sets, and behind a router."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pymongo.errors import OperationFailure

from brimline.servers import parts
from brimline.servers.parts import Part, parts_of
from tests.unit.execution.test_around import SOMEBODY
from tests.unit.monitor.test_sizes import ScriptedClient

A, B, C, D = (f"127.0.0.1:{port}" for port in (1, 2, 3, 4))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Mapping[str, Any]]:
    """What each server answers, by its address."""
    by_address: dict[str, Mapping[str, Any]] = {}
    monkeypatch.setattr(parts, "control_client", lambda address, **_: ScriptedClient(by_address.get(address, {})))
    return by_address


@pytest.mark.usefixtures("answers")
def test_one_server_has_no_parts() -> None:
    assert parts_of(replace(SOMEBODY, address=A)) == ()


def test_client_routed_shards_are_numbered_as_records_are_routed(answers: dict[str, Mapping[str, Any]]) -> None:
    answers |= {A: {"hello": {}}, B: {"hello": {}}}
    found = parts_of(replace(SOMEBODY, address=B, shards=(A,)))
    assert found == (Part(shard="shard 1", address=B), Part(shard="shard 2", address=A))


def test_shards_that_are_sets_have_their_members(answers: dict[str, Mapping[str, Any]]) -> None:
    answers |= {A: {"hello": {"hosts": [A, B], "me": A}}, C: {"hello": {"hosts": [C, D], "me": C}}}
    found = parts_of(replace(SOMEBODY, address=A, shards=(C,)))
    assert [(each.shard, each.address) for each in found] == [
        ("shard 1", A),
        ("shard 1", B),
        ("shard 2", C),
        ("shard 2", D),
    ]


def test_members_of_a_set_are_parts_without_a_shard(answers: dict[str, Mapping[str, Any]]) -> None:
    answers[A] = {"hello": {"hosts": ["db1:1", B], "me": "db1:1", "arbiters": [C]}}
    found = parts_of(replace(SOMEBODY, kind="replica-set member", address=A))
    assert [(each.shard, each.address) for each in found] == [("", A), ("", B)]


def test_a_router_names_its_shards(answers: dict[str, Mapping[str, Any]]) -> None:
    answers[A] = {"listShards": {"shards": [{"_id": "east", "host": f"set/{B},{C}"}, {"_id": "west", "host": D}]}}
    found = parts_of(replace(SOMEBODY, kind="mongos", address=A))
    assert [(each.shard, each.address) for each in found] == [("east", B), ("east", C), ("west", D)]


@pytest.mark.parametrize("answer", [OperationFailure("no", code=13), {"shards": "nonsense"}, {"shards": [7]}, {}])
def test_a_router_that_says_nothing_of_use_has_no_parts(answers: dict[str, Mapping[str, Any]], answer: Any) -> None:
    answers[A] = {"listShards": answer}
    assert parts_of(replace(SOMEBODY, kind="mongos", address=A)) == ()

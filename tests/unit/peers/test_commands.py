"""What the profiler saw, in words."""

from typing import Any

import pytest

from benchmarks.peers.__main__ import other_commands
from benchmarks.peers.commands import commands_seen, differences
from tests.unit.peers.samples import results


def find(**other: Any) -> dict[str, Any]:
    command = {"find": "usertable", "filter": {"_id": "user1"}, "limit": 1, "singleBatch": True, "lsid": {}, **other}
    return {"op": "query", "command": command, "nreturned": 1, "planSummary": "IDHACK"}


UPDATE = {
    "op": "update",
    "command": {"q": {"_id": "user1"}, "u": {"$set": {"field3": b"x"}}, "multi": False, "upsert": False},
    "nMatched": 1,
    "planSummary": "IDHACK",
}
INSERT = {"op": "insert", "command": {"insert": "usertable", "ordered": True}, "ninserted": 1}


def test_each_kind_has_its_shape() -> None:
    assert commands_seen([find(), UPDATE, INSERT, {"op": "command", "command": {"ping": 1}}]) == {
        "find": "find by _id, limit 1, in a session, 1 returned, IDHACK",
        "insert": "insert of 1, ordered",
        "update": "update by _id, $set of 1 field, 1 matched, IDHACK",
    }


def test_a_find_without_a_session_is_other_work() -> None:
    bare = find()
    del bare["command"]["lsid"]
    assert "in no session" in commands_seen([bare])["find"]


def test_which_session_and_key_makes_no_difference() -> None:
    assert commands_seen([find(), find(lsid={"id": 2}, filter={"_id": "user2"})])["find"].count("find by") == 1


def test_the_first_contact_of_a_driver_is_not_work() -> None:
    assert commands_seen([find(filter={"_id": ""})]) == {}


def test_work_that_differs_is_seen() -> None:
    assert "projection of 2 fields" in commands_seen([find(projection={"a": 1, "b": 1})])["find"]
    assert "also" in commands_seen([find(), find(limit=2)])["find"]
    assert "upsert" in commands_seen([{**UPDATE, "command": {**UPDATE["command"], "upsert": True}}])["update"]


def test_documents_per_command_and_their_order_are_part_of_the_shape() -> None:
    unordered = {**INSERT, "command": {"insert": "usertable", "ordered": False}, "ninserted": 1000}
    assert commands_seen([unordered]) == {"insert": "insert of 1000, unordered"}
    silent = {**INSERT, "command": {"insert": "usertable"}}
    assert commands_seen([silent]) == commands_seen([INSERT])  # what mongod takes for granted
    cut_off = {**INSERT, "command": {"$truncated": "{ insert: ..."}, "ninserted": 1000}
    assert commands_seen([cut_off]) == {"insert": "insert of 1000, order not noted"}


def test_inserts_of_a_batched_load_are_a_kind_of_their_own() -> None:
    assert commands_seen([INSERT], batched=True) == {"insert, batched": "insert of 1, ordered"}


def test_concerns_are_part_of_the_shape_where_the_client_asked_for_them() -> None:
    asked = {"w": 1, "wtimeout": 0, "provenance": "clientSupplied"}
    supplied = {"w": "majority", "wtimeout": 0, "provenance": "implicitDefault"}
    assert commands_seen([{**INSERT, "writeConcern": asked}]) == {"insert": "insert of 1, ordered, writeConcern w 1"}
    assert commands_seen([{**INSERT, "writeConcern": supplied}]) == commands_seen([INSERT])
    assert "writeConcern j True w 1" in commands_seen([{**INSERT, "writeConcern": {**asked, "j": True}}])["insert"]
    majority = {"level": "majority", "provenance": "clientSupplied"}
    assert "readConcern level majority" in commands_seen([{**find(), "readConcern": majority}])["find"]


def test_the_order_of_one_document_is_no_difference_and_that_of_several_is() -> None:
    def differing(ours: str, theirs: str) -> bool:
        seen = {"brimline": {"insert": ours}, "ycsb": {"insert": theirs}}
        return differences(seen, reference="brimline")["ycsb"] == ["insert"]

    assert not differing("insert of 1, unordered", "insert of 1, ordered")
    assert not differing("insert of 1, unordered", "insert of 1, ordered; also insert of 1, order not noted")
    assert differing("insert of 1, unordered", "insert of 1, ordered, writeConcern w 1")
    assert differing("insert of 10, unordered", "insert of 10, ordered")
    assert differing("insert of 1, unordered", "insert of 10, unordered")


def test_differences_are_those_to_the_reference() -> None:
    seen = {"brimline": {"find": "x", "update": "y"}, "ycsb": {"find": "x", "update": "z"}, "go": {"scan": "s"}}
    assert differences(seen, reference="brimline") == {"brimline": [], "ycsb": ["update"], "go": []}


@pytest.mark.parametrize(
    ("client", "found"),
    [("ycsb", {"ycsb": ["find"]}), ("pymongo", {"pymongo": ["find"]}), ("go-ycsb", {})],
)
def test_of_the_projects_own_clients_other_commands_are_a_failure(client: str, found: dict[str, list[str]]) -> None:
    """A tool from elsewhere sends what it sends; its page says so."""
    alike, other = {"find": "limit 1", "update": "$set"}, {"find": "no limit", "update": "$set"}
    assert other_commands(results(commands={"brimline": alike, client: other})) == found
    assert other_commands(results(commands={"brimline": alike, client: alike})) == {}
